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
import { type Instances, raceLives, raceVersions, startInstances } from "./test_skills_races.ts";
import { temporaryFolder } from "../test_process.ts";

const test = suite("skills: races through two instances");
const VERSIONS = 50;
const LIVES = 24;

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
  test(`${name}: ${VERSIONS} versions of one skill at once: each is there, under a number of its own`, () =>
    run((instances) => raceVersions(instances, VERSIONS)));
  test(`${name}: skills come and go while they are downloaded: whole, gone or cut off, and nothing is left`, () =>
    run((instances) => raceLives(instances, LIVES)));
}

testRaces("memory", () => {
  const store = memoryStore();
  // One for both, which must not close it for each other.
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
  ["postgres", (word: string) => `?schema=races_${word}`, (address: string) => postgresStore(address)],
  ["redis", (word: string) => `?name=races_${word}`, (address: string) => redisStore(address)],
] as const;
for (const [name, query, open] of engines) {
  const engine = await findEngine(name);
  if (engine === undefined) {
    skipBecause(test, `no ${name} listens: races over it are not tested`);
    continue;
  }
  testRaces(name, () => {
    const address = engine + query(crypto.randomUUID().slice(0, 8));
    return { open: () => open(address), end: () => dropStore(address) };
  });
}

test.run();
