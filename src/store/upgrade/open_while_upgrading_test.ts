import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../drivers/memory.ts";
import { CURRENT_FORMAT, FORMAT_KEY, StoreFormatError } from "../format.ts";
import { type Store, StoreUnavailableError } from "../store.ts";
import { openWhileUpgrading } from "./open_while_upgrading.ts";
import { beginUpgrade, type KindProgress, upgradeStore } from "./run_upgrade.ts";
import { fillOlder } from "./test_older_store.ts";
import { UPGRADE_STEPS } from "./upgrade_steps.ts";

const test = suite("store/upgrade: serving");

/** A store that is marked, and that no instance upgrades. */
async function begun(): Promise<Store> {
  const store = memoryStore();
  await fillOlder(store, 200);
  await beginUpgrade(store, UPGRADE_STEPS);
  return store;
}

test("a current store is returned as it is: nothing is added to its calls", async () => {
  const store = memoryStore();
  await store.commit({ set: [{ key: FORMAT_KEY, value: CURRENT_FORMAT }] });
  assert.is(await openWhileUpgrading(store), store);
});

test("records that are read during the upgrade have the current form, and stay so", async () => {
  const store = await begun();
  const opened = await openWhileUpgrading(store, { upgrade: false });
  const client = await opened.get<{ token_endpoint_auth_method: string }>(["client", "early"]);
  assert.is(client!.value.token_endpoint_auth_method, "client_secret_basic");
  assert.is((await store.get(["client", "early"]))!.version, client!.version);
  assert.is(await opened.get(["session", "early"]), undefined);
  const grants = await opened.list<{ listed?: number }>(["grant"], { limit: 50 });
  assert.is(grants.length, 50);
  assert.ok(grants.every(({ value }) => value.listed !== undefined));
  for (const { key, value } of grants) {
    assert.ok(await store.get(["user_grant", (value as unknown as { user: string }).user, key[1]!]));
  }
  assert.is((await store.get<{ listed?: number }>(["grant", "g000150"]))!.value.listed, undefined);
});

test("a read of records that a step still adds waits for it, and is a 503 when that takes long", async () => {
  const store = await begun();
  const opened = await openWhileUpgrading(store, { upgrade: false });
  const waiting = opened.list(["user_grant"], { limit: 1000 });
  await new Promise((resolve) => setTimeout(resolve, 100));
  await upgradeStore(store);
  assert.is((await waiting).length, 200);
  const stuck = await openWhileUpgrading(await begun(), { upgrade: false });
  assert.instance(await stuck.list(["user_grant", "user7"]).catch((error) => error), StoreUnavailableError);
});

test("the upgrade runs beside the services, stops at close() and goes on at the next start", async () => {
  const store = memoryStore();
  await fillOlder(store, 3000);
  const keepsOpen: Store = { ...withMethods(store), close: async () => {} };
  const first = await openWhileUpgrading(keepsOpen);
  assert.is.not(first, keepsOpen);
  await first.close();
  const position = await store.list<{ read: number }>(["upgrade"]);
  assert.is(position.length <= 1, true);
  const ended = await new Promise<readonly KindProgress[] | { error: unknown }>((onEnd) =>
    void openWhileUpgrading(keepsOpen, { onEnd })
  );
  assert.ok(Array.isArray(ended));
  assert.equal((await store.get(FORMAT_KEY))!.value, CURRENT_FORMAT);
  assert.is((await store.list(["user_grant"], { limit: 1e5 })).length, 3000);
});

test("a store that is unavailable at the start is upgraded when it is back", async () => {
  const store = memoryStore();
  await fillOlder(store, 10);
  let isDown = true;
  const flaky: Store = {
    ...withMethods(store),
    get: (key) => isDown ? Promise.reject(new StoreUnavailableError("down")) : store.get(key),
  };
  let end: (value: unknown) => void;
  const ended = new Promise((resolve) => end = resolve);
  const opened = await openWhileUpgrading(flaky, { onEnd: (result) => end(result) });
  assert.instance(await opened.get(["client", "early"]).catch((error) => error), StoreUnavailableError);
  isDown = false;
  assert.is((await opened.get<{ source: string }>(["client", "early"]))!.value.source, "operator");
  assert.ok(Array.isArray(await ended));
});

test("a newer store, and one that cannot be upgraded, are refused before they are served", async () => {
  const newer = memoryStore();
  await newer.commit({ set: [{ key: FORMAT_KEY, value: { version: 3 } }] });
  const early = memoryStore();
  await early.commit({ set: [{ key: ["skill_file", "w", "s", "v", "a"], value: new Uint8Array(1) }] });
  for (const store of [newer, early]) {
    assert.instance(await openWhileUpgrading(store).catch((error) => error), StoreFormatError);
  }
});

function withMethods(store: Store): Store {
  return {
    guarantees: store.guarantees,
    get: (key) => store.get(key),
    list: (prefix, options) => store.list(prefix, options),
    commit: (commit) => store.commit(commit),
    watch: (prefix) => store.watch(prefix),
    sweep: () => store.sweep(),
    close: () => store.close(),
  };
}

test.run();
