/**
 * The same requests get the same responses on every store engine, also when they are concurrent.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../scripts/test/run_files.ts";
import { memoryStore } from "../store/drivers/memory.ts";
import { postgresStore } from "../store/drivers/postgres.ts";
import { redisStore } from "../store/drivers/redis.ts";
import { sqliteStore } from "../store/drivers/sqlite.ts";
import type { Store } from "../store/store.ts";
import { findEngine } from "../store/test_engines.ts";
import { dropStore } from "../../scripts/cluster/cluster.ts";
import { toClient } from "./clients/client.ts";
import { createAssertion, createProof, newKey } from "./test_keys.ts";
import {
  APP_URI,
  CHALLENGE,
  CLIENTS,
  ISSUER,
  newServer,
  type TestServer,
  transactionOf,
  VERIFIER,
} from "./test_server.ts";

const test = suite("the authorization server on every engine");
const name = `trivet_test_oauth_${Math.random().toString(36).slice(2, 8)}`;
const GRANT = "urn:ietf:params:oauth:grant-type:";
const TOKEN = `${ISSUER}/oauth/token`;

/** The outcome of each step, without random values. */
async function walk(store: Store): Promise<string[]> {
  const steps: string[] = [];
  const key = await newKey();
  const clients = [
    ...CLIENTS.map((client) => toClient(client, 0)),
    toClient({ id: "tv", grant_types: [`${GRANT}device_code`, "refresh_token"] }, 0),
    toClient({ id: "gateway", secret: "g", grant_types: [`${GRANT}token-exchange`] }, 0),
    toClient({ id: "signer", jwks: { keys: [key.jwk] }, grant_types: ["client_credentials"] }, 0),
  ];
  const server = await newServer({ store, clients, connect: () => Promise.resolve(Response.json(DOCUMENT)) });
  const note = async (step: string, response: Response): Promise<Record<string, string>> => {
    const text = await response.text();
    const body = response.headers.get("content-type") === "application/json" && text !== ""
      ? JSON.parse(text)
      : {};
    const summary = [body.error, body.token_type, body.scope, body.active, ...Object.keys(body).sort()];
    steps.push(`${step}: ${response.status} ${summary.filter((each) => each !== undefined).join(" ")}`);
    return body;
  };
  const race = async (step: string, send: () => Promise<Response>): Promise<Record<string, string>> => {
    const bodies = await Promise.all(Array.from({ length: 6 }, async () => await (await send()).json()));
    const good = bodies.filter((body) => body.error === undefined);
    const issued = new Set(good.map((body) => body.refresh_token ?? body.access_token));
    steps.push(`${step}: ${issued.size} issued`);
    return good[0] ?? {};
  };
  const app = { client_id: "app", client_secret: "app secret:&%+" };

  const code = (await server.authorize({ scope: "read write", resource: `${ISSUER}/mcp` })).get("code")!;
  const redeem = { grant_type: "authorization_code", code, redirect_uri: APP_URI };
  const tokens = await note("code", await server.token(redeem));
  const refresh = (refresh_token: string) => server.token({ grant_type: "refresh_token", refresh_token });
  const next = await race("six concurrent refreshes", () => refresh(tokens.refresh_token!));
  await note(
    "introspection",
    await server.send("/oauth/introspect", { form: { token: next.access_token!, ...app } }),
  );
  const exchange = {
    grant_type: `${GRANT}token-exchange`,
    subject_token: next.access_token!,
    subject_token_type: `${GRANT.replace("grant-type", "token-type")}access_token`,
    client_id: "gateway",
    client_secret: "g",
  };
  const exchanged = await note("exchange", await server.send("/oauth/token", { form: exchange }));
  await note("code replayed", await server.token(redeem));
  await note(
    "exchanged token after the replay",
    await server.send("/oauth/introspect", { form: { token: exchanged.access_token!, ...app } }),
  );

  const second = (await server.authorize({ prompt: "consent" })).get("code")!;
  await race("six concurrent redemptions", () => server.token({ ...redeem, code: second }));
  const assertion = await createAssertion(key, "signer", ISSUER);
  const signed = {
    grant_type: "client_credentials",
    client_assertion: assertion,
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
  };
  await race("six concurrent uses of an assertion", () => server.send("/oauth/token", { form: signed }));
  const dpop = await createProof(key, TOKEN);
  await race(
    "six concurrent uses of a DPoP proof",
    () => server.token({ grant_type: "client_credentials" }, { dpop }),
  );

  await walkDevice(server, note, race);
  const pushed = await note(
    "push",
    await server.send("/oauth/par", { form: { ...app, response_type: "code", redirect_uri: APP_URI } }),
  );
  const cookie = await server.signIn();
  const page = await server.send(
    `/oauth/authorize?client_id=app&request_uri=${encodeURIComponent(pushed.request_uri!)}`,
    { headers: { cookie } },
  );
  steps.push(`pushed request: ${page.status}`);
  const headers = { "content-type": "application/json" };
  const metadata = JSON.stringify({ redirect_uris: [APP_URI], token_endpoint_auth_method: "none" });
  const registered = await note(
    "registration",
    await server.send("/oauth/register", { method: "POST", form: metadata, headers }),
  );
  const pkce = { code_challenge: CHALLENGE, code_challenge_method: "S256" };
  const own = (await server.authorize({ client_id: registered.client_id, ...pkce })).get("code")!;
  const publicly = { client_secret: undefined, code_verifier: VERIFIER };
  await note(
    "code of the registered client",
    await server.token({ ...redeem, code: own, client_id: registered.client_id, ...publicly }),
  );
  const documentCode = (await server.authorize({ client_id: DOCUMENT.client_id, ...pkce })).get("code")!;
  await note(
    "code of a client with a metadata document",
    await server.token({ ...redeem, code: documentCode, client_id: DOCUMENT.client_id, ...publicly }),
  );
  const end = await server.send(new URL(registered.registration_client_uri!).pathname, {
    method: "DELETE",
    headers: { authorization: `Bearer ${registered.registration_access_token}` },
  });
  steps.push(`registration deleted: ${end.status}`);
  const guesses = await Promise.all(
    Array.from({ length: 30 }, () => server.send("/login", { form: { username: "bob", password: "x" } })),
  );
  const tried = guesses.filter(({ status }) => status === 401).length;
  steps.push(
    `thirty concurrent guesses: ${tried >= 1 && tried <= 11 ? "few compared" : `${tried} compared`}`,
  );
  await note("keys", await server.send("/.well-known/jwks.json"));
  return steps;
}

const DOCUMENT = {
  client_id: "https://client.example/app.json",
  client_name: "By document",
  redirect_uris: [APP_URI],
  token_endpoint_auth_method: "none",
};

async function walkDevice(
  server: TestServer,
  note: (step: string, response: Response) => Promise<Record<string, string>>,
  race: (step: string, send: () => Promise<Response>) => Promise<unknown>,
): Promise<void> {
  const device = await note(
    "device",
    await server.send("/oauth/device_authorization", { form: { client_id: "tv", scope: "read" } }),
  );
  const poll = () =>
    server.send("/oauth/token", {
      form: { grant_type: `${GRANT}device_code`, device_code: device.device_code!, client_id: "tv" },
    });
  await note("poll before the decision", await poll());
  await note("poll too soon", await poll());
  const cookie = await server.signIn();
  const page =
    await (await server.send("/device", { form: { user_code: device.user_code! }, headers: { cookie } }))
      .text();
  const form = { transaction: transactionOf(page), decision: "approve" };
  await Promise.all(Array.from({ length: 4 }, () => server.send("/device", { form, headers: { cookie } })));
  await race("six concurrent polls", poll);
}

const reference = await walk(memoryStore());

test("the reference run on the memory store has all steps and no 500", () => {
  assert.ok(reference.length >= 20, `${reference.length} steps`);
  for (const step of reference) assert.not.match(step, /undefined|: 500/);
  assert.ok(reference.includes("six concurrent refreshes: 1 issued"), reference.join("\n"));
  assert.ok(reference.includes("six concurrent redemptions: 1 issued"));
});

test("SQLite gives the same responses as the memory store", async () => {
  const store = sqliteStore(":memory:");
  assert.equal(await walk(store), reference);
  await store.close();
});

for (
  const [engine, query, open] of [["postgres", `?schema=${name}&max=8`, postgresStore], [
    "redis",
    `?name=${name}`,
    redisStore,
  ]] as const
) {
  const address = await findEngine(engine);
  if (address === undefined) {
    skipBecause(test, `no ${engine} listens: the flows are not tested on it`);
    continue;
  }
  test(`${engine} gives the same responses as the memory store`, async () => {
    const store = open(address + query);
    try {
      assert.equal(await walk(store), reference);
    } finally {
      await store.close();
      await dropStore(address + query);
    }
  });
}

test.run();
