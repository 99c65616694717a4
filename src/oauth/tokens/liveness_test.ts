/**
 * What was issued ends with the client, the user or the grant that it was issued for: every way to use it, against every
 * way to end it.
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
import { addUser, removeUser } from "../users/user.ts";

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
  /** What the gateway got for the access token. */
  readonly exchanged: string;
  readonly code: string;
  readonly device_code: string;
  readonly cookie: string;
}

/** One of everything that can be issued for alice and the stored client. */
async function issue(server: TestServer): Promise<Issued> {
  const asked = { client_id: "stored", redirect_uri: URI, scope: "profile read" };
  const redeem = async (form: Record<string, string>) =>
    await (await server.token({ ...form, ...STORED })).json();
  const newCode = async () => (await server.authorize(asked)).get("code")!;
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
/** Who called with a token before it ended, and may have something open still. */
async function open(server: TestServer, token: string): Promise<() => Promise<boolean>> {
  const url = `${ISSUER}/mcp`;
  const request = new Request(url, { headers: { authorization: `Bearer ${token}` } });
  const caller = await server.service.identify(request, {}, url);
  return caller !== "none" && !(caller instanceof TokenRefusal)
    ? caller.isStillValid!
    : () => Promise.resolve(false);
}
const gives = async (server: TestServer, form: Record<string, string>): Promise<boolean> =>
  (await server.token({ ...STORED, ...form })).status === 200;

/** Every path that reads what was issued: whether it is still good there. Those that use it up stand last. */
const USES: Readonly<Record<string, (server: TestServer, issued: Issued) => Promise<boolean>>> = {
  "introspection": (server, { access_token }) => isActive(server, access_token),
  "introspection of what it was exchanged for": (server, { exchanged }) => isActive(server, exchanged),
  "introspection of the refresh token": (server, { refresh_token }) =>
    isActive(server, refresh_token, STORED),
  "a protected resource": (server, { access_token }) => mayCall(server, access_token),
  "a protected resource, exchanged": (server, { exchanged }) => mayCall(server, exchanged),
  "a token without proof": async (server, { access_token }) =>
    await server.service.verifyToken(access_token) !== undefined,
  "the user's profile": async (server, { access_token }) =>
    (await server.send("/api/user", { headers: { authorization: `Bearer ${access_token}` } })).status === 200,
  "exchange as subject": async (server, { access_token }) =>
    (await redeemExchange(server, access_token)).access_token !== undefined,
  "the code": (server, { code }) =>
    gives(server, { grant_type: "authorization_code", code, redirect_uri: URI }),
  "the device code": (server, { device_code }) =>
    gives(server, { grant_type: `${GRANT}device_code`, device_code }),
  "the refresh token": (server, { refresh_token }) =>
    gives(server, { grant_type: "refresh_token", refresh_token }),
};
const OF_THE_GRANT = [
  "introspection",
  "introspection of what it was exchanged for",
  "introspection of the refresh token",
  "a protected resource",
  "a protected resource, exchanged",
  "a token without proof",
  "the user's profile",
  "exchange as subject",
  "the refresh token",
];

async function newWorld(accessTokenFormat: "opaque" | "jwt"): Promise<TestServer> {
  const clients = [toClient({ id: "gateway", secret: "g", grant_types: [`${GRANT}token-exchange`] }, 0)];
  const server = await newServer({ accessTokenFormat, clients });
  await addClient(server.store, stored);
  return server;
}

/** What ends what. Those with "again" make one of the same name afterwards. */
const ENDS: Readonly<Record<string, (server: TestServer, issued: Issued) => Promise<unknown>>> = {
  "the user is removed": ({ store }) => removeUser(store, "alice"),
  "the user is removed, and another of that name added": async ({ store }) => {
    await removeUser(store, "alice");
    await addUser(store, ALICE, 1000);
  },
  "the client is removed": ({ store }) => removeClient(store, "stored"),
  "the client is removed, and another of that id added": async ({ store }) => {
    await removeClient(store, "stored");
    await new Promise((resolve) => setTimeout(resolve, 2));
    await addClient(store, stored);
  },
};

for (const format of ["opaque", "jwt"] as const) {
  test(`${format}: everything that was issued is good at first`, async () => {
    const server = await newWorld(format);
    const issued = await issue(server);
    for (const [name, use] of Object.entries(USES)) assert.ok(await use(server, issued), name);
  });

  for (const [what, end] of Object.entries(ENDS)) {
    test(`${format}: when ${what} nothing that was issued is good any more`, async () => {
      const server = await newWorld(format);
      const issued = await issue(server);
      const mayStayOpen = await open(server, issued.access_token);
      assert.ok(await mayStayOpen());
      await end(server, issued);
      assert.not.ok(await mayStayOpen(), "what stays open");
      for (const [name, use] of Object.entries(USES)) assert.not.ok(await use(server, issued), name);
    });
  }

  test(`${format}: when the grant is revoked nothing of it is good any more`, async () => {
    const server = await newWorld(format);
    const issued = await issue(server);
    await server.send("/oauth/revoke", { form: { token: issued.refresh_token, ...STORED } });
    for (const name of OF_THE_GRANT) assert.not.ok(await USES[name]!(server, issued), name);
  });

  test(`${format}: an assertion's token, which has no grant, ends with its user and its client`, async () => {
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
    await addClient(server.store, { id: "agent", secret: "s", grant_types: [`${GRANT}jwt-bearer`] });
    const bob = await addUser(server.store, { username: "bob", password: "builder" }, 1000);
    const ask = async (jti: string) => {
      const assertion = await sign(key, { typ: "JWT", kid: "idp-1" }, { ...claims(jti), sub: bob.id });
      const form = { grant_type: `${GRANT}jwt-bearer`, assertion, client_id: "agent", client_secret: "s" };
      return (await (await server.token(form)).json()).access_token;
    };
    const token = await ask("1");
    assert.ok(await isActive(server, token) && await mayCall(server, token));
    await removeUser(server.store, "bob");
    assert.not.ok(await isActive(server, token) || await mayCall(server, token));
  });
}

test("a page that lay open gives no code for a redirect URI that the client has no more", async () => {
  const server = await newWorld("opaque");
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
  assert.not.ok(await gives(server, form));
});

test("clients that are described by documents end when documents are turned off", async () => {
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

test("behind a cache: once the removal of a user is acknowledged, no instance takes their tokens", async () => {
  const inner = memoryStore();
  const [one, other] = await Promise.all(
    [1, 2].map(() => newServer({ store: layeredStore(inner, { lifetime: 50 }) })),
  );
  const { access_token } = await one!.tokens({ scope: "read" });
  for (const server of [one!, other!]) assert.ok(await mayCall(server, access_token!));
  await removeUser(one!.store, "alice");
  for (const server of [one!, other!]) assert.not.ok(await mayCall(server, access_token!));
});

test("a token check asks the store for the token, its grant and its user, at once, and for nothing else", async () => {
  const inner = memoryStore();
  const asked: string[] = [];
  const get = inner.get.bind(inner);
  const store = Object.assign(inner, {
    get: (...call: Parameters<typeof get>) => {
      asked.push(String(call[0][0]));
      return get(...call);
    },
  });
  const server = await newServer({ store });
  const { access_token } = await server.tokens({ scope: "read" });
  asked.length = 0;
  assert.ok(await mayCall(server, access_token!));
  assert.equal(asked, ["access_token", "grant", "user"]);
});

test.run();
