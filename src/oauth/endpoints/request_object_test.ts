import { suite } from "uvu";
import * as assert from "uvu/assert";
import { encodeBase64url } from "../../crypto/base64url.ts";
import { hmacSha256 } from "../../crypto/sha256.ts";
import { createAssertion, newKey } from "../test_keys.ts";
import { ISSUER, transactionOf } from "../test_server.ts";
import {
  claims,
  key,
  now,
  OBJECT_URL,
  open,
  other,
  push,
  signed,
  start,
  TYPED,
  URI,
} from "./test_request_objects.ts";

const test = suite("oauth/request_object");

test("RFC 9101 section 6.3: only the parameters of the request object count", async () => {
  const server = await start();
  const beside = {
    state: "query",
    scope: "write",
    redirect_uri: "https://evil.example/",
    response_type: "token",
  };
  const { answer } = await open(server, { request: await signed(), ...beside });
  assert.equal([answer!.get("state"), answer!.has("code")], ["signed", true]);
  const form = { grant_type: "authorization_code", code: answer!.get("code")!, redirect_uri: URI };
  const credentials = { client_id: "signer", client_secret: "signer-secret" };
  const { scope } = await (await server.send("/oauth/token", { form: { ...form, ...credentials } })).json();
  assert.is(scope, "read");
  // A parameter that is only in the query does not count either.
  const without = await open(server, {
    request: await signed({ response_type: undefined }),
    response_type: "code",
  });
  assert.is(without.answer!.get("error"), "invalid_request");
});

test("RFC 9101 section 4: numbers, lists of resources and JSON are read from JSON values", async () => {
  const check = () => undefined;
  const server = await start({}, {
    authorizationDetailTypes: { payment: { check, describe: ({ amount }) => `Pay ${amount}` } },
  });
  const cookie = await server.signIn();
  server.advance(100);
  const show = async (more: Record<string, unknown>) => {
    const query = new URLSearchParams({
      client_id: "signer",
      request: await signed({ exp: undefined, ...more }),
    });
    return await server.send("/oauth/authorize?" + query, { headers: { cookie } });
  };
  assert.match((await show({ max_age: 60 })).headers.get("location")!, /^\/login/);
  assert.is((await show({ max_age: 600 })).status, 200);
  const details = await show({ authorization_details: [{ type: "payment", amount: 5 }] });
  assert.match(await details.text(), "Pay 5");
  const page = await (await show({ resource: [ISSUER, `${ISSUER}/mcp`] })).text();
  assert.match(page, "the tools");
});

const REFUSED: readonly [string, () => Promise<string> | string][] = [
  ["signed by another client", () => signed({}, TYPED, other)],
  ["with the kid of another key", () => signed({}, { ...TYPED, kid: "unknown" })],
  ["with changed claims", async () => {
    const [header, , signature] = (await signed()).split(".");
    const changed = encodeBase64url(new TextEncoder().encode(JSON.stringify(claims({ scope: "write" }))));
    return `${header}.${changed}.${signature}`;
  }],
  ["with alg none", () => unsigned("none", "")],
  ["with alg none and a signature", () => unsigned("none", "AAAA")],
  ["with the public key as HMAC secret", () => unsigned("HS256")],
  ["with its own key in the header", async () => {
    const stranger = await newKey();
    return await signed({}, { ...TYPED, kid: undefined, jwk: stranger.jwk }, stranger);
  }],
  ["of another client_id", () => signed({ client_id: "second" })],
  ["without client_id", () => signed({ client_id: undefined })],
  ["of another issuer", () => signed({ iss: "second" })],
  ["without iss", () => signed({ iss: undefined })],
  ["for another server", () => signed({ aud: "https://other.example" })],
  ["for a server with a similar name", () => signed({ aud: ISSUER + "/" })],
  ["without aud", () => signed({ aud: undefined })],
  ["that is expired", () => signed({ exp: now() - 61 })],
  ["with exp as a string", () => signed({ exp: String(now() + 60) })],
  ["that is not valid yet", () => signed({ nbf: now() + 120 })],
  ["with iat in the future", () => signed({ iat: now() + 120 })],
  ["with the client as sub", () => signed({ sub: "signer" })],
  ["with request inside", async () => signed({ request: await signed() })],
  ["with request_uri inside", () => signed({ request_uri: OBJECT_URL })],
  ["of another type", () => signed({}, { typ: "at+jwt" })],
  ["with crit", () => signed({}, { ...TYPED, crit: ["exp"] })],
  ["that is a client assertion", () => createAssertion(key, "signer", ISSUER)],
  ["that is encrypted", () => "a.b.c.d.e"],
  ["that is no JWT", () => "request"],
];

function unsigned(alg: string, signature?: string): string {
  const encode = (value: unknown) => encodeBase64url(new TextEncoder().encode(JSON.stringify(value)));
  const text = `${encode({ alg, ...TYPED })}.${encode(claims())}`;
  const secret = new TextEncoder().encode(JSON.stringify(key.jwk));
  return `${text}.${signature ?? encodeBase64url(hmacSha256(secret, text))}`;
}

for (const [name, create] of REFUSED) {
  test(`a request object ${name} is refused with invalid_request_object and no redirect`, async () => {
    const server = await start();
    const request = await create();
    const { status, page, answer } = await open(server, { request, redirect_uri: URI, state: "query" });
    assert.equal([status, answer], [400, null]);
    assert.not.match(page, "<form");
    const pushed = await push(server, { request });
    assert.equal([pushed.status, pushed.body.error], [400, "invalid_request_object"]);
  });
}

for (const typ of [undefined, "JWT", "oauth-authz-req+jwt", "application/oauth-authz-req+jwt"]) {
  test(`a request object with typ ${typ} is accepted`, async () => {
    const server = await start();
    assert.ok((await open(server, { request: await signed({}, { typ }) })).answer!.has("code"));
  });
}

test("RFC 9101 section 5: request and request_uri together are refused, and each more than once", async () => {
  const server = await start({ request_uris: [OBJECT_URL] });
  const request = await signed();
  assert.is((await open(server, { request, request_uri: OBJECT_URL })).answer, null);
  const twice = `/oauth/authorize?client_id=signer&request=${request}&request=${request}`;
  assert.is((await server.send(twice, { headers: { cookie: await server.signIn() } })).status, 400);
});

test("RFC 9126 section 3: a pushed request object is verified once, and then lives as a pushed request", async () => {
  const server = await start({ require_signed_request_object: true });
  const { status, body } = await push(server, { request: await signed(), state: "form", scope: "write" });
  assert.is(status, 201);
  server.advance(300);
  const { answer } = await open(server, { request_uri: body.request_uri, state: "query" });
  assert.equal([answer!.get("state"), answer!.has("code")], ["signed", true]);
});

test("a request object may expire while the user signs in, by value and by reference", async () => {
  for (const name of ["request", "request_uri"]) {
    let fetches = 0;
    const object = await signed({ exp: now() + 60 });
    const server = await start({ request_uris: [OBJECT_URL] }, {
      connect: () => {
        fetches++;
        const headers = { "content-type": `application/${TYPED.typ}` };
        return Promise.resolve(new Response(object, { headers }));
      },
    });
    const query = { client_id: "signer", [name]: name === "request" ? object : OBJECT_URL };
    const asked = await server.send("/oauth/authorize?" + new URLSearchParams(query));
    assert.is(asked.status, 302);
    const login = new URL(asked.headers.get("location")!, ISSUER);
    server.advance(300);
    const headers = { cookie: await server.signIn() };
    const back = await server.send(login.searchParams.get("redirect")!, { headers });
    assert.equal([back.status, fetches], [200, name === "request" ? 0 : 1]);
    const form = { transaction: transactionOf(await back.text()), decision: "approve" };
    const answered = await server.send("/oauth/authorize", { form, headers });
    assert.is(new URL(answered.headers.get("location")!).searchParams.get("state"), "signed");
    // The answer consumes it, as a pushed request.
    const again = await server.send(login.searchParams.get("redirect")!, { headers });
    assert.is(again.status, 400);
  }
});

test("a request object that is too large, or above the limit of strangers, is verified again after the login", async () => {
  const server = await start();
  const returnQuery = async (state: string) => {
    const query = { client_id: "signer", request: await signed({ state }) };
    const asked = await server.send("/oauth/authorize?" + new URLSearchParams(query));
    assert.is(asked.status, 302);
    const login = new URL(asked.headers.get("location")!, ISSUER);
    return new URL(login.searchParams.get("redirect")!, ISSUER).searchParams;
  };
  assert.ok((await returnQuery("s".repeat(9000))).has("request"));
  const state = "s".repeat(7000);
  assert.ok((await returnQuery(state)).has("request_uri"));
  for (let sent = 0; (await returnQuery(state)).has("request_uri"); sent++) assert.ok(sent < 1500);
});

test("a request object that the client had to push is not stored for it", async () => {
  const server = await start({ require_pushed_authorization_requests: true });
  const query = { client_id: "signer", request: await signed() };
  const asked = await server.send("/oauth/authorize?" + new URLSearchParams(query));
  const login = new URL(asked.headers.get("location")!, ISSUER);
  const headers = { cookie: await server.signIn() };
  const back = await server.send(login.searchParams.get("redirect")!, { headers });
  assert.is(new URL(back.headers.get("location")!).searchParams.get("error"), "invalid_request");
});

test("RFC 9126 section 2.1: request_uri is refused at the PAR endpoint, also a registered one", async () => {
  const { body } = await push(await start({ request_uris: [OBJECT_URL] }), { request_uri: OBJECT_URL });
  assert.is(body.error, "invalid_request");
});

const PLAIN = { response_type: "code", redirect_uri: URI, state: "query" };

for (
  const [name, registration, options] of [
    ["the client requires", { require_signed_request_object: true }, {}],
    ["the server requires", {}, { requestObjects: "required" }],
  ] as const
) {
  test(`RFC 9101 section 10.5: where ${name} request objects, a request without one is refused`, async () => {
    const server = await start(registration, options);
    const { answer } = await open(server, PLAIN);
    assert.equal([answer!.get("error"), answer!.has("code")], ["invalid_request", false]);
    assert.is((await push(server, PLAIN)).body.error, "invalid_request");
    assert.ok((await open(server, { request: await signed() })).answer!.has("code"));
    // The requirement holds for the request that waits for a new login too.
    const headers = { cookie: await server.signIn() };
    server.advance(1);
    const request = await signed({ max_age: 0 });
    const query = new URLSearchParams({ client_id: "signer", request });
    const toLogin = (await server.send(`/oauth/authorize?${query}`, { headers })).headers.get("location")!;
    const form = { username: "alice", password: "wonderland" };
    const back = await server.send(toLogin, { form, headers });
    const fresh = { cookie: back.headers.get("set-cookie")!.split(";")[0]! };
    assert.not.match(back.headers.get("location")!, request);
    const end = await server.send(back.headers.get("location")!, { headers: fresh });
    assert.not.match(end.headers.get("location") ?? "", "error=");
  });
}

test("request_object_signing_alg is the only algorithm that counts", async () => {
  const rsa = await newKey("RS256");
  const server = await start({ jwks: { keys: [key.jwk, rsa.jwk] }, request_object_signing_alg: "RS256" });
  assert.is((await open(server, { request: await signed() })).answer, null);
  assert.ok((await open(server, { request: await signed({}, TYPED, rsa) })).answer!.has("code"));
});

test("RFC 9101 section 7: a server without request objects refuses request and request_uri", async () => {
  const server = await start({ request_uris: [OBJECT_URL] }, { requestObjects: "off" });
  const { answer } = await open(server, { ...PLAIN, request: await signed() });
  assert.equal([answer!.get("error"), answer!.has("code")], ["request_not_supported", false]);
  assert.is((await push(server, { ...PLAIN, request: await signed() })).body.error, "request_not_supported");
  const { status, answer: none } = await open(server, { ...PLAIN, request_uri: OBJECT_URL });
  assert.equal([status, none], [400, null]);
});

test.run();
