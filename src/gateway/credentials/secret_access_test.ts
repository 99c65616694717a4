import { suite } from "uvu";
import * as assert from "uvu/assert";
import { soleSecret } from "../../crypto/server_secrets.ts";
import { connectionKey, type UpstreamConnection } from "../../oauth/connection_records.ts";
import { resealRecords } from "../../oauth/reseal.ts";
import { ISSUER } from "../../oauth/test_server.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { beforeNextCommit } from "../../store/test_meanwhile.ts";
import { ConnectionRequired } from "./access.ts";
import { createCredentials } from "./credentials.ts";
import { saveSecret } from "./secret_access.ts";
import { createSealedRecords } from "./sealed_records.ts";
import {
  callerOf,
  connectUrl,
  failuresOf,
  hiddenOf,
  newGateway,
  newUpstream,
  SECRETS,
  signedIn,
  UPSTREAM_URL,
} from "./test_credentials.ts";

const test = suite("gateway/credentials/secret_access");
const CONNECT = `${ISSUER}/account/connections/connect`;

async function newSecrets(auth: object = {}) {
  const upstream = await newUpstream();
  const gateway = await newGateway({ upstream });
  const settings = { url: UPSTREAM_URL, headers: { "X-Team": "blue" }, auth: { type: "secret", ...auth } };
  const access = gateway.credentials.add("up", settings);
  return { upstream, gateway, access, alice: callerOf(gateway.alice), mallory: callerOf(gateway.mallory) };
}

async function isRequired(promise: Promise<unknown>): Promise<boolean> {
  try {
    await promise;
    return false;
  } catch (error) {
    if (error instanceof ConnectionRequired) return true;
    throw error;
  }
}

test("without auth all callers share the fixed header fields", async () => {
  const credentials = createCredentials({
    store: memoryStore(),
    secret: () => SECRETS,
    now: Date.now,
    observe: () => {},
    issuer: ISSUER,
    oauth: undefined,
  });
  const access = credentials.add("open", { url: UPSTREAM_URL, headers: { "X-Key": "k" } });
  for (const caller of [undefined, callerOf("a"), callerOf("b")]) {
    assert.equal(await access.headers(caller), { "X-Key": "k" });
    assert.is(access.partition(caller), "");
  }
  assert.equal(await credentials.add("process", {}).headers(undefined), {});
  const apart = credentials.add("apart", { shared: false });
  const partitions = [undefined, callerOf("a"), callerOf("b"), callerOf("b")].map(apart.partition);
  assert.is(new Set(partitions).size, 3);
  assert.not(partitions.includes(""));
  assert.is(await access.refused(undefined, { status: 401, challenge: null, url: "", used: {} }), false);
  for (
    const [settings, place] of [
      [{ auth: { type: "oauth" } }, "mcpServers.x.auth"],
      [{ url: UPSTREAM_URL, auth: { type: "oauth" } }, "mcpServers.x.auth"],
    ] as const
  ) {
    assert.throws(() => credentials.add("x", settings), (error: Error) => error.message.startsWith(place));
  }
  assert.throws(() => credentials.accessFor("unknown"), /unknown/);
});

test("each user enters a secret, which only this user's calls carry", async () => {
  const { upstream, gateway, access, alice, mallory } = await newSecrets({
    header: "X-Api-Key",
    template: "key {secret}!",
    label: "API key of the team",
  });
  const browser = await signedIn(gateway, upstream, "alice");
  const page = await (await browser.get(await connectUrl(gateway, gateway.alice))).text();
  assert.match(page, "API key of the team");
  const link = new URL(await connectUrl(gateway, gateway.alice)).searchParams.get("link")!;
  assert.is((await browser.post(CONNECT, { link, secret: "  s$&cret  " })).status, 303);
  assert.equal(await access.headers(alice), { "X-Team": "blue", "X-Api-Key": "key s$&cret!" });
  assert.ok(await isRequired(access.headers(mallory)));
  const stored = JSON.stringify([await gateway.store.list(["upstream_connection"]), gateway.events]);
  assert.not.ok(stored.includes("s$&cret"));
  const list = await (await browser.get(`${ISSUER}/account/connections`)).text();
  assert.not.ok(list.includes("s$&amp;cret"));
});

test("an upstream that an instance forgets has no access there, and its users' connections stay", async () => {
  const { upstream, gateway, alice } = await newSecrets();
  const browser = await signedIn(gateway, upstream, "alice");
  assert.is((await browser.post(CONNECT, { upstream: "up", secret: "kept" })).status, 303);
  gateway.credentials.forget("up");
  assert.throws(() => gateway.credentials.accessFor("up"), RangeError);
  const page = await (await browser.get(`${ISSUER}/account/connections`)).text();
  assert.not.match(page, "upstream.example");
  const access = gateway.credentials.add("up", { url: UPSTREAM_URL, auth: { type: "secret" } });
  assert.equal(await access.headers(alice), { Authorization: "Bearer kept" });
});

test("a secret that is no header value is refused", async () => {
  const { upstream, gateway, access, alice } = await newSecrets();
  const browser = await signedIn(gateway, upstream, "alice");
  for (const secret of ["", "  ", "a\r\nx-evil: 1", "é", "a".repeat(4097)]) {
    const response = await browser.post(CONNECT, { upstream: "up", secret });
    assert.is(response.status, 400);
    assert.not.match(await response.text(), "x-evil");
  }
  assert.ok(await isRequired(access.headers(alice)));
  assert.ok(failuresOf(gateway).every((reason) => reason === "secret_invalid"));
});

test("a secret that is refused is asked for again; one that was replaced is sent", async () => {
  const { upstream, gateway, access, alice } = await newSecrets();
  const browser = await signedIn(gateway, upstream, "alice");
  await browser.post(CONNECT, { upstream: "up", secret: "first" });
  const used = await access.headers(alice);
  assert.is(used["Authorization"], "Bearer first");
  const refusal = { status: 401, challenge: "Bearer", url: UPSTREAM_URL, used };
  assert.ok(await isRequired(access.refused(alice, refusal)));
  assert.is(await access.refused(alice, { ...refusal, status: 403 }), false);
  await browser.post(CONNECT, { upstream: "up", secret: "second" });
  assert.is(await access.refused(alice, refusal), true);
  assert.is((await access.headers(alice))["Authorization"], "Bearer second");
});

test("a secret is not sent to another address than the page named, if the upstream changed meanwhile", async () => {
  const { upstream, gateway, access, alice } = await newSecrets();
  const { credentials, store } = gateway;
  const browser = await signedIn(gateway, upstream, "alice");
  const pages = [`${CONNECT}?upstream=up`, await connectUrl(gateway, gateway.alice)];
  for (const page of pages) {
    const fill = async () => ({
      ...hiddenOf(await (await browser.get(page)).text()),
      secret: "for one host",
    });
    credentials.add("up", { url: UPSTREAM_URL, auth: { type: "secret" } });
    const form = await fill();
    const moved = credentials.add("up", { url: "https://other.example/mcp", auth: { type: "secret" } });
    assert.is((await browser.post(CONNECT, form)).status, 409);
    assert.is(failuresOf(gateway).at(-1), "upstream_changed");
    assert.ok(await isRequired(moved.headers(alice)));
    assert.equal(await store.list(["upstream_connection"]), []);
    assert.is((await browser.post(CONNECT, await fill())).status, 303);
    assert.equal(await moved.headers(alice), { Authorization: "Bearer for one host" });
    assert.ok(await isRequired(access.headers(alice)));
    await credentials.endConnections("up");
  }
});

test("a secret that is saved while its upstream is removed does not stay", async () => {
  const { upstream, gateway } = await newSecrets();
  const { credentials, store } = gateway;
  const browser = await signedIn(gateway, upstream, "alice");
  const meanwhile = beforeNextCommit(store, async () => {
    credentials.forget("up");
    await credentials.endConnections("up");
  });
  assert.is((await browser.post(CONNECT, { upstream: "up", secret: "kept" })).status, 409);
  assert.ok(meanwhile.isDone);
  assert.equal(await store.list(["upstream_connection"]), []);
});

test("100 users and 20 upstreams: each call has the secret of its user for its upstream", async () => {
  const upstream = await newUpstream();
  const gateway = await newGateway({ upstream });
  const { store, credentials } = gateway;
  const names = Array.from({ length: 20 }, (_, i) => `up${i}`);
  // Names that would collide if parts of keys were joined.
  names.push("a", "a b", "user");
  const accesses = names.map((name) =>
    credentials.add(name, { url: UPSTREAM_URL, auth: { type: "secret", template: "{secret}" } })
  );
  const users = Array.from({ length: 100 }, (_, i) => `u${i}`);
  users.push("a", "b", "b a", "user");
  for (const id of users) {
    await store.commit({ set: [{ key: ["profile", id], value: { id, name: id, email: "" } }] });
  }
  const context = { store, now: Date.now, records: createSealedRecords(() => SECRETS) } as Parameters<
    typeof saveSecret
  >[0];
  for (const name of names) {
    const target = {
      name,
      url: UPSTREAM_URL,
      headers: {},
      isPrivate: false,
      auth: { type: "secret" },
    } as const;
    for (const user of users) await saveSecret(context, target, user, `${user}/${name}`);
  }
  // Twice: the second time from the cache.
  for (let round = 0; round < 2; round++) {
    for (const [i, name] of names.entries()) {
      const found = await Promise.all(users.map((user) => accesses[i]!.headers(callerOf(user))));
      assert.equal(found.map((each) => each["Authorization"]), users.map((user) => `${user}/${name}`));
    }
  }
  const partitions = new Set(users.map((user) => accesses[0]!.partition(callerOf(user))));
  assert.is(partitions.size, users.length);
});

test("a record that was copied to another user or upstream is not opened", async () => {
  const { upstream, gateway, access, alice, mallory } = await newSecrets();
  const { store, credentials } = gateway;
  const other = credentials.add("other", { url: UPSTREAM_URL, auth: { type: "secret" } });
  const browser = await signedIn(gateway, upstream, "alice");
  await browser.post(CONNECT, { upstream: "up", secret: "of alice" });
  await access.headers(alice);
  const { value } = (await store.get<UpstreamConnection>(connectionKey(gateway.alice, "up")))!;
  await store.commit({
    set: [
      { key: connectionKey(gateway.mallory, "up"), value },
      { key: connectionKey(gateway.alice, "other"), value },
    ],
  });
  assert.ok(await isRequired(access.headers(mallory)));
  assert.ok(await isRequired(other.headers(alice)));
  assert.is((await access.headers(alice))["Authorization"], "Bearer of alice");
});

test("after a rotation of the secret of the server connections are sealed anew and stay", async () => {
  const { upstream, gateway } = await newSecrets();
  const browser = await signedIn(gateway, upstream, "alice");
  await browser.post(CONNECT, { upstream: "up", secret: "kept" });
  const after = soleSecret(new Uint8Array(32).fill(10));
  const secret = () => ({ ...after, accepted: [after.current, SECRETS.current] });
  assert.is(await resealRecords(gateway.store, secret), 1);
  const credentials = createCredentials({
    store: gateway.store,
    secret: () => after,
    now: Date.now,
    observe: () => {},
    issuer: ISSUER,
    oauth: gateway.server.service,
  });
  const access = credentials.add("up", { url: UPSTREAM_URL, auth: { type: "secret" } });
  assert.is((await access.headers(callerOf(gateway.alice)))["Authorization"], "Bearer kept");
});

test.run();
