import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { CallContext } from "../mcp/context.ts";
import { ToolError } from "../mcp/definition/definition.ts";
import {
  AccessDenied,
  AccessUnavailable,
  ConnectionRequired,
  type UpstreamAccess,
} from "../gateway/credentials/access.ts";
import { errorOf, newApi, oneOperation, type Recorded, user } from "./test_api.ts";

const test = suite("openapi/access");

const schemes = {
  token: { type: "http", scheme: "Bearer" },
  basic: { type: "http", scheme: "basic" },
  oauth: { type: "oauth2", flows: {} },
  oidc: { type: "openIdConnect" },
  header: { type: "apiKey", in: "header", name: "X-Key" },
  query: { type: "apiKey", in: "query", name: "key" },
  cookie: { type: "apiKey", in: "cookie", name: "sid" },
};
const secured = (security: object[] | undefined, operation: object = {}) =>
  oneOperation({ ...(security && { security }), ...operation }, "/things", "get", {
    components: { securitySchemes: schemes },
  });

async function sent(security: object[] | undefined, options: object, input = {}): Promise<Recorded> {
  const api = newApi({ document: secured(security), ...options });
  await api.call("op", input, { principal: user("u") });
  return api.requests[0]!;
}

test("each credential goes where its scheme says", async () => {
  const field = async (name: string, credential: string) =>
    (await sent([{ [name]: [] }], { credentials: { [name]: credential } })).headers;
  assert.is((await field("token", "abc")).get("authorization"), "Bearer abc");
  assert.is((await field("oauth", "abc")).get("authorization"), "Bearer abc");
  assert.is((await field("oidc", "abc")).get("authorization"), "Bearer abc");
  assert.is((await field("basic", "u:é")).get("authorization"), "Basic dTrDqQ==");
  assert.is((await field("header", "abc")).get("x-key"), "abc");
  assert.is((await field("cookie", "a;b")).get("cookie"), "sid=a%3Bb");
  // As a browser has it, such as that of a signed session.
  assert.is((await field("cookie", "s%3Aab.+/c==")).get("cookie"), "sid=s%3Aab.+/c==");
  const { url } = await sent([{ query: [] }], { credentials: { query: "a&b" } });
  assert.is(url, "https://api.example/base/things?key=a%26b");
});

test("a credential that no header field can have is not in the error, nor in its cause", async () => {
  const api = newApi({ document: secured([{ token: [] }]), credentials: { token: "secret\n-token" } });
  const error: Error = await api.call("op", {}, { principal: user("u") }).then(
    () => undefined!,
    (error) => error,
  );
  assert.instance(error, ToolError);
  assert.is(error.cause, undefined);
  assert.not.match(error.message, "secret");
});

test("the first alternative of which the caller has all credentials counts", async () => {
  const credentials = { header: "k", query: () => undefined, token: () => Promise.resolve("t") };
  const { headers, url } = await sent([{ header: [], query: [] }, { token: [] }, { header: [] }], {
    credentials,
  });
  assert.is(headers.get("authorization"), "Bearer t");
  assert.is(headers.get("x-key"), null);
  assert.not.match(url, /key=/);
});

test("an operation without a security requirement gets no credentials, unless the operator wants it", async () => {
  const options = { authorize: () => ({ authorization: "Bearer s" }), credentials: { token: "t" } };
  for (const security of [[], undefined]) {
    const { headers } = await sent(security, options);
    assert.is(headers.get("authorization"), null);
  }
  assert.is((await sent([{ token: [] }], options)).headers.get("authorization"), "Bearer s");
  assert.is(
    (await sent(undefined, { ...options, security: "always" })).headers.get("authorization"),
    "Bearer s",
  );
});

test("`authorize` gets the caller and the operation, and the fields of the caller win over arguments", async () => {
  let seen: unknown;
  const document = secured([{ header: ["read"] }, {}], {
    parameters: [
      { name: "x-key", in: "header", schema: {} },
      { name: "X-Other", in: "header", schema: {} },
    ],
  });
  const api = newApi({
    document,
    authorize: (caller, { operation, url, security }) => {
      seen = [caller?.subject, operation.id, url, security[0]![0]!.scopes];
      return { "X-KEY": "own", "x-other": "own" };
    },
  });
  assert.equal(Object.keys((api.tool("op").input as { properties: object }).properties), ["X-Other"]);
  await api.call("op", { "x-key": "forged", "X-Other": "forged" }, { principal: user("u") });
  assert.equal(seen, ["u", "op", "https://api.example/base/things", ["read"]]);
  assert.is(api.requests[0]!.headers.get("x-key"), "own");
  assert.is(api.requests[0]!.headers.get("x-other"), "own");
});

test("credentials of one caller are never those of another, also at once", async () => {
  const api = newApi({
    document: secured([{ token: [] }]),
    credentials: {
      token: async (caller) => {
        await Promise.resolve();
        return `token-of-${caller?.subject}`;
      },
    },
  }, ({ headers }) => Response.json({ length: headers.get("authorization")!.length }));
  const subjects = Array.from({ length: 20 }, (_, i) => `user${i}`);
  await Promise.all(subjects.map((each) => api.call("op", {}, { principal: user(each) })));
  assert.equal(
    api.requests.map(({ headers }) => headers.get("authorization")).sort(),
    subjects.map((each) => `Bearer token-of-${each}`).sort(),
  );
});

test("a credential replaces a header field of the operator, in any case, and its Accept replaces ours", async () => {
  const headers = { Authorization: "Bearer all", ACCEPT: "application/vnd.api+json", Cookie: "own=1" };
  const credentials = { token: "one", cookie: "c" };
  const both = await sent([{ token: [], cookie: [] }], { headers, credentials });
  assert.is(both.headers.get("authorization"), "Bearer one");
  assert.is(both.headers.get("accept"), "application/vnd.api+json");
  assert.is(both.headers.get("cookie"), "own=1; sid=c");
  assert.is((await sent(undefined, { headers })).headers.get("authorization"), "Bearer all");
});

test("no argument replaces a header field of the operator", async () => {
  const parameters = [{ name: "X-Tenant", in: "header", schema: { type: "string" } }];
  const api = newApi({ document: secured(undefined, { parameters }), headers: { "x-tenant": "mine" } });
  await api.call("op", { "X-Tenant": "theirs", x_tenant: "theirs" });
  assert.is(api.requests[0]!.headers.get("x-tenant"), "mine");
});

test("no member of an exploded object stands for a credential or another parameter", async () => {
  const parameters = [
    { name: "filter", in: "query", schema: { type: "object", additionalProperties: { type: "string" } } },
    { name: "limit", in: "query", schema: { type: "integer" } },
  ];
  const document = secured([{ query: [] }], { parameters });
  const api = newApi({ document, credentials: { query: "mine" } });
  for (const name of ["key", "KEY", "limit", "key[]", "Key[a]", "key[a][b]"]) {
    assert.match(await errorOf(() => api.call("op", { filter: { [name]: "theirs" } })), `"${name}"`);
  }
  assert.is(api.requests.length, 0);
  await api.call("op", { filter: { filter: "a", other: "b" }, limit: 1 });
  assert.is(api.requests[0]!.url, "https://api.example/base/things?filter=a&other=b&limit=1&key=mine");
});

test("no parameter with brackets stands for a credential", async () => {
  const parameters = [
    { name: "key[]", in: "query", schema: { type: "array", items: { type: "string" } } },
    { name: "keys[]", in: "query", schema: { type: "array", items: { type: "string" } } },
  ];
  const api = newApi({ document: secured([{ query: [] }], { parameters }), credentials: { query: "mine" } });
  await api.call("op", { key: ["theirs"], keys: ["a"] });
  assert.is(api.requests[0]!.url, "https://api.example/base/things?keys%5B%5D=a&key=mine");
});

/** Credentials that are kept elsewhere: `refused` counts and decides. */
function access(again: boolean) {
  const calls: string[] = [];
  return {
    calls,
    headers: () => {
      calls.push("headers");
      return Promise.resolve({ Authorization: `Bearer token-number-${calls.length}` });
    },
    refused: (
      _: unknown,
      { status, challenge, used }: { status: number; challenge: string | null; used: object },
    ) => {
      calls.push(`refused ${status} ${challenge} ${JSON.stringify(used)}`);
      return Promise.resolve(again);
    },
  };
}

test("after 401 the credentials are renewed once, if they can be", async () => {
  const unauthorized = () => new Response("", { status: 401, headers: { "www-authenticate": "Bearer" } });
  const renewing = access(true);
  const document = secured([{ token: [] }]);
  const api = newApi({ document, authorize: renewing }, unauthorized);
  assert.is((await api.call("op")).isError, true);
  assert.equal(renewing.calls, [
    "headers",
    'refused 401 Bearer {"Authorization":"Bearer token-number-1"}',
    "headers",
  ]);
  assert.is(api.requests.length, 2);
  const final = access(false);
  const other = newApi({ document, authorize: final }, unauthorized);
  await other.call("op");
  assert.is(other.requests.length, 1);
});

test("a caller who must connect first is sent to the address, or told it", async () => {
  let isConnected = false;
  const authorize = {
    headers: () =>
      isConnected
        ? Promise.resolve({ authorization: "x" })
        : Promise.reject(new ConnectionRequired("shop", "https://me.example/connect")),
  };
  const api = newApi({ document: secured([{ token: [] }]), authorize });
  assert.match(await errorOf(() => api.call("op")), /https:\/\/me\.example\/connect/);
  const asked: unknown[] = [];
  const elicit = ((request: { url: string }) => {
    asked.push(request.url);
    isConnected = true;
    return Promise.resolve({ action: "accept" });
  }) as unknown as CallContext["elicit"];
  assert.not.ok((await api.call("op", {}, { can: () => true, elicit })).isError);
  assert.equal(asked, ["https://me.example/connect"]);
  assert.is(api.requests.length, 1);
});

test("the gateway's credentials fit, and why there are none is said", async () => {
  const errors = [new AccessDenied("shop", "sign in first"), new AccessUnavailable("shop", "later")];
  for (const error of errors) {
    const authorize: UpstreamAccess = {
      partition: () => "",
      headers: () => Promise.reject(error),
      refused: () => Promise.resolve(false),
    };
    const api = newApi({ document: secured([{ token: [] }]), authorize });
    const thrown = await api.call("op").catch((error) => error);
    assert.instance(thrown, ToolError);
    assert.is(thrown.message, error.message);
  }
});

test("a credential for a scheme that the document does not have is refused", async () => {
  const credentials = { tokne: "x" };
  assert.match(await errorOf(() => newApi({ document: secured([]), credentials })), /"tokne"/);
});

test.run();
