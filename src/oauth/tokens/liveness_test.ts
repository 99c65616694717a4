/**
 * Tokens, codes and refresh tokens end with their client, user or grant: every use is tested against every way to end them.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { TokenRefusal } from "../../http/bearer.ts";
import { layeredStore } from "../../store/drivers/layered.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { addClient, removeClient, toClient } from "../clients/client.ts";
import { newKey, sign } from "../test_keys.ts";
import { CHALLENGE, ISSUER, newServer, type TestServer, transactionOf, VERIFIER } from "../test_server.ts";
import { removeUser } from "../users/remove_user.ts";
import { addUser } from "../users/user.ts";
import { lockUser, unlockUser } from "../users/user_changes.ts";

const test = suite("oauth/liveness");
const GRANT = "urn:ietf:params:oauth:grant-type:";
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
const URI = "https://stored.example/cb";
const STORED = { client_id: "stored", client_secret: "stored-secret" };
const GATEWAY = { client_id: "gateway", client_secret: "g" };
const ALICE = { username: "alice", password: "wonderland" };
const stored = {
  id: "stored",
  secret: STORED.client_secret,
  redirect_uris: [URI],
  scope: "profile read",
  grant_types: [
    "authorization_code",
    "refresh_token",
    `${GRANT}device_code`,
    `${GRANT}token-exchange`,
  ] as const,
};

interface Issued {
  readonly access_token: string;
  readonly refresh_token: string;
  /** The token that the gateway got in exchange for the access token. */
  readonly exchanged: string;
  readonly code: string;
  readonly device_code: string;
  readonly cookie: string;
}

/** Issues one of everything for alice and the client "stored". */
async function issue(server: TestServer): Promise<Issued> {
  const request = { client_id: "stored", redirect_uri: URI, scope: "profile read" };
  const redeem = async (form: Record<string, string>) =>
    await (await server.token({ ...form, ...STORED })).json();
  const newCode = async () => (await server.authorize(request)).get("code")!;
  const tokens = await redeem({ grant_type: "authorization_code", code: await newCode(), redirect_uri: URI });
  const exchanged = await redeemExchange(server, tokens.access_token);
  const form = { client_id: "stored", client_secret: STORED.client_secret, scope: "read" };
  const device = await (await server.send("/oauth/device_authorization", { form })).json();
  const cookie = await server.signIn();
  const page = await server.send("/device", { form: { user_code: device.user_code }, headers: { cookie } });
  const transaction = transactionOf(await page.text());
  await server.send("/device", { form: { transaction, decision: "approve" }, headers: { cookie } });
  return {
    ...tokens,
    exchanged: exchanged.access_token,
    code: await newCode(),
    device_code: device.device_code,
    cookie,
  };
}

async function redeemExchange(server: TestServer, subject_token: string, form = GATEWAY) {
  const response = await server.token({
    grant_type: `${GRANT}token-exchange`,
    subject_token,
    subject_token_type: ACCESS_TOKEN,
    ...form,
  });
  return await response.json();
}

const isActive = async (server: TestServer, token: string, form = GATEWAY): Promise<boolean> =>
  (await (await server.send("/oauth/introspect", { form: { token, ...form } })).json()).active;
const mayCall = async (server: TestServer, token: string): Promise<boolean> => {
  const url = `${ISSUER}/mcp`;
  const request = new Request(url, { headers: { authorization: `Bearer ${token}` } });
  const caller = await server.service.identify(request, {}, url);
  return caller !== "none" && !(caller instanceof TokenRefusal);
};
/** Calls with a token; the result checks later whether a stream of this call may stay open. */
async function openStream(server: TestServer, token: string): Promise<() => Promise<boolean>> {
  const url = `${ISSUER}/mcp`;
  const request = new Request(url, { headers: { authorization: `Bearer ${token}` } });
  const caller = await server.service.identify(request, {}, url);
  return caller !== "none" && !(caller instanceof TokenRefusal)
    ? caller.isStillValid!
    : () => Promise.resolve(false);
}
const getsTokens = async (server: TestServer, form: Record<string, string>): Promise<boolean> =>
  (await server.token({ ...STORED, ...form })).status === 200;

/** Every use of what was issued, and whether it succeeds. Uses that consume it come last. */
const USES: Readonly<Record<string, (server: TestServer, issued: Issued) => Promise<boolean>>> = {
  "introspection": (server, { access_token }) => isActive(server, access_token),
  "introspection of the exchanged token": (server, { exchanged }) => isActive(server, exchanged),
  "introspection of the refresh token": (server, { refresh_token }) =>
    isActive(server, refresh_token, STORED),
  "a protected resource": (server, { access_token }) => mayCall(server, access_token),
  "a protected resource, exchanged": (server, { exchanged }) => mayCall(server, exchanged),
  "verifyToken()": async (server, { access_token }) =>
    await server.service.verifyToken(access_token) !== undefined,
  "user info": async (server, { access_token }) =>
    (await server.send("/api/user", { headers: { authorization: `Bearer ${access_token}` } })).status === 200,
  "exchange as subject": async (server, { access_token }) =>
    (await redeemExchange(server, access_token)).access_token !== undefined,
  "the code": (server, { code }) =>
    getsTokens(server, { grant_type: "authorization_code", code, redirect_uri: URI }),
  "the device code": (server, { device_code }) =>
    getsTokens(server, { grant_type: `${GRANT}device_code`, device_code }),
  "the refresh token": (server, { refresh_token }) =>
    getsTokens(server, { grant_type: "refresh_token", refresh_token }),
};
const GRANT_USES = [
  "introspection",
  "introspection of the exchanged token",
  "introspection of the refresh token",
  "a protected resource",
  "a protected resource, exchanged",
  "verifyToken()",
  "user info",
  "exchange as subject",
  "the refresh token",
];

async function newLivenessServer(accessTokenFormat: "opaque" | "jwt"): Promise<TestServer> {
  const clients = [toClient({ id: "gateway", secret: "g", grant_types: [`${GRANT}token-exchange`] }, 0)];
  const server = await newServer({ accessTokenFormat, clients });
  await addClient(server.store, stored);
  return server;
}

/** Ways to end it. Some then add another user or client of the same name. */
const ENDS: Readonly<Record<string, (server: TestServer, issued: Issued) => Promise<unknown>>> = {
  "the user is removed": ({ store }) => removeUser(store, "alice"),
  "the user is locked": ({ store }) => lockUser(store, "alice"),
  "the user is removed and another of that name is added": async ({ store }) => {
    await removeUser(store, "alice");
    await addUser(store, ALICE, 1000);
  },
  "the client is removed": ({ store }) => removeClient(store, "stored"),
  "the client is removed and another with that id is added": async ({ store }) => {
    await removeClient(store, "stored");
    await new Promise((resolve) => setTimeout(resolve, 2));
    await addClient(store, stored);
  },
};

for (const format of ["opaque", "jwt"] as const) {
  test(`${format}: every use succeeds at first`, async () => {
    const server = await newLivenessServer(format);
    const issued = await issue(server);
    for (const [name, use] of Object.entries(USES)) assert.ok(await use(server, issued), name);
  });

  for (const [what, end] of Object.entries(ENDS)) {
    test(`${format}: after ${what} every use is refused`, async () => {
      const server = await newLivenessServer(format);
      const issued = await issue(server);
      const mayStayOpen = await openStream(server, issued.access_token);
      assert.ok(await mayStayOpen());
      await end(server, issued);
      assert.not.ok(await mayStayOpen(), "an open stream");
      for (const [name, use] of Object.entries(USES)) assert.not.ok(await use(server, issued), name);
    });
  }

  test(`${format}: every use succeeds again after the user is unlocked`, async () => {
    const server = await newLivenessServer(format);
    const issued = await issue(server);
    await lockUser(server.store, "alice");
    for (const [name, use] of Object.entries(USES)) assert.not.ok(await use(server, issued), name);
    await unlockUser(server.store, "alice");
    for (const [name, use] of Object.entries(USES)) assert.ok(await use(server, issued), name);
  });

  test(`${format}: after the grant is revoked every use of it is refused`, async () => {
    const server = await newLivenessServer(format);
    const issued = await issue(server);
    await server.send("/oauth/revoke", { form: { token: issued.refresh_token, ...STORED } });
    for (const name of GRANT_USES) assert.not.ok(await USES[name]!(server, issued), name);
  });

  test(`${format}: a JWT bearer token, which has no grant, ends with its user and its client`, async () => {
    const key = await newKey("ES256", "idp-1");
    const claims = (jti: string) => ({
      iss: "https://idp.example",
      aud: ISSUER,
      sub: "bob",
      jti,
      exp: Math.floor(Date.now() / 1000) + 60,
    });
    const trustedIssuers = [{ issuer: "https://idp.example", jwks: { keys: [key.jwk] } }];
    const clients = [toClient({ id: "gateway", secret: "g", grant_types: [`${GRANT}token-exchange`] }, 0)];
    const server = await newServer({ accessTokenFormat: format, trustedIssuers, clients });
    const agent = { id: "agent", secret: "s", grant_types: [`${GRANT}jwt-bearer`] as const };
    await addClient(server.store, agent);
    const bob = await addUser(server.store, { username: "bob", password: "builder" }, 1000);
    const ask = async (jti: string) => {
      const assertion = await sign(key, { typ: "JWT", kid: "idp-1" }, { ...claims(jti), sub: bob.id });
      const form = { grant_type: `${GRANT}jwt-bearer`, assertion, client_id: "agent", client_secret: "s" };
      return (await (await server.token(form)).json()).access_token;
    };
    const isAccepted = async (token: string) => [await isActive(server, token), await mayCall(server, token)];
    const first = await ask("1");
    assert.equal(await isAccepted(first), [true, true]);
    await removeClient(server.store, "agent");
    assert.equal(await isAccepted(first), [false, false]);
    await new Promise((resolve) => setTimeout(resolve, 2));
    await addClient(server.store, agent);
    const second = await ask("2");
    assert.equal(await isAccepted(second), [true, true]);
    await lockUser(server.store, "bob");
    assert.equal([await isAccepted(second), await ask("3")], [[false, false], undefined]);
    await unlockUser(server.store, "bob");
    assert.equal(await isAccepted(second), [true, true]);
    await removeUser(server.store, "bob");
    assert.equal(await isAccepted(second), [false, false]);
  });
}

for (const format of ["opaque", "jwt"] as const) {
  const CONFIGURED = [toClient({ id: "gateway", secret: "g", grant_types: [`${GRANT}token-exchange`] }, 0)];
  const open = (isConfigured: boolean, server?: TestServer): Promise<TestServer> =>
    newServer({
      accessTokenFormat: format,
      clients: isConfigured ? [...CONFIGURED, toClient(stored, 0)] : CONFIGURED,
      ...(server && { store: server.store, now: server.now }),
    });
  /** The uses that succeed. */
  const usesOf = async (server: TestServer, issued: Issued): Promise<string[]> => {
    const found = [];
    for (const [name, use] of Object.entries(USES)) if (await use(server, issued)) found.push(name);
    return found;
  };

  test(`${format}: a client of the store gets nothing back of a configured one that had its id`, async () => {
    const before = await open(true);
    const issued = await issue(before);
    const after = await open(false, before);
    before.advance(2);
    await addClient(after.store, stored);
    assert.equal(await usesOf(after, issued), []);
  });

  test(`${format}: a configured client gets nothing back of a removed one of the store that had its id`, async () => {
    const before = await newLivenessServer(format);
    const issued = await issue(before);
    await removeClient(before.store, "stored");
    assert.equal(await usesOf(await open(true, before), issued), []);
  });

  test(`${format}: a client of the store that is configured, too, keeps its grants`, async () => {
    const before = await newLivenessServer(format);
    const issued = await issue(before);
    assert.equal(await usesOf(await open(true, before), issued), Object.keys(USES));
  });
}

test("an open consent page gives no code for a redirect URI that is no longer registered", async () => {
  const server = await newLivenessServer("opaque");
  const cookie = await server.signIn();
  const query = {
    client_id: "stored",
    redirect_uri: URI,
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  };
  const page = await server.send(server.authorizePath(query), { headers: { cookie } });
  const transaction = transactionOf(await page.text());
  const code = (await server.authorize(query)).get("code")!;
  await removeClient(server.store, "stored");
  await new Promise((resolve) => setTimeout(resolve, 2));
  await addClient(server.store, { ...stored, redirect_uris: ["https://stored.example/other"] });
  const answer = await server.send("/oauth/authorize", {
    form: { transaction, decision: "approve" },
    headers: { cookie },
  });
  assert.equal([answer.status, answer.headers.get("location")], [400, null]);
  const form = { grant_type: "authorization_code", code, redirect_uri: URI, code_verifier: VERIFIER };
  assert.not.ok(await getsTokens(server, form));
});

test("tokens of clients with metadata documents end when documents are disabled", async () => {
  const id = "https://app.example/client";
  const document = { client_id: id, client_name: "D", redirect_uris: ["https://app.example/cb"] };
  const connect = () => Promise.resolve(Response.json(document));
  const before = await newServer({ connect });
  const code = (await before.authorize({
    client_id: id,
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  })).get("code")!;
  const tokens = await (await before.token({
    grant_type: "authorization_code",
    code,
    client_id: id,
    client_secret: undefined,
    redirect_uri: "https://app.example/cb",
    code_verifier: VERIFIER,
  })).json();
  assert.ok(await mayCall(before, tokens.access_token));
  const after = await newServer({ store: before.store, connect, clientMetadataDocuments: () => false });
  assert.not.ok(await mayCall(after, tokens.access_token));
});

test("after the removal of a user is acknowledged, no instance with a cache accepts their tokens", async () => {
  const inner = memoryStore();
  const [one, other] = await Promise.all(
    [1, 2].map(() => newServer({ store: layeredStore(inner, { lifetime: 50 }) })),
  );
  const { access_token } = await one!.tokens({ scope: "read" });
  for (const server of [one!, other!]) assert.ok(await mayCall(server, access_token!));
  await removeUser(one!.store, "alice");
  for (const server of [one!, other!]) assert.not.ok(await mayCall(server, access_token!));
});

test("a token check reads the token, its grant and its user from the store, and nothing else", async () => {
  const inner = memoryStore();
  const read: string[] = [];
  const get = inner.get.bind(inner);
  const store = Object.assign(inner, {
    get: (...call: Parameters<typeof get>) => {
      read.push(String(call[0][0]));
      return get(...call);
    },
  });
  const server = await newServer({ store });
  const { access_token } = await server.tokens({ scope: "read" });
  read.length = 0;
  assert.ok(await mayCall(server, access_token!));
  assert.equal(read, ["access_token", "grant", "user"]);
});

test.run();
