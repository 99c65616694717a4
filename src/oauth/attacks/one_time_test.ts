/**
 * Of concurrent uses of a single-use value exactly one succeeds.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Store } from "../../store/store.ts";
import { toClient } from "../clients/client.ts";
import { createAssertion, createProof, newKey, sign } from "../test_keys.ts";
import { APP_URI, CLIENTS, ISSUER, newServer, type TestServer, transactionOf } from "../test_server.ts";

const test = suite("oauth: single use");
const GRANT = "urn:ietf:params:oauth:grant-type:";
const TOKEN = `${ISSUER}/oauth/token`;
const IDP = "https://idp.example";
const APP = { client_id: "app", client_secret: "app secret:&%+" };
const CONCURRENT_USES = 6;
const key = await newKey("ES256", "k-1");

/** A store with slow reads, so that all concurrent requests have read before the first one writes. */
function slowStore(): Store {
  const inner = memoryStore();
  const pause = () => new Promise((resolve) => setTimeout(resolve, 1));
  return {
    guarantees: inner.guarantees,
    async get<Value>(...call: Parameters<Store["get"]>) {
      const entry = await inner.get<Value>(...call);
      await pause();
      return entry;
    },
    list: (...call) => inner.list(...call),
    commit: (commit) => inner.commit(commit),
    watch: (prefix) => inner.watch(prefix),
    sweep: () => inner.sweep(),
    close: () => inner.close(),
  };
}

function start(): Promise<TestServer> {
  return newServer({
    store: slowStore(),
    refreshRetryGrace: 0,
    trustedIssuers: [{ issuer: IDP, jwks: { keys: [key.jwk] }, user: () => Promise.resolve(BOB) }],
    clients: [
      ...CLIENTS.map((client) => toClient(client, 0)),
      toClient({ id: "tv", grant_types: [`${GRANT}device_code`] }, 0),
      toClient({ id: "agent", secret: "s", grant_types: [`${GRANT}jwt-bearer`] }, 0),
      toClient({ id: "signer", jwks: { keys: [key.jwk] }, grant_types: ["client_credentials"] }, 0),
    ],
  });
}
const BOB = { id: "idp|bob", name: "Bob", email: "bob@example.com" };

const hasTokens = async (response: Response) =>
  response.status === 200 && "access_token" in await response.json();
const hasCode = (response: Response) =>
  Promise.resolve(new URL(response.headers.get("location") ?? ISSUER).searchParams.has("code"));
const push = async (server: TestServer, more: Record<string, string> = {}): Promise<string> => {
  const form = { ...APP, response_type: "code", redirect_uri: APP_URI, scope: "read", ...more };
  const { request_uri } = await (await server.send("/oauth/par", { form })).json();
  return `/oauth/authorize?client_id=app&request_uri=${encodeURIComponent(request_uri)}`;
};
const decide = (
  server: TestServer,
  cookie: string,
  path: string,
  transaction: string,
  decision = "approve",
) => server.send(path, { form: { transaction, decision }, headers: { cookie } });
const openConsent = async (server: TestServer, cookie: string, path: string) =>
  transactionOf(await (await server.send(path, { headers: { cookie } })).text());
const startDevice = async (server: TestServer): Promise<Record<string, string>> =>
  await (await server.send("/oauth/device_authorization", { form: { client_id: "tv", scope: "read" } }))
    .json();
const openDeviceConsent = async (server: TestServer, cookie: string, user_code: string) =>
  transactionOf(await (await server.send("/device", { form: { user_code }, headers: { cookie } })).text());

interface Race {
  /** Creates the single-use value; the result uses it. */
  readonly prepare: (server: TestServer) => Promise<(i: number) => Promise<Response>>;
  readonly isSuccess: (response: Response) => Promise<boolean>;
}

const RACES: Readonly<Record<string, Race>> = {
  "a code": {
    async prepare(server) {
      const code = (await server.authorize()).get("code")!;
      return () => server.token({ grant_type: "authorization_code", code, redirect_uri: APP_URI });
    },
    isSuccess: hasTokens,
  },
  "a refresh token without grace": {
    async prepare(server) {
      const { refresh_token } = await server.tokens();
      return () => server.token({ grant_type: "refresh_token", refresh_token });
    },
    isSuccess: hasTokens,
  },
  "an answer on the consent page": {
    async prepare(server) {
      const cookie = await server.signIn();
      const transaction = await openConsent(server, cookie, server.authorizePath());
      return () => decide(server, cookie, "/oauth/authorize", transaction);
    },
    isSuccess: hasCode,
  },
  "an answer on the consent page, approved and denied": {
    async prepare(server) {
      const cookie = await server.signIn();
      const transaction = await openConsent(server, cookie, server.authorizePath());
      return (i) => decide(server, cookie, "/oauth/authorize", transaction, i % 2 ? "approve" : "deny");
    },
    isSuccess: (response) => Promise.resolve(response.status === 302),
  },
  "a request_uri whose consent is remembered": {
    async prepare(server) {
      await server.authorize({ scope: "read" });
      const [cookie, path] = [await server.signIn(), await push(server)];
      return () => server.send(path, { headers: { cookie } });
    },
    isSuccess: hasCode,
  },
  "a request_uri that was opened in many pages": {
    async prepare(server) {
      const [cookie, path] = [await server.signIn(), await push(server)];
      const pages: string[] = [];
      for (let i = 0; i < CONCURRENT_USES; i++) pages.push(await openConsent(server, cookie, path));
      return (i) => decide(server, cookie, "/oauth/authorize", pages[i]!);
    },
    isSuccess: hasCode,
  },
  "a request_uri before and after another login": {
    async prepare(server) {
      const [cookie, path] = [await server.signIn(), await push(server, { prompt: "login" })];
      const again = await server.send(path, { headers: { cookie } });
      const kept = new URL(again.headers.get("location")!, ISSUER).searchParams.get("redirect")!;
      server.advance(1);
      const fresh = await server.signIn();
      // Opened again, the first request_uri gets a second internal one.
      const twice = await server.send(path, { headers: { cookie: fresh } });
      const other = new URL(twice.headers.get("location")!, ISSUER).searchParams.get("redirect")!;
      server.advance(1);
      const last = await server.signIn();
      const pages = [await openConsent(server, last, kept), await openConsent(server, last, other)];
      return (i) => decide(server, last, "/oauth/authorize", pages[i % 2]!);
    },
    isSuccess: hasCode,
  },
  "a device code": {
    async prepare(server) {
      const { device_code, user_code } = await startDevice(server);
      const cookie = await server.signIn();
      await decide(server, cookie, "/device", await openDeviceConsent(server, cookie, user_code!));
      const form = { grant_type: `${GRANT}device_code`, device_code, client_id: "tv" };
      return () => server.send("/oauth/token", { form });
    },
    isSuccess: hasTokens,
  },
  "a device's user code": {
    async prepare(server) {
      const { user_code } = await startDevice(server);
      const pages: [string, string][] = [];
      for (let i = 0; i < CONCURRENT_USES; i++) {
        const cookie = await server.signIn();
        pages.push([cookie, await openDeviceConsent(server, cookie, user_code!)]);
      }
      return (i) => decide(server, pages[i]![0], "/device", pages[i]![1], i % 2 ? "approve" : "deny");
    },
    isSuccess: (response) => Promise.resolve(response.status === 200),
  },
  "a DPoP proof": {
    async prepare(server) {
      const dpop = await createProof(key, TOKEN);
      return () => server.token({ grant_type: "client_credentials" }, { dpop });
    },
    isSuccess: hasTokens,
  },
  "a client assertion": {
    async prepare(server) {
      const client_assertion = await createAssertion(key, "signer", ISSUER);
      const client_assertion_type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
      const form = { grant_type: "client_credentials", client_assertion, client_assertion_type };
      return () => server.send("/oauth/token", { form });
    },
    isSuccess: hasTokens,
  },
  "an identity provider's assertion": {
    async prepare(server) {
      const claims = { iss: IDP, sub: "bob", aud: ISSUER, jti: "1", exp: Math.floor(Date.now() / 1000) + 60 };
      const assertion = await sign(key, { typ: "JWT", kid: "k-1" }, claims);
      const form = { grant_type: `${GRANT}jwt-bearer`, assertion, client_id: "agent", client_secret: "s" };
      return () => server.send("/oauth/token", { form });
    },
    isSuccess: hasTokens,
  },
};

for (const [name, { prepare, isSuccess }] of Object.entries(RACES)) {
  test(`${name}: exactly one of ${CONCURRENT_USES} concurrent uses succeeds, and no later use`, async () => {
    const server = await start();
    const use = await prepare(server);
    const responses = await Promise.all(Array.from({ length: CONCURRENT_USES }, (_, i) => use(i)));
    const results = await Promise.all(responses.map(isSuccess));
    assert.is(results.filter(Boolean).length, 1);
    for (const [i, response] of responses.entries()) {
      assert.ok(response.status < 500, `${i}: ${response.status}`);
    }
    assert.not.ok(await isSuccess(await use(0)));
  });
}

test.run();
