// deno-lint-ignore-file no-console -- the default observer writes to it
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createTrivet, memoryStore, tool } from "./mod.ts";
import { toolServer } from "./mcp_service.ts";
import { addClient } from "./oauth/clients/client.ts";
import {
  API,
  CREDENTIALS,
  ISSUER,
  newIssuer,
  outcome,
  URLS,
  withToken,
} from "./oauth/resource_server/test_issuer.ts";
import { createProof, newKey, SEQUENCE, sign, THUMBPRINT } from "./oauth/test_keys.ts";
import {
  type Principal,
  type ProtectOptions,
  resourceServer,
  type ResourceServerOptions,
} from "./resource_server.ts";
import { skillsService } from "./skills_service.ts";

const test = suite("trivet/protect alone");
const METADATA = "https://api.example/.well-known/oauth-protected-resource/orders";
const read = (response: Response): Promise<Record<string, unknown>> => response.json();

test("the principal has the claims of the token", async () => {
  const issuer = await newIssuer();
  const guard = issuer.guard();
  const exp = issuer.claims().exp as number;
  const token = await issuer.token({
    scope: "orders.read orders.write",
    acr: "mfa",
    auth_time: 7,
    authorization_details: [{ type: "order", id: 1 }],
  });
  const { scopes, ...caller } = await guard.protect(withToken(token)) as Principal;
  assert.equal([...scopes], ["orders.read", "orders.write"]);
  assert.equal(caller, {
    issuer: ISSUER,
    subject: "alice",
    client: "app",
    workspace: "default",
    audience: [API],
    expires: (exp + 30) * 1000,
    authTime: 7,
    acr: "mfa",
    authorizationDetails: [{ type: "order", id: 1 }],
  });
  const machine = await guard.authenticate(withToken(await issuer.token({ sub: "app" })));
  assert.equal([machine!.subject, machine!.client], [undefined, "app"]);
});

test("the refusal of an opaque token names what an API without introspection lacks", async () => {
  const issuer = await newIssuer();
  const refusals = [{}, { introspection: CREDENTIALS }].map(async (options) => {
    const refused = await issuer.guard(options).protect(withToken("opaque")) as Response;
    assert.is(refused.status, 401);
    const { error, error_description } = await read(refused);
    assert.is(error, "invalid_token");
    return String(error_description).includes("introspection");
  });
  assert.equal(await Promise.all(refusals), [true, false]);
});

test("challenges have resource_metadata, which protect() serves", async () => {
  const issuer = await newIssuer();
  const guard = issuer.guard({ scopes: ["orders.read"] });
  const none = await guard.protect(new Request(API)) as Response;
  assert.is(none.status, 401);
  assert.is(
    none.headers.get("www-authenticate"),
    `Bearer scope="orders.read", resource_metadata="${METADATA}"`,
  );
  const document = await guard.protect(new Request(METADATA, { headers: { origin: "https://app.example" } }));
  assert.is((document as Response).headers.get("access-control-allow-origin"), "*");
  assert.equal(await read(document as Response), {
    resource: API,
    authorization_servers: [ISSUER],
    scopes_supported: ["orders.read"],
    bearer_methods_supported: ["header"],
    dpop_signing_alg_values_supported: ["ES256", "Ed25519", "EdDSA", "RS256", "PS256"],
  });
  const posted = await guard.protect(new Request(METADATA, { method: "POST" })) as Response;
  assert.equal([posted.status, posted.headers.get("allow")], [405, "GET, HEAD, OPTIONS"]);
  const elsewhere = issuer.guard({ resourceMetadata: "https://docs.example/orders" });
  const challenge = (await elsewhere.protect(new Request(METADATA)) as Response).headers.get(
    "www-authenticate",
  );
  assert.match(challenge!, 'resource_metadata="https://docs.example/orders"');
});

test("a 403 names all required scopes, and admin of another issuer implies no other scope", async () => {
  const issuer = await newIssuer();
  const guard = issuer.guard({
    scopes: ["orders.read"],
    impliedScopes: { "orders.own": ["orders.write"], "orders.write": ["orders.read"] },
  });
  const refused = await guard.protect(withToken(await issuer.token()), {
    scopes: ["orders.write"],
  }) as Response;
  assert.is(refused.status, 403);
  assert.match(
    refused.headers.get("www-authenticate")!,
    /error="insufficient_scope".*scope="orders.read orders.write", resource_metadata=/,
  );
  assert.is(await outcome(guard, withToken(await issuer.token({ scope: "orders.write" }))), "ok");
  assert.is(await outcome(guard, withToken(await issuer.token({ scope: "orders.own" }))), "ok");
  const admin = withToken(await issuer.token({ scope: "admin" }));
  assert.is(await outcome(guard, admin), "403 insufficient_scope");
  assert.is(await outcome(issuer.guard(), admin, ["admin"]), "ok");
});

test("RFC 9470 section 3: an insufficient login gets 401 with acr_values and max_age", async () => {
  const issuer = await newIssuer();
  const guard = issuer.guard();
  const now = Math.floor(Date.now() / 1000);
  const ask = async (claims: Record<string, unknown>, options: ProtectOptions) => {
    const answer = await guard.protect(withToken(await issuer.token(claims)), options);
    if (!(answer instanceof Response)) return "accepted";
    const field = answer.headers.get("www-authenticate")!;
    const [error, acr_values, max_age] = ["error", "acr_values", "max_age"]
      .map((name) => new RegExp(`[ ,]${name}="([^"]*)"`).exec(field)?.[1]);
    return { status: answer.status, error, acr_values, max_age };
  };
  const refused = { status: 401, error: "insufficient_user_authentication" };
  const login = { acr: "password", auth_time: now - 100 };
  const acrValues = ["mfa", "phr"];
  const byAcr = { ...refused, acr_values: "mfa phr", max_age: undefined };
  assert.equal(await ask(login, { acrValues }), byAcr);
  assert.equal(await ask({ acr: undefined }, { acrValues }), byAcr);
  assert.is(await ask({ ...login, acr: "phr" }, { acrValues }), "accepted");
  const byAge = { ...refused, acr_values: undefined, max_age: "60" };
  assert.equal(await ask(login, { maxAge: 60 }), byAge);
  assert.equal(await ask({ auth_time: undefined }, { maxAge: 60 }), byAge);
  assert.equal(await ask({ auth_time: String(now) }, { maxAge: 60 }), byAge);
  assert.is(await ask(login, { maxAge: 300 }), "accepted");
  assert.equal(await ask({ ...login, acr: "mfa" }, { acrValues, maxAge: 0 }), {
    ...refused,
    acr_values: "mfa phr",
    max_age: "0",
  });
  // Of a caller who lacks both, the login comes first, so that one new request can ask for both.
  assert.equal(await ask({ ...login, scope: "" }, { acrValues, scopes: ["orders.read"] }), byAcr);
});

test("a DPoP-bound token is accepted with proofs of its key, each used once", async () => {
  const issuer = await newIssuer();
  const store = memoryStore();
  const [guard, other] = [issuer.guard({ store }), issuer.guard({ store })];
  const key = await newKey();
  for (const token of [await issuer.token({ cnf: { jkt: key.jkt } }), "opaque"]) {
    issuer.active.set("opaque", issuer.claims({ cnf: { jkt: key.jkt }, token_type: "DPoP" }));
    const options = token === "opaque" ? { introspection: CREDENTIALS, store } : { store };
    const own = issuer.guard(options);
    const proof = (more = {}) => createProof(key, API, { htm: "GET", token, ...more });
    const send = async (dpop: string, guard = own) =>
      await outcome(guard, withToken(token, { dpop }, "DPoP"));
    assert.is(await send(await proof()), "ok");
    assert.is(await send(await proof({ nonce: "of another server" })), "ok");
    assert.is(await send(await createProof(await newKey(), API, { htm: "GET", token })), "401 invalid_token");
    assert.is(await send(await proof({ htm: "POST" })), "401 invalid_dpop_proof");
    assert.is(
      await send(await createProof(key, "https://evil.example/", { htm: "GET", token })),
      "401 invalid_dpop_proof",
    );
    assert.is(await send(await proof({ token: "another" })), "401 invalid_dpop_proof");
    assert.is(await outcome(own, withToken(token, {}, "DPoP")), "401 invalid_dpop_proof");
    assert.is(await outcome(own, withToken(token, { dpop: await proof() })), "401 invalid_token");
  }
  const token = await issuer.token({ cnf: { jkt: key.jkt } });
  const dpop = await createProof(key, API, { htm: "GET", token });
  assert.is(await outcome(guard, withToken(token, { dpop }, "DPoP")), "ok");
  assert.is(
    await outcome(other, withToken(token, { dpop }, "DPoP")),
    "401 invalid_dpop_proof",
    "by the store",
  );
  const alone = issuer.guard();
  assert.is(await outcome(alone, withToken(token, { dpop }, "DPoP")), "ok");
  assert.is(
    await outcome(alone, withToken(token, { dpop }, "DPoP")),
    "401 invalid_dpop_proof",
    "by its memory",
  );
  const bearer = await issuer.token();
  assert.is(await outcome(alone, withToken(bearer, {}, "DPoP")), "401 invalid_token", "it is not bound");
});

test("a certificate-bound token is accepted with the certificate that the proxy forwards", async () => {
  const issuer = await newIssuer();
  const certificateProxy = { addresses: ["10.0.0.9"], certificateField: "client-cert" };
  const guard = issuer.guard({ certificateProxy });
  const token = await issuer.token({ cnf: { "x5t#S256": THUMBPRINT } });
  const other = await issuer.token({ cnf: { "x5t#S256": "other" } });
  const status = async (request: Request, ip: string, by = guard) =>
    (await by.protect(request, {}, { ip }) as Response).status;
  const shown = { "client-cert": SEQUENCE };
  assert.is(await status(withToken(token, shown), "10.0.0.9"), undefined);
  assert.is(await status(withToken(token), "10.0.0.9"), 401);
  assert.is(await status(withToken(other, shown), "10.0.0.9"), 401);
  assert.is(await status(withToken(token, shown), "10.0.0.8"), 401, "not from the proxy");
  assert.is(await status(withToken(token, shown), "10.0.0.9", issuer.guard()), 401, "no proxy is known");
});

const WRONG: readonly [string, Partial<ResourceServerOptions>][] = [
  ["issuer", { issuer: "http://login.example" }],
  ["issuer", { issuer: "https://login.example?x=1" }],
  ["resource", { resource: "urn:orders" }],
  ["resource", { resource: "https://api.example/orders#x" }],
  ["audience", { audience: [] }],
  ["jwksUri", { jwksUri: "http://login.example/keys" }],
  ["introspection.endpoint", { introspection: { ...CREDENTIALS, endpoint: "http://login.example/" } }],
  ["jwks.keys[0]", { jwks: { keys: [{ kty: "oct", k: "c2VjcmV0" } as never] } }],
  ["algorithms", { algorithms: ["HS256" as never] }],
  ["algorithms", { algorithms: [] }],
  ["scopes", { scopes: ["orders.read orders.write"] }],
  ["clockToleranceS", { clockToleranceS: 3600 }],
  ["clockToleranceS", { clockToleranceS: NaN }],
  ["scope", { scope: ["write"] } as never],
];

for (const [name, options] of WRONG) {
  test(`an invalid option is named: ${JSON.stringify(options)}`, () => {
    const message = `"${name}"`;
    const make = () => resourceServer({ issuer: ISSUER, resource: API, ...options });
    assert.throws(make, (error: Error) => error.message.includes(message));
  });
}

test("a resource that is not configured throws a TypeError", async () => {
  const issuer = await newIssuer();
  const error = await issuer.guard().protect(new Request(API), { resource: "https://other.example" })
    .catch((thrown: unknown) => thrown);
  assert.instance(error, TypeError);
});

for (const accessTokenFormat of ["jwt", "opaque"] as const) {
  test(`${accessTokenFormat} tokens of another Trivet are accepted`, async () => {
    const store = memoryStore();
    const grant_types = ["client_credentials"] as const;
    const { secret } = await addClient(store, { id: "worker", grant_types });
    const { secret: clientSecret } = await addClient(store, { id: "orders", grant_types });
    const trivet = createTrivet({
      issuer: "https://auth.example",
      store,
      oauth: { resources: [{ resource: API, accessTokenFormat }] },
    });
    const guard = resourceServer({
      issuer: "https://auth.example",
      resource: API,
      fetch: (url, init) => trivet.fetch(new Request(url, init)),
      ...(accessTokenFormat === "opaque" && {
        introspection: { clientId: "orders", clientSecret: clientSecret! },
      }),
    });
    const token = async (resource: string) => {
      const form = {
        grant_type: "client_credentials",
        client_id: "worker",
        client_secret: secret!,
        resource,
      };
      const body = new URLSearchParams({ ...form, scope: "read" });
      const issued = await trivet.fetch(
        new Request("https://auth.example/oauth/token", { method: "POST", body }),
      );
      return (await issued.json()).access_token as string;
    };
    assert.is(await outcome(guard, withToken(await token(API)), ["read"]), "ok");
    assert.is(await outcome(guard, withToken(await token(API)), ["write"]), "403 insufficient_scope");
    assert.is(await outcome(guard, withToken(await token("https://auth.example/mcp"))), "401 invalid_token");
    const caller = await guard.authenticate(withToken(await token(API)));
    assert.equal([caller!.client, caller!.issuer], ["worker", "https://auth.example"]);
  });
}

const whoami = tool({
  name: "whoami",
  description: "",
  scopes: ["orders.read"],
  run: (_, { principal }) => principal!.subject,
});

test("an MCP server alone accepts tokens of another issuer", async () => {
  const issuer = await newIssuer();
  const url = "https://tools.example";
  const guard = issuer.guard({ resource: `${url}/mcp` });
  const server = toolServer({
    url,
    store: memoryStore(),
    authenticate: guard,
    auth: "required",
    tools: [whoami],
  });
  const call = (headers: Record<string, string>): Promise<Response> =>
    server.fetch(
      new Request(`${url}/mcp`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "whoami" } }),
      }),
    );
  const good = await call({ authorization: `Bearer ${await issuer.token({ aud: `${url}/mcp` })}` });
  assert.is((await good.json()).result.content[0].text, "alice");
  // A client finds the issuer from the challenge.
  const none = await call({});
  assert.is(none.status, 401);
  const address = /resource_metadata="([^"]*)"/.exec(none.headers.get("www-authenticate")!)![1]!;
  const document = await read(await server.fetch(new Request(address)));
  assert.equal([document.resource, document.authorization_servers], [`${url}/mcp`, [ISSUER]]);
  const wrong = await call({ authorization: `Bearer ${await issuer.token()}` });
  assert.is(wrong.status, 401);
  assert.match(wrong.headers.get("www-authenticate")!, /invalid_token.*resource_metadata/);
  const weak = await call({
    authorization: `Bearer ${await issuer.token({ aud: `${url}/mcp`, scope: "x" })}`,
  });
  assert.equal([weak.status, /insufficient_scope/.test(weak.headers.get("www-authenticate")!)], [403, true]);
  issuer.advance(601);
  issuer.answers.set(URLS.keys, () => new Response(null, { status: 500 }));
  const away = await call({ authorization: `Bearer ${await issuer.token({ aud: `${url}/mcp` })}` });
  assert.equal([away.status, away.headers.get("retry-after")], [503, "5"]);
});

test("a Skills service alone accepts tokens of another issuer", async () => {
  const issuer = await newIssuer();
  const url = "https://skills.example";
  const resource = `${url}/v1/skills`;
  const guard = issuer.guard({ resource, onEvent: undefined });
  const server = skillsService({ url, store: memoryStore(), authenticate: guard });
  const list = (headers: Record<string, string>) => server.fetch(new Request(resource, { headers }));
  const bearer = async (claims: Record<string, unknown>) => ({
    authorization: `Bearer ${await issuer.token({ aud: resource, ...claims })}`,
  });
  assert.is((await list(await bearer({ scope: "skills:read" }))).status, 200);
  assert.is((await list(await bearer({ scope: "admin" }))).status, 403);
  assert.is((await list(await bearer({ scope: "skills:read", aud: API }))).status, 401);
  const none = await list({});
  assert.is(none.status, 401);
  const address = /resource_metadata="([^"]*)"/.exec(none.headers.get("www-authenticate")!)![1]!;
  assert.is((await read(await server.fetch(new Request(address)))).resource, resource);
  issuer.advance(601);
  issuer.answers.set(URLS.keys, () => new Response(null, { status: 500 }));
  const { error } = console;
  const written: unknown[] = [];
  console.error = (_, event) => written.push(event.type);
  const away = await list(await bearer({ scope: "skills:read" })).finally(() => console.error = error);
  assert.equal([away.status, away.headers.get("retry-after")], [503, "5"]);
  // Of the guard and of the server, which have no observer.
  assert.equal(written, ["issuer_unavailable", "store_unavailable"]);
});

test("a token of one issuer is refused for another issuer with the same audience", async () => {
  const issuer = await newIssuer();
  const stranger = await newKey("ES256", "first");
  const token = await sign(
    stranger,
    { typ: "at+jwt", kid: "first" },
    issuer.claims({ iss: "https://evil.example" }),
  );
  assert.is(await outcome(issuer.guard(), withToken(token)), "401 invalid_token");
});

test.run();
