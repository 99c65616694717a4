import { join } from "node:path";
import { suite } from "uvu";
import { dropStore } from "../../../scripts/cluster/cluster.ts";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { postgresStore } from "../../store/drivers/postgres.ts";
import { redisStore } from "../../store/drivers/redis.ts";
import { sqliteStore } from "../../store/drivers/sqlite.ts";
import type { Store } from "../../store/store.ts";
import { findEngine } from "../../store/test_engines.ts";
import { type Instances, raceRemovals, raceVersions, startInstances } from "./test_skills_races.ts";
import { temporaryFolder } from "../test_process.ts";

const test = suite("concurrent requests to two instances");
const VERSIONS = 50;
const SKILLS = 24;

function testRaces(name: string, begin: () => { open: () => Store; end: () => unknown }): void {
  const run = async (race: (instances: Instances) => Promise<void>): Promise<void> => {
    const { open, end } = begin();
    try {
      const instances = await startInstances(open);
      try {
        await race(instances);
      } finally {
        await instances.close();
      }
    } finally {
      await end();
    }
  };
  test(`${name}: ${VERSIONS} concurrent versions of one skill are stored with consecutive numbers`, () =>
    run((instances) => raceVersions(instances, VERSIONS)));
  test(`${name}: a download of a skill that is removed is complete, 404 or cut, and no content remains`, () =>
    run((instances) => raceRemovals(instances, SKILLS)));
}

testRaces("memory", () => {
  const store = memoryStore();
  // Both instances share this store, so neither may close it.
  return { open: () => withoutClose(store), end: () => store.close() };
});

testRaces("SQLite", () => {
  const folder = temporaryFolder();
  return { open: () => sqliteStore(join(folder.path, "races.db")), end: () => folder.remove() };
});

function withoutClose(store: Store): Store {
  return {
    guarantees: store.guarantees,
    get: (key) => store.get(key),
    list: (prefix, options) => store.list(prefix, options),
    commit: (commit) => store.commit(commit),
    watch: (prefix) => store.watch(prefix),
    sweep: () => store.sweep(),
    close: () => Promise.resolve(),
  };
}

const engines = [
  ["postgres", (suffix: string) => `?schema=races_${suffix}`, (address: string) => postgresStore(address)],
  ["redis", (suffix: string) => `?name=races_${suffix}`, (address: string) => redisStore(address)],
] as const;
for (const [name, query, open] of engines) {
  const engine = await findEngine(name);
  if (engine === undefined) {
    skipBecause(test, `no ${name} listens: concurrent requests on it are not tested`);
    continue;
  }
  testRaces(name, () => {
    const address = engine + query(crypto.randomUUID().slice(0, 8));
    return { open: () => open(address), end: () => dropStore(address) };
  });
}

test.run();
