import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../../scripts/test/run_files.ts";
import { encodeKey } from "../../key.ts";
import type { Key } from "../../store.ts";
import { findEngine } from "../../test_engines.ts";
import { postgresStore } from "../postgres.ts";
import { createTestStores, pause } from "./test_stores.ts";

const address = await findEngine("postgres");
const test = suite("postgres watching");

if (address === undefined) {
  skipBecause(test, "no PostgreSQL listens: the tests of watching are skipped");
} else {
  const stores = createTestStores(address);
  const { admin, newSchema, inSchema, open, throughProxy } = stores;
  test.after(() => stores.end());

  for (const isReady of [true, false]) {
    test(`a watch that begins during an outage is notified after it, ${isReady ? "after" : "before"} the first use of the store`, async () => {
      await throughProxy(async (through, direct, proxy) => {
        if (isReady) await through.get(["nothing"]);
        proxy.refuse();
        const changes = through.watch(["k"]).getReader();
        await through.get(["nothing"]).catch(() => {});
        await pause(1500);
        proxy.pass();
        assert.equal((await changes.read()).value, [["k"]], "the prefix, since keys may have changed");
        let keys: readonly Key[] | undefined = [["k"]];
        const late = setInterval(() => direct.commit({ set: [{ key: ["k", 1], value: 1 }] }), 100);
        while (keys?.[0]?.length === 1) keys = (await changes.read()).value;
        clearInterval(late);
        assert.equal(keys, [["k", 1]]);
        await changes.cancel();
      });
    });
  }

  test("a watcher is notified of the keys of a commit of another instance", async () => {
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
    assert.equal((await reader.read()).value, [["w"]], "too many keys for one notification: only the prefix");
    await b.close();
    await a.close();
  });

  test("an instance registers the prefixes that it still watches, so that commits notify of no others", async () => {
    const schema = newSchema();
    const store = open(undefined, schema);
    const registered = async () => (await admin`SELECT prefixes FROM ${admin(schema)}.watching`)[0]!.prefixes;
    const first = store.watch(["a"]);
    await store.get(["a"]);
    assert.equal(await registered(), [encodeKey(["a"])]);
    await first.cancel();
    const second = store.watch(["b"]).getReader();
    await store.get(["b"]);
    assert.equal(await registered(), [encodeKey(["b"])]);
    const again = store.watch(["a"]).getReader();
    await store.get(["a"]);
    await store.commit({ set: [{ key: ["a"], value: 1 }, { key: ["b"], value: 1 }] });
    assert.equal((await again.read()).value, [["a"]]);
    assert.equal((await second.read()).value, [["b"]]);
    await store.close();
  });

  test("a watcher whose connection was closed listens again, and is notified with its prefix", async () => {
    const schema = newSchema();
    const [a, b] = [open(undefined, schema), open(undefined, schema)];
    const reader = a.watch(["w"]).getReader();
    await a.get(["w"]);
    await admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ILIKE ${`listen "${schema}"`}`;
    assert.equal((await reader.read()).value, [["w"]]);
    await b.commit({ set: [{ key: ["w", 2], value: 1 }] });
    assert.equal((await reader.read()).value, [["w", 2]]);
    await b.close();
    await a.close();
  });

  test("with pgbouncer=true a watcher polls and does not use LISTEN", async () => {
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
      await admin`SELECT count(*)::int AS n FROM pg_stat_activity WHERE query ILIKE ${`listen "${schema}"`}`;
    assert.is(row!.n, 0);
    await pooled.close();
    await other.close();
  });

  test("with pgbouncer=true a watcher sees a commit that was still open when its version was polled", async () => {
    const schema = newSchema();
    const other = open(undefined, schema);
    const pooled = postgresStore(`${inSchema(schema)}&pgbouncer=true`);
    const key = ["w", "x"];
    await other.commit({ set: [{ key, value: "old" }] });
    const reader = pooled.watch(["w"]).getReader();
    await pooled.get(key);
    let committing: Promise<boolean> | undefined;
    await admin.begin(async (sql) => {
      await sql.unsafe(`SELECT FROM ${schema}.record FOR UPDATE`);
      committing = other.commit({ set: [{ key, value: "new" }] });
      // Reported while the commit waits for the lock of the row.
      assert.equal((await reader.read()).value, [["w"]]);
      assert.is((await pooled.get(key))?.value, "old");
    });
    assert.is(await committing, true);
    let late: ReturnType<typeof setTimeout> | undefined;
    const inVain = new Promise<string>((resolve) =>
      late = setTimeout(resolve, 20_000, "nothing was reported")
    );
    const see = async () => {
      while ((await pooled.get(key))?.value !== "new") await reader.read();
      return (await reader.read()).done === false ? "reported" : "ended";
    };
    assert.is(await Promise.race([see(), inVain]), "reported");
    clearTimeout(late);
    await pooled.close();
    await other.close();
  });

  test("a watcher whose registration lapsed, as in a pause of the machine, is notified with its prefix when it renews it", async () => {
    const schema = newSchema();
    const [a, b] = [open(undefined, schema), open(undefined, schema)];
    const reader = a.watch(["w"]).getReader();
    await a.get(["w"]);
    await admin.unsafe(`UPDATE ${schema}.watching SET until = now() - interval '1 second'`);
    await b.commit({ set: [{ key: ["w", 1], value: 1 }] });
    a.watch(["other"]);
    await a.get(["other"]);
    assert.equal((await reader.read()).value, [["w"]]);
    await b.close();
    await a.close();
  });

  test("a sweep removes the registrations of watchers that were killed", async () => {
    const schema = newSchema();
    const store = open(undefined, schema);
    await store.get(["k"]);
    await admin.unsafe(`INSERT INTO ${schema}.watching VALUES ('killed', '{}', '2020-01-01')`);
    await store.sweep();
    const [row] = await admin.unsafe(
      `SELECT count(*)::int AS n FROM ${schema}.watching WHERE until < now()`,
    );
    assert.is(row!["n"], 0);
    await store.close();
  });
}

test.run();
