import { suite } from "uvu";
import * as assert from "uvu/assert";
import { encodeBase64url } from "../../crypto/base64url.ts";
import { hmacSha256 } from "../../crypto/sha256.ts";
import { toClient } from "../clients/client.ts";
import type { ClientRegistration } from "../clients/client_registration.ts";
import type { AuthorizationServerOptions } from "../authorization_server.ts";
import { createAssertion, newKey, sign, type TestKey } from "../test_keys.ts";
import { ISSUER, newServer, type TestServer, transactionOf } from "../test_server.ts";

const test = suite("oauth/request_object");
const URI = "https://signer.example/cb";
const OBJECT_URL = "https://signer.example/request.jwt";
const TYPED = { typ: "oauth-authz-req+jwt" };
const key = await newKey();
const other = await newKey();

/** A server that accepts request objects, with a client that has a key and a secret. */
function start(
  registration: Partial<ClientRegistration> = {},
  options: Partial<AuthorizationServerOptions> = {},
): Promise<TestServer> {
  const signer: ClientRegistration = {
    id: "signer",
    secret: "signer-secret",
    redirect_uris: [URI],
    jwks: { keys: [key.jwk] },
    ...registration,
  };
  const second = { ...signer, id: "second", jwks: { keys: [other.jwk] }, request_uris: undefined };
  const clients = [signer, second].map((each) => toClient(each, 0));
  return newServer({ requestObjects: "optional", clients, ...options });
}

const now = () => Math.floor(Date.now() / 1000);

function claims(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    iss: "signer",
    aud: ISSUER,
    exp: now() + 60,
    client_id: "signer",
    response_type: "code",
    redirect_uri: URI,
    scope: "read",
    state: "signed",
    ...more,
  };
}

const signed = (more?: Record<string, unknown>, header: Record<string, unknown> = TYPED, by: TestKey = key) =>
  sign(by, { kid: by.jwk.kid, ...header }, claims(more));

/** Opens the authorization endpoint as alice, and consents where the page asks. */
async function open(server: TestServer, query: Record<string, string>) {
  const headers = { cookie: await server.signIn() };
  const path = "/oauth/authorize?" + new URLSearchParams({ client_id: "signer", ...query });
  let response = await server.send(path, { headers });
  const page = await response.text();
  if (response.status === 200) {
    const form = { transaction: transactionOf(page), decision: "approve" };
    response = await server.send("/oauth/authorize", { form, headers });
  }
  const location = response.headers.get("location");
  return { status: response.status, page, answer: location === null ? null : new URL(location).searchParams };
}

/** Pushes the request object; the status and body of the response. */
async function push(server: TestServer, form: Record<string, string>) {
  const credentials = { client_id: "signer", client_secret: "signer-secret" };
  const response = await server.send("/oauth/par", { form: { ...credentials, ...form } });
  return { status: response.status, body: await response.json() };
}

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

/** A server for a client whose request object is at a URL, and the requests that it made. */
async function startWithUrl(respond: () => Response | Promise<Response>, registered = [OBJECT_URL]) {
  const fetched: { url: string; accept: string | null; redirect: string | undefined }[] = [];
  const server = await start({ request_uris: registered }, {
    connect: (url, init) => {
      const accept = new Headers(init.headers).get("accept");
      fetched.push({ url, accept, redirect: init.redirect });
      return Promise.resolve(respond());
    },
  });
  return { server, fetched };
}

const asJwt = (text: string, type = "application/oauth-authz-req+jwt") =>
  new Response(text, { headers: { "content-type": type } });

test("RFC 9101 section 5.2: the object at a registered request_uri is fetched each time, without redirects", async () => {
  let object = await signed();
  const { server, fetched } = await startWithUrl(() => asJwt(object));
  assert.is((await open(server, { request_uri: OBJECT_URL, state: "query" })).answer!.get("state"), "signed");
  object = await signed({ state: "second" });
  assert.is((await open(server, { request_uri: OBJECT_URL })).answer!.get("state"), "second");
  const accept = "application/oauth-authz-req+jwt";
  assert.equal(fetched, Array(2).fill({ url: OBJECT_URL, accept, redirect: "manual" }));
});

test("RFC 9101 section 10.4: a request_uri that is not registered exactly is not fetched", async () => {
  const { server, fetched } = await startWithUrl(async () => asJwt(await signed()));
  for (
    const request_uri of [
      "https://signer.example/other.jwt",
      OBJECT_URL + "?x=1",
      OBJECT_URL + "#x",
      OBJECT_URL.toUpperCase(),
      "https://169.254.169.254/latest/meta-data",
      "http://signer.example/request.jwt",
      "file:///etc/passwd",
    ]
  ) {
    const { status, answer } = await open(server, { request_uri });
    assert.equal([status, answer], [400, null], request_uri);
  }
  const second = await open(server, { client_id: "second", request_uri: OBJECT_URL });
  assert.is(second.answer, null);
  assert.equal(fetched, []);
});

for (
  const [name, respond] of [
    ["another status", () => new Response("x", { status: 404 })],
    ["a redirect", () => new Response(null, { status: 302, headers: { location: "https://internal/" } })],
    ["another media type", async () => asJwt(await signed(), "text/html")],
    ["too large a document", () => asJwt("x".repeat(20_000))],
    ["no JWT", () => asJwt("{}")],
    ["an object of another client", async () => asJwt(await signed({ client_id: "second" }))],
  ] as const
) {
  test(`a request_uri that returns ${name} is refused without a redirect`, async () => {
    const { server, fetched } = await startWithUrl(respond);
    const { status, answer } = await open(server, { request_uri: OBJECT_URL, redirect_uri: URI });
    assert.equal([status, answer, fetched.length], [400, null, 1]);
  });
}

test("request_uris of the operator must be public https URLs, and a signature needs keys", () => {
  for (
    const uri of [
      "http://a.example/",
      "https://127.0.0.1/",
      "https://a.example/#x",
      `https://a.example/${"x".repeat(512)}`,
    ]
  ) {
    assert.throws(() => toClient({ id: "a", redirect_uris: [URI], request_uris: [uri] }, 0), /request_uris/);
  }
  assert.throws(
    () => toClient({ id: "a", redirect_uris: [URI], require_signed_request_object: true }, 0),
    /require_signed_request_object/,
  );
});

test.run();
