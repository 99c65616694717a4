import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CHALLENGE, newServer, type TestServer, VERIFIER } from "../test_server.ts";

const test = suite("oauth/token");

async function refusal(response: Response): Promise<[number, string]> {
  assert.is(response.headers.get("content-type"), "application/json");
  assert.is(response.headers.get("cache-control"), "no-store");
  assert.is(response.headers.get("pragma"), "no-cache");
  const body = await response.json();
  assert.equal(Object.keys(body), ["error", "error_description"]);
  // RFC 6749 section 5.2: the characters that error_description may have.
  assert.match(body.error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  return [response.status, body.error];
}

const CLIENT_CREDENTIALS = { grant_type: "client_credentials" };

test("client_credentials gets an access token without a refresh token, which is not cached", async () => {
  const server = await newServer();
  const response = await server.token(CLIENT_CREDENTIALS);
  assert.is(response.status, 200);
  assert.is(response.headers.get("content-type"), "application/json");
  assert.is(response.headers.get("cache-control"), "no-store");
  assert.is(response.headers.get("pragma"), "no-cache");
  const body = await response.json();
  assert.match(body.access_token, /^trivet_at_[A-Za-z0-9_-]{43}$/);
  assert.equal({ ...body, access_token: "" }, {
    access_token: "",
    token_type: "Bearer",
    expires_in: 7200,
    scope: "profile read",
  });
});

test("client_credentials gets the requested scope or invalid_scope", async () => {
  const server = await newServer();
  assert.is(
    (await (await server.token({ ...CLIENT_CREDENTIALS, scope: "write read" })).json()).scope,
    "write read",
  );
  for (const scope of ["admin", "read admin", "nothing", "read  write", " read", 'a"b', "ü"]) {
    assert.equal(
      await refusal(await server.token({ ...CLIENT_CREDENTIALS, scope })),
      [400, "invalid_scope"],
      scope,
    );
  }
  const form = {
    ...CLIENT_CREDENTIALS,
    client_id: "service",
    client_secret: "service-secret",
    scope: "admin",
  };
  assert.is(
    (await (await server.token(form)).json()).scope,
    "admin",
    "this client is registered with admin",
  );
});

const basic = (id: string, secret: string) => ({ authorization: "Basic " + btoa(`${id}:${secret}`) });
const noClient = { client_id: undefined, client_secret: undefined };

test("RFC 6749 section 2.3.1: Basic credentials are accepted form-encoded and raw, with client_id also in the body", async () => {
  const server = await newServer();
  const secret = "app secret:&%+";
  for (
    const headers of [
      basic("app", encodeURIComponent(secret)),
      basic("app", "app+secret%3A%26%25%2B"),
      basic("app", secret),
      { authorization: "bAsIc   " + btoa("app:" + secret) },
    ]
  ) {
    assert.is((await server.token({ ...CLIENT_CREDENTIALS, ...noClient }, headers)).status, 200);
  }
  const both = await server.token({ ...CLIENT_CREDENTIALS, client_secret: undefined }, basic("app", secret));
  assert.is(both.status, 200, "client_id also in the body");
});

test("a public client may use Basic with an empty secret", async () => {
  const server = await newServer();
  const redirect_uri = "http://127.0.0.1/callback";
  const pkce = { code_challenge: CHALLENGE, code_challenge_method: "S256" };
  const code = (await server.authorize({ client_id: "native", redirect_uri, ...pkce })).get("code")!;
  const form = { grant_type: "authorization_code", code, redirect_uri, code_verifier: VERIFIER };
  assert.is((await server.token({ ...form, ...noClient }, basic("native", ""))).status, 200);
});

for (
  const [what, form, headers] of [
    ["an unknown client", { client_id: "unknown" }, {}],
    ["a wrong secret", { client_secret: "wrong" }, {}],
    ["an empty secret", { client_secret: "" }, {}],
    ["no secret", { client_secret: undefined }, {}],
    ["no client", noClient, {}],
    ["an empty client_id", { client_id: "", client_secret: undefined }, {}],
    ["an unknown client by Basic", noClient, basic("unknown", "x")],
    ["a wrong secret by Basic", noClient, basic("app", "wrong")],
    ["an empty secret by Basic", noClient, basic("app", "")],
    ["a Basic field without a colon", noClient, { authorization: "Basic " + btoa("app") }],
    ["a Basic field that is not base64", noClient, { authorization: "Basic ???" }],
    ["a Basic field that is not UTF-8", noClient, { authorization: "Basic /////w==" }],
    ["another scheme", noClient, { authorization: "Bearer abc" }],
    ["a public client that sends a secret", { client_id: "native", client_secret: "x" }, {}],
  ] as const
) {
  test(`${what} gets 401 invalid_client with a Basic challenge`, async () => {
    const server = await newServer();
    const response = await server.token({ ...CLIENT_CREDENTIALS, ...form }, headers);
    assert.match(response.headers.get("www-authenticate")!, /^Basic realm=/);
    assert.equal(await refusal(response), [401, "invalid_client"]);
  });
}

test("an unknown client and a wrong secret get the same response", async () => {
  const server = await newServer();
  const unknown = await server.token({ ...CLIENT_CREDENTIALS, client_id: "unknown" });
  const wrong = await server.token({ ...CLIENT_CREDENTIALS, client_secret: "wrong" });
  assert.is(await unknown.text(), await wrong.text());
  assert.equal([...unknown.headers], [...wrong.headers]);
});

test("RFC 6749 section 2.3: two authentication methods in one request get invalid_request", async () => {
  const server = await newServer();
  const headers = basic("app", "app secret:&%+");
  assert.equal(await refusal(await server.token(CLIENT_CREDENTIALS, headers)), [400, "invalid_request"]);
  const other = { ...CLIENT_CREDENTIALS, client_id: "web", client_secret: undefined };
  assert.equal(await refusal(await server.token(other, headers)), [400, "invalid_request"]);
});

for (
  const [what, grant_type, error] of [
    ["no grant_type", undefined, "invalid_request"],
    ["an empty grant_type", "", "invalid_request"],
    ["an unknown grant_type", "magic", "unsupported_grant_type"],
    ["the resource owner password grant", "password", "unsupported_grant_type"],
    ["a member of Object.prototype", "constructor", "unsupported_grant_type"],
    ["__proto__", "__proto__", "unsupported_grant_type"],
  ] as const
) {
  test(`${what} gets ${error}`, async () => {
    const server = await newServer();
    assert.equal(await refusal(await server.token({ grant_type })), [400, error]);
  });
}

test("a grant type that the client did not register gets unauthorized_client", async () => {
  const server = await newServer();
  const service = { client_id: "service", client_secret: "service-secret" };
  const form = { ...service, grant_type: "authorization_code", code: "x" };
  assert.equal(await refusal(await server.token(form)), [400, "unauthorized_client"]);
  const native = { ...CLIENT_CREDENTIALS, client_id: "native", client_secret: undefined };
  assert.equal(await refusal(await server.token(native)), [400, "unauthorized_client"]);
});

for (const name of ["grant_type", "client_id", "client_secret", "scope", "anything"]) {
  test(`RFC 6749 section 3.2: ${name} sent twice gets invalid_request`, async () => {
    const server = await newServer();
    const form = new URLSearchParams({
      ...CLIENT_CREDENTIALS,
      client_id: "web",
      client_secret: "web-secret",
      scope: "read",
    });
    form.append(name, form.get(name) ?? "x");
    form.append(name, "x");
    assert.equal(await refusal(await server.send("/oauth/token", { form: form.toString() })), [
      400,
      "invalid_request",
    ]);
  });
}

test("RFC 6749 section 2.3.1: parameters in the query are ignored, also secrets", async () => {
  const server = await newServer();
  const query = "?grant_type=client_credentials&client_id=web&client_secret=web-secret";
  assert.equal(await refusal(await server.send("/oauth/token" + query, { form: "" })), [
    401,
    "invalid_client",
  ]);
  assert.equal(await refusal(await server.send("/oauth/token?client_id=web&x=1", { form: "" })), [
    401,
    "invalid_client",
  ]);
});

test("a body of another media type gets 400, a body over 16 KB gets 413, both invalid_request", async () => {
  const server = await newServer();
  const json = JSON.stringify({ ...CLIENT_CREDENTIALS, client_id: "web", client_secret: "web-secret" });
  const typed = { form: json, headers: { "content-type": "application/json" } };
  assert.equal(await refusal(await server.send("/oauth/token", typed)), [400, "invalid_request"]);
  const large = { form: "grant_type=" + "x".repeat(17_000) };
  assert.equal(await refusal(await server.send("/oauth/token", large)), [413, "invalid_request"]);
});

test("GET gets 405 with Allow", async () => {
  const server = await newServer();
  const response = await server.send("/oauth/token?grant_type=client_credentials");
  assert.match(response.headers.get("allow")!, "POST");
  assert.equal(await refusal(response), [405, "invalid_request"]);
});

test("CORS allows every origin, without credentials", async () => {
  const server = await newServer();
  const headers = { origin: "https://spa.example" };
  const response = await server.token(CLIENT_CREDENTIALS, headers);
  assert.is(response.headers.get("access-control-allow-origin"), "*");
  assert.is(response.headers.get("access-control-allow-credentials"), null);
  const preflight = await server.send("/oauth/token", {
    method: "OPTIONS",
    headers: {
      ...headers,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization",
    },
  });
  assert.is(preflight.status, 204);
  assert.is(preflight.headers.get("access-control-allow-headers"), "authorization");
  assert.is((await server.send("/login", { headers })).headers.get("access-control-allow-origin"), null);
});

test("the store and the events contain no token and no secret", async () => {
  const server = await newServer();
  const { access_token, refresh_token } = await server.tokens();
  await server.token({ grant_type: "refresh_token", refresh_token });
  const stored = JSON.stringify(await server.store.list([], { limit: 1000 }));
  const events = JSON.stringify(server.events);
  for (
    const secret of [access_token!, refresh_token!, refresh_token!.split(".")[1]!, "app secret", "web-secret"]
  ) {
    assert.not.ok(stored.includes(secret));
    assert.not.ok(events.includes(secret));
  }
});

test("a failing store gives 500 server_error without details, and no token", async () => {
  const server: TestServer = await newServer();
  await server.store.close();
  const response = await server.token(CLIENT_CREDENTIALS);
  assert.equal(await refusal(response), [500, "server_error"]);
  assert.is(server.events.at(-1)?.type, "fault");
});

test.run();
