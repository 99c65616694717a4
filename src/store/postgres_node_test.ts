import { skipBecause } from "../../scripts/test/run_files.ts";
import postgres from "postgres";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { storeContract } from "./contract.ts";
import { postgresStore } from "./postgres.ts";
import type { Store } from "./store.ts";
import { closingWith, findEngine } from "./test_engines.ts";

const address = await findEngine("postgres");
const test = suite("postgres");

let schemas = 0;
const run = Math.random().toString(36).slice(2, 8);
const newSchema = () => `trivet_test_${run}_${++schemas}`;
const inSchema = (schema: string) => `${address}?schema=${schema}&max=4`;

const admin = address === undefined ? undefined : postgres(address, { onnotice: () => {}, max: 2 });

function open(now?: () => number, schema: string = newSchema()): Store {
  const store = postgresStore(inSchema(schema), now ? { now } : {});
  return closingWith(store, () => admin!.unsafe(`DROP SCHEMA IF EXISTS ${schema} CASCADE`));
}

if (address === undefined) {
  skipBecause(test, "no PostgreSQL listens: the whole store contract and this file's tests are skipped");
} else {
  storeContract("postgres", { open: async (now) => open(now), rounds: 200 });

  test("ten instances that start at once on an empty database all work", async () => {
    const schema = newSchema();
    const stores = Array.from({ length: 10 }, () => open(undefined, schema));
    const done = await Promise.all(
      stores.map((store, i) => store.commit({ set: [{ key: ["k", i], value: i }] })),
    );
    assert.equal(done, Array(10).fill(true));
    assert.is((await stores[0]!.list(["k"])).length, 10);
    await Promise.all(stores.map((store) => store.close()));
  });

  test("a commit of another instance is told to a watcher, key by key", async () => {
    const schema = newSchema();
    const [a, b] = [open(undefined, schema), open(undefined, schema)];
    const reader = a.watch(["w"]).getReader();
    await a.get(["w"]);
    await b.commit({
      set: [{ key: ["w", "ü\u0000", 1], value: 1 }, { key: ["x"], value: 1 }],
      remove: [["w", "y"]],
    });
    assert.equal((await reader.read()).value, [["w", "y"], ["w", "ü\u0000", 1]]);
    const set = Array.from({ length: 1000 }, (_, i) => ({ key: ["w", `long key number ${i}`], value: i }));
    await b.commit({ set });
    assert.equal((await reader.read()).value, [["w"]], "too much for one notification: read again");
    await b.close();
    await a.close();
  });

  test("a watcher whose connection was cut listens again, and is told to read again", async () => {
    const schema = newSchema();
    const [a, b] = [open(undefined, schema), open(undefined, schema)];
    const reader = a.watch(["w"]).getReader();
    await a.get(["w"]);
    await admin!`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ILIKE ${`listen "${schema}"`}`;
    assert.equal((await reader.read()).value, [["w"]]);
    await b.commit({ set: [{ key: ["w", 2], value: 1 }] });
    assert.equal((await reader.read()).value, [["w", 2]]);
    await b.close();
    await a.close();
  });

  test("behind a pool in transaction mode nothing is prepared, and a watcher polls", async () => {
    const schema = newSchema();
    const pooled = postgresStore(`${inSchema(schema)}&pgbouncer=true`);
    const other = open(undefined, schema);
    const reader = pooled.watch(["w"]).getReader();
    await pooled.commit({ set: [{ key: ["a"], value: 1 }] });
    assert.is((await pooled.get(["a"]))?.value, 1);
    await reader.read();
    await other.commit({ remove: [["w", 1]] });
    assert.equal((await reader.read()).value, [["w"]]);
    const [row] =
      await admin!`SELECT count(*)::int AS n FROM pg_stat_activity WHERE query ILIKE ${`listen "${schema}"`}`;
    assert.is(row!.n, 0);
    await pooled.close();
    await other.close();
  });

  test("of two sweeps at one time one does it all, and none does it twice", async () => {
    const schema = newSchema();
    const stores = [open(undefined, schema), open(undefined, schema), open(undefined, schema)];
    const set = Array.from({ length: 3000 }, (_, i) => ({ key: ["s", i], value: i, expires: 1 }));
    await stores[0]!.commit({ set });
    const removed = await Promise.all(stores.map((store) => store.sweep()));
    assert.is(removed.reduce((sum, n) => sum + n, 0), 3000);
    await Promise.all(stores.map((store) => store.close()));
  });

  test("a database of a newer version is refused, by name", async () => {
    const schema = newSchema();
    const first = open(undefined, schema);
    await first.get(["k"]);
    await admin!.unsafe(`INSERT INTO ${schema}.migration (version) VALUES (99)`);
    const second = postgresStore(inSchema(schema));
    const error = await second.get(["k"]).catch((error: Error) => error) as Error;
    assert.match(error.message, `The schema "${schema}" was made by a newer Trivet`);
    await second.close();
    await first.close();
  });

  test("an instance may hold what keys it likes: quotes, backslashes, braces, commas", async () => {
    const store = open();
    const keys = ['a"b', "a\\b", "{a,b}", "NULL", "null", "", "'", "\\x41", "a\nb"].map((
      text,
    ) => ["odd", text]);
    await store.commit({ set: keys.map((key) => ({ key, value: key })) });
    for (const key of keys) assert.equal((await store.get(key))?.value, key);
    await store.close();
  });
}

test("an address that is none is refused at once", () => {
  assert.throws(() => postgresStore("mysql://x"), /must begin with postgres/);
  assert.throws(() => postgresStore("postgres://x/y?schema=A;DROP"), /schema must be/);
  assert.throws(() => postgresStore("postgres://x/y?timeout=never"), /timeout/);
});

test.after(async () => {
  await admin?.end();
});

test.run();
