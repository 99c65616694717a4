import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { dropStore } from "../../../scripts/cluster/cluster.ts";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { memoryStore } from "../drivers/memory.ts";
import { postgresStore } from "../drivers/postgres.ts";
import { redisStore } from "../drivers/redis.ts";
import { sqliteStore } from "../drivers/sqlite.ts";
import { CURRENT_FORMAT, FORMAT_KEY } from "../format.ts";
import type { Key, Store } from "../store.ts";
import { findEngine } from "../test_engines.ts";
import { openWhileUpgrading } from "./open_while_upgrading.ts";
import { upgradeStore } from "./run_upgrade.ts";
import { fillOlder } from "./test_older_store.ts";

const test = suite("store/upgrade: engines");
const run = Math.random().toString(36).slice(2, 8);
const GRANTS = 1500;
const REQUESTS_PER_BATCH = 3;

interface Grant {
  readonly user: string;
  readonly used: number;
  readonly listed?: number;
  readonly until: number;
}

/** Two servers read and write while a third instance upgrades too. @param open the same store again */
async function upgradeUnderLoad(open: () => Store): Promise<void> {
  const filling = open();
  const keys = await fillOlder(filling, GRANTS);
  await filling.close();
  let [ended, requests, batches] = [0, 0, 0];
  // However fast the engine is, each batch of the upgrade waits for some requests.
  const openPaced = (): Store => {
    const store = open();
    return {
      guarantees: store.guarantees,
      get: async (key, options) => {
        if (key[0] !== "upgrade") return await store.get(key, options);
        for (const wanted = REQUESTS_PER_BATCH * ++batches; requests < wanted && ended < 2;) {
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        return await store.get(key, options);
      },
      list: (prefix, options) => store.list(prefix, options),
      commit: (commit) => store.commit(commit),
      watch: (prefix) => store.watch(prefix),
      sweep: () => store.sweep(),
      close: () => store.close(),
    };
  };
  const servers = await Promise.all(
    [1, 2].map(() =>
      openWhileUpgrading(openPaced(), { onEnd: (result) => void (ended += Array.isArray(result) ? 1 : 0) })
    ),
  );
  const only = openPaced();
  const upgrading = upgradeStore(only);
  const removed = new Set<string>();
  const used = new Map<string, number>();
  const serve = async (server: Store): Promise<void> => {
    do {
      const key: Key = keys[Math.floor(Math.random() * keys.length)]!;
      const id = String(key[1]);
      const entry = await server.get<Grant>(key);
      requests++;
      if (!entry) {
        assert.ok(removed.has(id), `${id} is there until it is removed`);
        continue;
      }
      assert.ok(entry.value.listed, "a read grant has the current form");
      const { version, value, expires } = entry;
      const check = [{ key, version }];
      if (Math.random() < 0.1) {
        removed.add(id);
        const done = await server.commit({ check, remove: [key, ["user_grant", value.user, id]] });
        if (!done && await server.get(key)) removed.delete(id);
      } else if (
        await server.commit({ check, set: [{ key, value: { ...value, used: value.used + 1 }, expires }] })
      ) {
        used.set(id, (used.get(id) ?? 0) + 1);
      }
    } while (ended < 2);
  };
  await Promise.all(servers.flatMap((server) => [serve(server), serve(server)]));
  await upgrading;
  assert.ok(requests > 100, `${requests} requests during the upgrade`);
  assert.equal((await only.get(FORMAT_KEY))!.value, CURRENT_FORMAT);
  for (const key of keys) {
    const id = String(key[1]);
    const grant = (await only.get<Grant>(key))?.value;
    assert.is(grant === undefined, removed.has(id), id);
    if (!grant) continue;
    assert.is(grant.used, used.get(id) ?? 0, `${id}: no write is lost, and none done twice`);
    assert.ok(await only.get(["user_grant", grant.user, id]), id);
  }
  assert.equal(await only.list(["upgrade"]), []);
  for (const store of [...servers, only]) await store.close();
}

test("memory: servers read and write while the store is upgraded", async () => {
  const store = memoryStore();
  const shared: Store = {
    guarantees: store.guarantees,
    get: (key) => store.get(key),
    list: (prefix, options) => store.list(prefix, options),
    // Lets the other callers run, as the engines do.
    commit: (commit) => new Promise((resolve) => setTimeout(() => resolve(store.commit(commit)))),
    watch: (prefix) => store.watch(prefix),
    sweep: () => store.sweep(),
    close: async () => {},
  };
  await upgradeUnderLoad(() => shared);
});

test("SQLite: the same, and the file is marked at the next start", async () => {
  const folder = mkdtempSync(join(tmpdir(), "trivet-upgrade-"));
  const open = () => sqliteStore(join(folder, "trivet.db"), { allowOlder: true });
  await upgradeUnderLoad(open);
  await sqliteStore(join(folder, "trivet.db")).close();
  rmSync(folder, { recursive: true });
});

for (const engine of ["postgres", "redis"] as const) {
  const address = await findEngine(engine);
  if (address === undefined) {
    skipBecause(test, `no ${engine} listens: the upgrade is not tested there`);
    continue;
  }
  test(`${engine}: the same`, async () => {
    const name = `trivet_test_upgrade_${run}`;
    const store = engine === "postgres" ? `${address}?schema=${name}&max=3` : `${address}?name=${name}`;
    const open = () =>
      engine === "postgres"
        ? postgresStore(store, { allowOlder: true })
        : redisStore(store, { allowOlder: true });
    try {
      await upgradeUnderLoad(open);
    } finally {
      await dropStore(store);
    }
  });
}

test.run();
