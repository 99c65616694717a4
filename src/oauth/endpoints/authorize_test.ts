import { suite } from "uvu";
import * as assert from "uvu/assert";
import { APP_URI, CHALLENGE, ISSUER, newServer } from "../test_server.ts";

const test = suite("oauth/authorize");

for (const [who, cookie] of [["no session_id cookie", ""], ["an unknown session", "session_id=unknown"]]) {
  test(`a request with ${who} is redirected to the login with the whole request, and has access_denied in the body`, async () => {
    const server = await newServer();
    const path = server.authorizePath({ state: "a b&c=d/%" });
    const response = await server.send(path, { headers: { cookie: cookie! } });
    assert.is(response.status, 302);
    assert.is(response.headers.get("location"), "/login?redirect=" + encodeURIComponent(path));
    assert.is(response.headers.get("cache-control"), "no-store");
    assert.is((await response.json()).error, "access_denied");
  });
}

for (
  const [what, parameters] of [
    ["without client_id", { client_id: undefined }],
    ["with an unknown client_id", { client_id: "unknown" }],
    ["without redirect_uri, for a client without a registered URI", { redirect_uri: undefined }],
    ["with an unregistered redirect_uri", { redirect_uri: "https://evil.example/cb" }],
    ["with a redirect_uri of another host by suffix", { redirect_uri: "https://evilapp.example/cb" }],
    ["with a relative redirect_uri", { redirect_uri: "/cb" }],
  ] as const
) {
  test(`RFC 6749 section 4.1.2.1: a request ${what} gets a page that names the parameter, and no redirect`, async () => {
    const server = await newServer();
    for (const headers of [{}, { cookie: await server.signIn() }]) {
      const response = await server.send(server.authorizePath(parameters), { headers });
      assert.is(response.status, 400);
      assert.is(response.headers.get("location"), null);
      assert.is(response.headers.get("content-type"), "text/html; charset=utf-8");
      assert.match(await response.text(), Object.keys(parameters)[0]!);
    }
  });
}

for (const name of ["client_id", "redirect_uri"]) {
  test(`RFC 6749 section 3.1: a repeated ${name} gets no redirect`, async () => {
    const server = await newServer();
    const cookie = await server.signIn();
    const path = server.authorizePath() + `&${name}=` + encodeURIComponent("https://evil.example/cb");
    const response = await server.send(path, { headers: { cookie } });
    assert.is(response.status, 400);
    assert.is(response.headers.get("location"), null);
  });
}

async function errorSentBack(
  parameters: Record<string, string | undefined>,
  more = "",
): Promise<URLSearchParams> {
  const server = await newServer();
  const cookie = await server.signIn();
  const response = await server.send(server.authorizePath(parameters) + more, { headers: { cookie } });
  assert.is(response.status, 302);
  const location = response.headers.get("location")!;
  const uri = parameters.redirect_uri ?? APP_URI;
  assert.ok(location.startsWith(uri + "?"), location);
  return new URL(location).searchParams;
}

for (
  const [what, error, parameters, more] of [
    ["no response_type", "invalid_request", { response_type: undefined }],
    ["response_type=token (the implicit grant)", "unsupported_response_type", { response_type: "token" }],
    ["response_type=code token", "unsupported_response_type", { response_type: "code token" }],
    ["only unknown scopes", "invalid_scope", { scope: "everything openid" }],
    ["a forbidden scope among allowed ones", "invalid_scope", { scope: "read admin" }],
    ["a malformed scope", "invalid_scope", { scope: 'read "write"' }],
    ["a scope that is not allowed for the client", "invalid_scope", { scope: "admin" }],
    ["code_challenge_method=plain", "invalid_request", {
      code_challenge: CHALLENGE,
      code_challenge_method: "plain",
    }],
    ["a challenge without a method, which would be plain", "invalid_request", { code_challenge: CHALLENGE }],
    ["a method without a challenge", "invalid_request", { code_challenge_method: "S256" }],
    ["a short challenge", "invalid_request", { code_challenge: "abc", code_challenge_method: "S256" }],
    ["a repeated parameter", "invalid_request", {}, "&scope=write"],
    ["a repeated unknown parameter", "invalid_request", {}, "&x=1&x=2"],
  ] as const
) {
  test(`${what}: the client receives ${error} with state and iss`, async () => {
    const query = await errorSentBack(parameters, more);
    assert.is(query.get("error"), error);
    assert.match(query.get("error_description")!, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    assert.is(query.get("state"), "xyz");
    assert.is(query.get("iss"), ISSUER);
    assert.is(query.get("code"), null);
  });
}

test("RFC 7636 section 4.4.1: a public client without code_challenge is refused", async () => {
  const query = await errorSentBack({
    client_id: "native",
    redirect_uri: "http://127.0.0.1:5000/callback",
    scope: undefined,
  });
  assert.is(query.get("error"), "invalid_request");
  assert.match(query.get("error_description")!, "code_challenge");
});

test("a client without the authorization code grant receives unauthorized_client", async () => {
  const { toClient } = await import("../clients/client.ts");
  const client = toClient({
    id: "m2m",
    secret: "s",
    redirect_uris: ["https://m2m.example/cb"],
    grant_types: ["client_credentials"],
  }, 0);
  const server = await newServer({ clients: [client] });
  const path = server.authorizePath({ client_id: "m2m", redirect_uri: "https://m2m.example/cb" });
  const response = await server.send(path, { headers: { cookie: await server.signIn() } });
  assert.is(new URL(response.headers.get("location")!).searchParams.get("error"), "unauthorized_client");
});

test("an error response has no state when the request had none", async () => {
  assert.is((await errorSentBack({ state: undefined, response_type: "x" })).has("state"), false);
});

test("unknown parameters are ignored, and a parameter without a value counts as omitted", async () => {
  const server = await newServer();
  const path = server.authorizePath({ scope: "" }) + "&unknown=1";
  const response = await server.send(path, { headers: { cookie: await server.signIn() } });
  assert.is(response.status, 200);
});

test("with an issuer with a path all endpoints are below the path", async () => {
  const server = await newServer({ issuer: "https://host.example/tenant" });
  const path = "/tenant" + server.authorizePath();
  const response = await server.send(path);
  assert.is(response.headers.get("location"), "/tenant/login?redirect=" + encodeURIComponent(path));
  assert.is((await server.send("/.well-known/oauth-authorization-server/tenant")).status, 200);
  assert.is((await server.send(server.authorizePath())).status, 404);
});

test.run();
