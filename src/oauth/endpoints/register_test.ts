import { suite } from "uvu";
import * as assert from "uvu/assert";
import { layeredStore } from "../../store/drivers/layered.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { CACHED } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { extendRegistration } from "../clients/client.ts";
import type { Client } from "../records.ts";
import { STORAGE_LIMITS, UNUSED_REGISTRATION_LIFETIME } from "../storage_quota.ts";
import { newKey } from "../test_keys.ts";
import { register, WEB } from "./test_registration.ts";
import { CHALLENGE, ISSUER, newServer, VERIFIER } from "../test_server.ts";

const test = suite("oauth/register");

/** `undefined` when it takes longer than anything that does not wait on purpose. */
async function atOnce<Result>(work: Promise<Result>): Promise<Result | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => timer = setTimeout(resolve, 20_000));
  return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

test("RFC 7591 section 3.2.1: 201 with all registered metadata, also what the server chose", async () => {
  const server = await newServer();
  const { response, status, body } = await register(server, {
    ...WEB,
    "client_name#de": "Kunde",
    client_uri: "https://client.example",
    unknown: 1,
  });
  assert.is(status, 201);
  assert.is(response.headers.get("content-type"), "application/json");
  assert.is(response.headers.get("cache-control"), "no-store");
  const { client_id, client_secret, registration_access_token, client_id_issued_at, ...rest } = body;
  assert.match(client_id, /^client_[A-Za-z0-9_-]{22}$/);
  assert.match(client_secret, /^trivet_cs_[A-Za-z0-9_-]{43}$/);
  assert.match(registration_access_token, /^trivet_rat_/);
  assert.ok(Math.abs(client_id_issued_at - Date.now() / 1000) < 5);
  assert.equal(rest, {
    client_secret_expires_at: 0,
    client_name: "Client",
    token_endpoint_auth_method: "client_secret_basic",
    redirect_uris: WEB.redirect_uris,
    grant_types: ["authorization_code"],
    response_types: ["code"],
    "client_name#de": "Kunde",
    client_uri: "https://client.example",
    registration_client_uri: `${ISSUER}/oauth/register/${client_id}`,
  });
});

test("a registration and its use do not wait for other caches", async () => {
  // Whoever waits for copies here waits for an hour.
  const store = layeredStore(memoryStore(), { lifetime: 3_600_000 });
  await store.get(["client", "unknown"], CACHED);
  const server = await newServer({ store });
  const registered = await atOnce(register(server, WEB));
  assert.is(registered?.status, 201);
  const { client_id } = registered!.body;
  const [client] = await store.list<Client>(["client"]);
  assert.is(client!.value.id, client_id);
  // Used long after, its life is extended.
  const soon = Date.now() + 60_000;
  await store.commit({ set: [{ ...client!, expires: soon, isSameValue: true }] });
  const as = { store, now: Date.now, registrationLifetime: 86_400 } as unknown as AuthorizationServer;
  assert.is(await atOnce(extendRegistration(as, client!.value).then(() => "kept")), "kept");
  assert.ok((await store.get(client!.key))!.expires! > soon);
});

test("a registered public client goes through the code flow at once; its page warns that the name is not verified", async () => {
  const server = await newServer();
  const { body } = await register(server, {
    ...WEB,
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
  });
  assert.not.ok("client_secret" in body);
  const cookie = await server.signIn();
  const parameters = {
    client_id: body.client_id,
    redirect_uri: WEB.redirect_uris[0]!,
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  };
  const page = await (await server.send(server.authorizePath(parameters), { headers: { cookie } })).text();
  assert.match(page, 'class="note"');
  assert.match(page, "<strong>client.example</strong>");
  const code = (await server.authorize(parameters)).get("code")!;
  const form = {
    grant_type: "authorization_code",
    code,
    redirect_uri: WEB.redirect_uris[0]!,
    code_verifier: VERIFIER,
    client_id: body.client_id,
    client_secret: undefined,
  };
  const tokens = await (await server.token(form)).json();
  assert.ok(tokens.access_token && tokens.refresh_token);
});

const BAD: Record<string, [unknown, string]> = {
  "no JSON": ["{", "invalid_client_metadata"],
  "an array": [[], "invalid_client_metadata"],
  "no redirect URI": [{}, "invalid_redirect_uri"],
  "redirect URIs that are no list": [{ redirect_uris: "https://a.example" }, "invalid_redirect_uri"],
  "a redirect URI over http": [{ redirect_uris: ["http://client.example/cb"] }, "invalid_redirect_uri"],
  "a redirect URI with a fragment": [
    { redirect_uris: ["https://client.example/cb#x"] },
    "invalid_redirect_uri",
  ],
  "a javascript redirect URI": [{ redirect_uris: ["javascript:alert(1)"] }, "invalid_redirect_uri"],
  "a data redirect URI among good ones": [
    { redirect_uris: ["https://a.example/cb", "data:text/html,x"] },
    "invalid_redirect_uri",
  ],
  "a relative redirect URI": [{ redirect_uris: ["/cb"] }, "invalid_redirect_uri"],
  "a redirect URI with a user": [{ redirect_uris: ["https://good@evil.example/cb"] }, "invalid_redirect_uri"],
  "the implicit grant": [{ ...WEB, grant_types: ["implicit"] }, "invalid_client_metadata"],
  "the password grant": [{ ...WEB, grant_types: ["password"] }, "invalid_client_metadata"],
  "a grant without a user, which strangers do not get": [
    { ...WEB, grant_types: ["client_credentials"] },
    "invalid_client_metadata",
  ],
  "refresh alone": [{ ...WEB, grant_types: ["refresh_token"] }, "invalid_client_metadata"],
  "a response type that is not offered": [{ ...WEB, response_types: ["token"] }, "invalid_client_metadata"],
  "no response type for the code grant": [{ ...WEB, response_types: [] }, "invalid_client_metadata"],
  "a method that is not known": [
    { ...WEB, token_endpoint_auth_method: "client_secret_jwt" },
    "invalid_client_metadata",
  ],
  "private_key_jwt without keys": [
    { ...WEB, token_endpoint_auth_method: "private_key_jwt" },
    "invalid_client_metadata",
  ],
  "both jwks and jwks_uri": [
    { ...WEB, jwks: { keys: [] }, jwks_uri: "https://client.example/keys" },
    "invalid_client_metadata",
  ],
  "keys on a private host": [{ ...WEB, jwks_uri: "https://169.254.169.254/keys" }, "invalid_client_metadata"],
  "a private key": [
    { ...WEB, jwks: { keys: [{ kty: "EC", crv: "P-256", x: "AA", y: "AA", d: "AA" }] } },
    "invalid_client_metadata",
  ],
  "a scope that strangers do not get": [{ ...WEB, scope: "admin" }, "invalid_client_metadata"],
  "a javascript client_uri": [{ ...WEB, client_uri: "javascript:alert(1)" }, "invalid_client_metadata"],
  "a name that is no text": [{ ...WEB, client_name: { toString: 1 } }, "invalid_client_metadata"],
  "null": ["null", "invalid_client_metadata"],
  "more redirect URIs than anybody needs": [
    { redirect_uris: Array.from({ length: 51 }, (_, i) => `https://client.example/${i}`) },
    "invalid_redirect_uri",
  ],
  "a redirect URI of 3,000 characters": [
    { redirect_uris: ["https://client.example/" + "x".repeat(3000)] },
    "invalid_redirect_uri",
  ],
  "redirect URIs that are numbers": [{ redirect_uris: [1, 2] }, "invalid_redirect_uri"],
  "nothing but a private scheme that breaks RFC 8252": [
    { redirect_uris: ["app:/cb"] },
    "invalid_redirect_uri",
  ],
  "grant types that are no list": [{ ...WEB, grant_types: "authorization_code" }, "invalid_client_metadata"],
  "grant types of which none is offered": [
    { ...WEB, grant_types: ["implicit", "password", "no_such_grant"] },
    "invalid_client_metadata",
  ],
  "response types that are no list": [{ ...WEB, response_types: "code" }, "invalid_client_metadata"],
  "a redirect URI that parsers read in two ways": [
    { redirect_uris: ["https://a.example/cb", "https://good.example\\@evil.example/cb"] },
    "invalid_redirect_uri",
  ],
  "a redirect URI in another spelling": [{ redirect_uris: ["http://0x7f.1/cb"] }, "invalid_redirect_uri"],
  "jwks without keys": [{ ...WEB, jwks: {} }, "invalid_client_metadata"],
  "jwks that are null": [{ ...WEB, jwks: null }, "invalid_client_metadata"],
  "no key in jwks": [{ ...WEB, jwks: { keys: [] } }, "invalid_client_metadata"],
  "21 keys in jwks": [
    { ...WEB, jwks: { keys: Array.from({ length: 21 }, () => ({ kty: "EC" })) } },
    "invalid_client_metadata",
  ],
  "authorization_details_types that are no list": [
    { ...WEB, authorization_details_types: "payment" },
    "invalid_client_metadata",
  ],
  "an introspection algorithm that is not offered": [
    { ...WEB, introspection_signed_response_alg: "none" },
    "invalid_client_metadata",
  ],
  "a flag that is a text": [{ ...WEB, dpop_bound_access_tokens: "yes" }, "invalid_client_metadata"],
  "a name of 3,000 characters": [{ ...WEB, client_name: "x".repeat(3000) }, "invalid_client_metadata"],
};

for (const [name, [metadata, error]] of Object.entries(BAD)) {
  test(`RFC 7591 section 3.2.2, ${error}: ${name}`, async () => {
    const server = await newServer();
    const { status, body } = await register(server, metadata);
    assert.equal([status, body.error], [400, error]);
    assert.equal(Object.keys(body), ["error", "error_description"]);
    assert.equal(await server.store.list(["client"]), []);
  });
}

test("jwks without keys or with more than 20 keys: the description names the limit", async () => {
  const server = await newServer();
  for (const keys of [[], Array.from({ length: 21 }, () => ({ kty: "EC" })), undefined]) {
    const { body } = await register(server, { ...WEB, jwks: { keys } });
    assert.match(body.error_description, "jwks must have 1 to 20 keys");
  }
});

test("section 2: informational metadata is stored and returned, unless malformed", async () => {
  const server = await newServer();
  const kept = {
    contacts: ["security@client.example"],
    application_type: "native",
    token_endpoint_auth_signing_alg: "ES256",
    software_id: "4NRB1-0XZABZI9E6-5SM3R",
    dpop_bound_access_tokens: true,
  };
  const { body } = await register(server, { ...WEB, ...kept });
  for (const [name, value] of Object.entries(kept)) assert.equal(body[name], value, name);
  const dropped = {
    contacts: Array.from({ length: 21 }, () => "a@client.example"),
    application_type: "toaster",
    token_endpoint_auth_signing_alg: "none",
    dpop_bound_access_tokens: false,
  };
  const second = (await register(server, { ...WEB, ...dropped })).body;
  for (const name of Object.keys(dropped)) assert.not.ok(name in second, name);
  const web = (await register(server, { ...WEB, application_type: "web", contacts: [1] })).body;
  assert.equal([web.application_type, web.contacts], ["web", undefined]);
});

test("of the redirect URIs of an editor the allowed ones are registered and returned", async () => {
  const uris = [
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "http://localhost:8787/callback",
    "https://www.cursor.com/agents/mcp/oauth/callback",
  ];
  const metadata = { redirect_uris: uris, token_endpoint_auth_method: "none" };
  const usual = await register(await newServer(), metadata);
  assert.equal([usual.status, usual.body.redirect_uris], [201, uris]);
  const strict = await register(await newServer({ redirectSchemes: [] }), metadata);
  assert.equal([strict.status, strict.body.redirect_uris], [201, uris.slice(1)]);
  const own = { ...metadata, redirect_uris: ["unheard://of/cb", ...uris] };
  assert.equal((await register(await newServer(), own)).body.redirect_uris, uris);
});

test("a private-use redirect URI matches exactly, and the page does not show its host", async () => {
  const server = await newServer();
  const uri = "cursor://claude.ai/oauth/callback";
  const { body } = await register(server, { redirect_uris: [uri], token_endpoint_auth_method: "none" });
  const parameters = {
    client_id: body.client_id,
    redirect_uri: uri,
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  };
  const cookie = await server.signIn();
  const page = await (await server.send(server.authorizePath(parameters), { headers: { cookie } })).text();
  assert.match(page, "<strong>cursor:</strong>");
  assert.not.match(page, "claude.ai");
  const other = { ...parameters, redirect_uri: "cursor://claude.ai/oauth/callback2" };
  assert.is((await server.send(server.authorizePath(other), { headers: { cookie } })).status, 400);
});

test("RFC 7591 section 3.2.1: unsupported grant types and response types are omitted from the response", async () => {
  const server = await newServer();
  const { status, body } = await register(server, {
    ...WEB,
    grant_types: ["authorization_code", "implicit", "password", "client_credentials", "urn:unheard:of"],
    response_types: ["code", "token", "code id_token"],
  });
  assert.is(status, 201);
  assert.equal([body.grant_types, body.response_types], [["authorization_code"], ["code"]]);
});

test("the registered scope is the default of the client and no limit", async () => {
  const server = await newServer();
  const { body } = await register(server, {
    ...WEB,
    scope: "read unknown",
    token_endpoint_auth_method: "none",
  });
  assert.is(body.scope, "read");
  const cookie = await server.signIn();
  const ask = async (scope?: string) => {
    const parameters = {
      client_id: body.client_id,
      redirect_uri: WEB.redirect_uris[0]!,
      scope,
      code_challenge: CHALLENGE,
      code_challenge_method: "S256",
    };
    return await (await server.send(server.authorizePath(parameters), { headers: { cookie } })).text();
  };
  assert.not.match(await ask(), "Change your data");
  assert.match(await ask("read write"), "Change your data");
});

test("of token_endpoint_auth_methods_supported a supported method is chosen", async () => {
  const server = await newServer();
  const key = await newKey();
  const { body } = await register(server, {
    ...WEB,
    token_endpoint_auth_methods_supported: ["private_key_jwt", "none"],
    jwks: { keys: [key.jwk] },
  });
  assert.is(body.token_endpoint_auth_method, "none");
});

test("metadata of another media type is refused", async () => {
  const server = await newServer();
  for (const type of ["text/plain", "application/x-www-form-urlencoded", ""]) {
    const response = await server.send("/oauth/register", {
      form: JSON.stringify(WEB),
      headers: { "content-type": type },
    });
    assert.equal([response.status, (await response.json()).error], [400, "invalid_client_metadata"], type);
  }
});

test("by token: registration needs an access token with clients:register", async () => {
  const server = await newServer({
    registration: "token",
    scopes: {
      read: "Read",
      "clients:register": "Register applications",
      admin: { description: "All", implies: ["clients:register"] },
    },
  });
  const none = await register(server, WEB);
  assert.equal([none.status, none.body.error, none.response.headers.get("www-authenticate")], [
    401,
    "invalid_token",
    'Bearer scope="clients:register"',
  ]);
  const tokenFor = async (scope: string) =>
    (await (await server.token({
      grant_type: "client_credentials",
      client_id: "service",
      client_secret: "service-secret",
      scope,
    })).json()).access_token;
  const low = await register(server, WEB, await tokenFor("read"));
  assert.equal([low.status, low.body.error], [403, "insufficient_scope"]);
  assert.is((await register(server, WEB, await tokenFor("admin"))).status, 201);
});

test("by token: an unknown access token gets the challenge of RFC 6750", async () => {
  const server = await newServer({ registration: "token" });
  for (const token of ["made-up", "trivet_at_" + "x".repeat(43)]) {
    const { response, status, body } = await register(server, WEB, token);
    assert.equal([status, body.error], [401, "invalid_token"]);
    assert.match(response.headers.get("www-authenticate")!, /^Bearer error="invalid_token"/);
    assert.match(response.headers.get("www-authenticate")!, 'scope="clients:register"');
  }
});

test("off: the endpoint is 404 and not advertised", async () => {
  const server = await newServer({ registration: "off" });
  assert.is((await server.send("/oauth/register", { method: "POST", form: "{}" })).status, 404);
  const metadata = await (await server.send("/.well-known/oauth-authorization-server")).json();
  assert.not.ok("registration_endpoint" in metadata);
});

test("RFC 7591 section 3.2.2: metadata that is too large is refused, at registration and at a change", async () => {
  const server = await newServer();
  const redirect_uris = Array.from({ length: 30 }, (_, i) => `https://a.example/${i}${"x".repeat(1000)}`);
  const large = await register(server, { ...WEB, redirect_uris });
  assert.equal([large.status, large.body.error], [400, "invalid_client_metadata"]);
  const { body } = await register(server, WEB);
  const response = await server.send(`/oauth/register/${body.client_id}`, {
    method: "PUT",
    form: JSON.stringify({ ...WEB, client_id: body.client_id, redirect_uris }),
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${body.registration_access_token}`,
    },
  });
  assert.equal([response.status, (await response.json()).error], [400, "invalid_client_metadata"]);
});

test("an unused registration ends after a day, a used one after its lifetime", async () => {
  const server = await newServer();
  const [used, idle] = [(await register(server, WEB)).body, (await register(server, WEB)).body];
  const parameters = {
    client_id: used.client_id,
    redirect_uri: WEB.redirect_uris[0]!,
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  };
  server.advance(UNUSED_REGISTRATION_LIFETIME - 60);
  await server.authorize(parameters);
  server.advance(120);
  assert.equal(
    [await server.store.get(["client", used.client_id]), await server.store.get(["client", idle.client_id])]
      .map((entry) => entry !== undefined),
    [true, false],
  );
  server.advance(29 * 86_400);
  assert.ok(await server.store.get(["client", used.client_id]));
});

test("a network that registers too much gets 429", async () => {
  const server = await newServer();
  const once = () =>
    server.service.fetch(
      new Request(ISSUER + "/oauth/register", {
        method: "POST",
        body: JSON.stringify({ ...WEB, client_uri: "https://client.example/" + "x".repeat(2000) }),
        headers: { "content-type": "application/json" },
      }),
      { ip: "2001:db8::1" },
    );
  assert.is((await once()).status, 201);
  let refused: Response | undefined;
  const { perNetwork } = STORAGE_LIMITS.registration;
  for (let i = 0; i < perNetwork / 2000 && refused?.status !== 429; i++) refused = await once();
  assert.is(refused!.status, 429);
  assert.is((await refused!.json()).error, "temporarily_unavailable");
  assert.ok(refused!.headers.get("retry-after"));
  assert.is((await register(server, WEB)).status, 201, "others do not");
});

test.run();
