import { suite } from "uvu";
import * as assert from "uvu/assert";
import { layeredStore } from "../../store/drivers/layered.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { CACHED } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { extendRegistration } from "../clients/client.ts";
import type { Client } from "../records/client_record.ts";
import { STORAGE_LIMITS, UNUSED_REGISTRATION_LIFETIME } from "../storage_quota.ts";
import { register, WEB } from "./test_registration.ts";
import { CHALLENGE, ISSUER, newServer, VERIFIER } from "../test_server.ts";

const test = suite("oauth/register");

/** `undefined` when the work takes longer than 20 seconds. */
async function withinLimit<Result>(work: Promise<Result>): Promise<Result | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => timer = setTimeout(resolve, 20_000));
  return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

test("RFC 7591 section 3.2.1: the response has all registered metadata, with the values that the server chose", async () => {
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
  // A request that waits for other caches waits for an hour.
  const store = layeredStore(memoryStore(), { lifetime: 3_600_000 });
  await store.get(["client", "unknown"], CACHED);
  const server = await newServer({ store });
  const registered = await withinLimit(register(server, WEB));
  assert.is(registered?.status, 201);
  const { client_id } = registered!.body;
  const [client] = await store.list<Client>(["client"]);
  assert.is(client!.value.id, client_id);
  // A use long after the registration extends it.
  const soon = Date.now() + 60_000;
  await store.commit({ set: [{ ...client!, expires: soon, isSameValue: true }] });
  const as = { store, now: Date.now, registrationLifetime: 86_400 } as unknown as AuthorizationServer;
  assert.is(await withinLimit(extendRegistration(as, client!.value).then(() => "kept")), "kept");
  assert.ok((await store.get(client!.key))!.expires! > soon);
});

test("a registered public client can use the code flow, and its consent page has a warning", async () => {
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

test("registration: 'token' requires an access token with clients:register", async () => {
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

test("an initial access token that is revoked while the body is held back registers nothing", async () => {
  const server = await newServer({
    registration: "token",
    scopes: { "clients:register": "", admin: { description: "", implies: ["clients:register"] } },
  });
  const client = { client_id: "service", client_secret: "service-secret" };
  const grant = { grant_type: "client_credentials", ...client, scope: "admin" };
  const token = (await (await server.token(grant)).json()).access_token;
  assert.is((await register(server, WEB, token)).status, 201);
  const body = new ReadableStream({
    async pull(controller) {
      await server.send("/oauth/revoke", { form: { ...client, token } });
      controller.enqueue(new TextEncoder().encode(JSON.stringify(WEB)));
      controller.close();
    },
  }, { highWaterMark: 0 });
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const init = { method: "POST", headers, body, duplex: "half" };
  const response = await server.service.fetch(new Request(`${ISSUER}/oauth/register`, init));
  assert.is(response.status, 401);
  assert.is((await server.store.list(["client"])).length, 1);
});

test("registration: 'token' answers an unknown access token with the challenge of RFC 6750", async () => {
  const server = await newServer({ registration: "token" });
  for (const token of ["made-up", "trivet_at_" + "x".repeat(43)]) {
    const { response, status, body } = await register(server, WEB, token);
    assert.equal([status, body.error], [401, "invalid_token"]);
    assert.match(response.headers.get("www-authenticate")!, /^Bearer error="invalid_token"/);
    assert.match(response.headers.get("www-authenticate")!, 'scope="clients:register"');
  }
});

test("registration: 'off' makes the endpoint 404 and removes it from the metadata", async () => {
  const server = await newServer({ registration: "off" });
  assert.is((await server.send("/oauth/register", { method: "POST", form: "{}" })).status, 404);
  const metadata = await (await server.send("/.well-known/oauth-authorization-server")).json();
  assert.not.ok("registration_endpoint" in metadata);
});

test("RFC 7591 section 3.2.2: metadata that is too large is refused, at registration and at an update", async () => {
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

test("an unused registration expires after a day, a used one after its lifetime", async () => {
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
  assert.is((await register(server, WEB)).status, 201, "other networks are not throttled");
});

test.run();
