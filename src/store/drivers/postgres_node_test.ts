import { skipBecause } from "../../../scripts/test/run_files.ts";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { storeContract } from "../contract/contract.ts";
import { postgresStore } from "./postgres.ts";
import { withPostgresSnapshot } from "./postgres/snapshot.ts";
import { encodeKey } from "../key.ts";
import type { Commit, Key } from "../store.ts";
import { until } from "../../test_until.ts";
import { findEngine } from "../test_engines.ts";
import { createTestStores, pause } from "./postgres/test_stores.ts";

const address = await findEngine("postgres");
const test = suite("postgres");

if (address === undefined) {
  skipBecause(test, "no PostgreSQL listens: the whole store contract and this file's tests are skipped");
} else {
  const stores = createTestStores(address);
  const { admin, newSchema, inSchema, open, throughProxy } = stores;
  test.after(() => stores.end());

  /** Runs the first commit in a transaction that is still open when the second commit begins; whether the second succeeds. */
  const commitDuring = async (first: Commit, second: Commit): Promise<boolean> => {
    const schema = newSchema();
    const store = open(undefined, schema);
    await store.get(["nothing"]);
    const keys = (list: readonly Key[]) => list.map(encodeKey);
    const { check = [], set = [] } = first;
    let racing: Promise<boolean> | undefined;
    await admin.begin(async (sql) => {
      const [row] = await sql`SELECT ${sql(schema)}.commit(${Date.now()}, ${
        keys(check.map(({ key }) => key))
      }::text[],
        ${check.map(() => null)}::bigint[], '{}', ${keys(set.map(({ key }) => key))}::text[], ${
        set.map(() => "1")
      }::text[],
        ${set.map(() => null)}::bytea[], ${set.map(() => null)}::bigint[]) AS done`;
      assert.is(row!.done, true);
      racing = store.commit(second);
      await new Promise((resolve) => setTimeout(resolve, 150));
    });
    return await racing!.finally(() => store.close());
  };

  storeContract("postgres", {
    open: async (now) => open(now),
    reopen: async (now, options) => postgresStore(inSchema(stores.lastSchema()), { now, ...options }),
    rounds: 200,
  });

  test("all connections work again after an outage that is longer than the timeout of callers", async () => {
    await throughProxy(async (through, _, proxy) => {
      await through.get(["nothing"]);
      const readAll = () => Promise.allSettled(Array.from({ length: 20 }, (_, i) => through.get(["k", i])));
      proxy.refuse();
      const waiting = [readAll()];
      for (let i = 0; i < 12; i++) {
        await pause(100);
        waiting.push(readAll());
      }
      await pause(500);
      proxy.pass();
      const refused = (await Promise.all(waiting)).flat().filter(({ status }) => status === "rejected");
      assert.ok(refused.length > 20, "reads during the outage are refused");
      await pause(700);
      for (let i = 0; i < 5; i++) {
        assert.equal((await readAll()).map(({ status }) => status), Array(20).fill("fulfilled"));
      }
    });
  });

  test("ten instances can start concurrently on an empty database", async () => {
    const schema = newSchema();
    const stores = Array.from({ length: 10 }, () => open(undefined, schema));
    const done = await Promise.all(
      stores.map((store, i) => store.commit({ set: [{ key: ["k", i], value: i }] })),
    );
    assert.equal(done, Array(10).fill(true));
    assert.is((await stores[0]!.list(["k"])).length, 10);
    await Promise.all(stores.map((store) => store.close()));
  });

  const absent = (...key: Key) => ({ key, version: null });
  const put = (...key: Key) => ({ key, value: 1 });

  test("a check waits for a pending commit and sees its writes", async () => {
    assert.is(await commitDuring({ set: [put("a")] }, { check: [absent("a")], set: [put("a")] }), false);
  });

  test("one of two commits that each check what the other writes is refused", async () => {
    const outcome = await commitDuring(
      { check: [absent("b")], set: [put("a")] },
      { check: [absent("a")], set: [put("b")] },
    );
    assert.is(outcome, false);
  });

  test("a check waits for a pending commit of many keys, and a commit of many keys for a pending one", async () => {
    const many = Array.from({ length: 150 }, (_, i) => put("many", i));
    assert.is(await commitDuring({ set: many }, { check: [absent("many", 7)], set: [put("a")] }), false);
    assert.is(
      await commitDuring({ set: [put("many", 7)] }, { check: [absent("many", 7)], set: many }),
      false,
    );
  });

  test("many concurrent commits have each its own checks, answer and changes", async () => {
    const store = open();
    const bytes = new Uint8Array([0, 92, 34, 255]);
    const writes = Array.from({ length: 60 }, (_, i) => ({ key: ["group", i], value: i % 2 ? i : bytes }));
    await store.commit({ set: [...writes.slice(0, 20), { key: ["gone"], value: 1 }] });
    const changed: string[] = [];
    const reader = store.watch(["group"]).getReader();
    await store.get(["group", 0]);
    const done = await Promise.all([
      ...writes.map(({ key, value }, i) =>
        store.commit({ check: [absent(...key)], set: [{ key, value: i < 20 ? "lost" : value }] })
      ),
      store.commit({ remove: [["gone"]] }),
      store.commit({ check: [absent("gone")], remove: [["group", 0]] }),
      store.commit({ set: [{ key: ["expired"], value: 1, expires: Date.now() - 1000 }] }),
    ]);
    assert.equal(done.slice(0, 60), writes.map((_, i) => i >= 20));
    assert.is(done[60], true);
    for (const { key, value } of writes.slice(1)) assert.equal((await store.get(key))!.value, value);
    assert.is(await store.get(["gone"]), undefined);
    assert.is(await store.get(["expired"]), undefined);
    while (new Set(changed).size < 40) {
      for (const key of (await reader.read()).value ?? []) changed.push(JSON.stringify(key));
    }
    await reader.cancel();
    await store.close();
  });

  test("a commit does not wait for a pending commit of other keys", async () => {
    const started = performance.now();
    let took = Infinity;
    const second: Commit = { check: [absent("b")], set: [put("b")] };
    const schema = newSchema();
    const store = open(undefined, schema);
    await store.get(["nothing"]);
    await admin.begin(async (sql) => {
      await sql`SELECT ${sql(schema)}.commit(0, '{}', '{}', '{}', ${[
        encodeKey(["a"]),
      ]}::text[], '{1}', '{NULL}', '{NULL}')`;
      assert.is(await store.commit(second), true);
      took = performance.now() - started;
    });
    assert.ok(took < 3000);
    await store.close();
  });

  for (const lock of ["record", "table"] as const) {
    test(`a locked ${lock} fails its own calls in time, and leaves no statement that waits`, async () => {
      const schema = newSchema();
      const store = postgresStore(`${inSchema(schema)}&timeout=2`);
      await store.commit({ set: [put("a"), put("b")] });
      const waiting = async () => {
        const [row] = await admin`
          SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE ${`%${schema}%`}`;
        return row!["n"];
      };
      let isDone = false;
      await admin.begin(async (sql) => {
        if (lock === "table") await sql.unsafe(`LOCK TABLE ${schema}.record`);
        else await sql.unsafe(`SELECT 1 FROM ${schema}.record WHERE key = $1 FOR UPDATE`, [encodeKey(["a"])]);
        const locked = Array.from({ length: 8 }, () => [
          store.commit({ set: [put("a")] }),
          lock === "table" ? store.get(["a"]) : store.commit({ set: [put("a"), put("c")] }),
        ]).flat();
        const failed = Promise.allSettled(locked).finally(() => isDone = true);
        let others = 0;
        while (lock === "record" && !isDone) {
          assert.is(await store.commit({ set: [put("b")] }), true);
          others++;
        }
        assert.equal(
          (await failed).map((each) => each.status === "rejected" && each.reason.name),
          locked.map(() => "StoreUnavailableError"),
        );
        assert.ok(lock === "table" || others > 0);
        // A statement that began late ends later than the call that gave up.
        for (let i = 0; i < 100 && await waiting() > 0; i++) await pause(100);
        assert.is(await waiting(), 0);
      });
      assert.is(await store.commit({ set: [put("a")] }), true);
      await store.close();
      await admin.unsafe(`DROP SCHEMA ${schema} CASCADE`);
    });
  }

  test("concurrent sweeps remove each expired record once", async () => {
    const schema = newSchema();
    const stores = [open(undefined, schema), open(undefined, schema), open(undefined, schema)];
    const set = Array.from({ length: 3000 }, (_, i) => ({ key: ["s", i], value: i, expires: 1 }));
    await stores[0]!.commit({ set });
    const removed = await Promise.all(stores.map((store) => store.sweep()));
    assert.is(removed.reduce((sum, n) => sum + n, 0), 3000);
    await Promise.all(stores.map((store) => store.close()));
  });

  test("an instance whose clock jumps uses the engine's clock: no record expires early, and no sweep removes one", async () => {
    const schema = newSchema();
    let jump = 0;
    const clocks = { now: () => Date.now() + jump, monotonic: () => performance.now() };
    const [jumping, steady] = [postgresStore(inSchema(schema), clocks), open(undefined, schema)];
    await jumping.get(["nothing"]);
    for (const hours of [3, -3]) {
      const key = ["k", hours];
      await steady.commit({ set: [{ key, value: 1, expires: steady.now!() + 60_000 }] });
      jump = hours * 3600_000;
      assert.ok(Math.abs(jumping.now!() - Date.now()) < 5000);
      assert.is((await jumping.get(key))?.value, 1);
      assert.is((await jumping.list(["k"])).length, hours === 3 ? 1 : 2);
      await jumping.sweep();
      assert.is((await steady.get(key))?.value, 1);
      const own = ["own", hours];
      await jumping.commit({ set: [{ key: own, value: 1, expires: jumping.now!() + 60_000 }] });
      const { expires } = (await steady.get(own))!;
      assert.ok(Math.abs(expires! - Date.now() - 60_000) < 5000);
    }
    await jumping.close();
    await steady.close();
  });

  test("a database of a newer version is refused with an error that names its schema", async () => {
    const schema = newSchema();
    const first = open(undefined, schema);
    await first.get(["k"]);
    await admin.unsafe(`INSERT INTO ${schema}.migration (version) VALUES (99)`);
    const second = postgresStore(inSchema(schema));
    const error = await second.get(["k"]).catch((error: Error) => error) as Error;
    assert.is(error.name, "StoreFormatError");
    assert.match(error.message, `"${schema}"`);
    await second.close();
    await first.close();
  });

  test("`max` is the number of connections", async () => {
    for (const max of [1, 3]) {
      const schema = newSchema();
      const store = postgresStore(`${address}?schema=${schema}&max=${max}`);
      await store.get(["k"]);
      await Promise.all(Array.from({ length: 100 }, (_, i) => store.get(["k", i])));
      const [row] = await admin`
        SELECT count(*)::int AS n FROM pg_stat_activity WHERE query LIKE ${`%${schema}%`} AND pid <> pg_backend_pid()`;
      assert.is(row!["n"], max);
      await store.close();
      await admin.unsafe(`DROP SCHEMA ${schema} CASCADE`);
    }
  });

  for (const [statistics, mode] of [["without", ""], ["with", ""], ["with", "&pgbouncer=true"]]) {
    test(`lists and commits read the records that they name, also by plans of a small table ${statistics} statistics${mode}`, async () => {
      const schema = newSchema();
      const store = postgresStore(`${address}?schema=${schema}&max=1&application_name=${schema}${mode}`);
      const add = (from: number, to: number) =>
        store.commit({
          set: Array.from({ length: to - from }, (_, i) => ({ key: ["k", from + i], value: 1 })),
        });
      const use = async () => {
        for (let i = 0; i < 20; i++) {
          const key = ["k", i];
          const listed = await store.list(["k"], { after: key, limit: 10 });
          assert.is(listed.length, 10);
          const { version } = (await store.get(key))!;
          assert.is(await store.commit({ check: [{ key, version }], set: [{ key, value: 2 }] }), true);
        }
      };
      await add(0, 50);
      if (statistics === "with") await admin.unsafe(`ANALYZE ${schema}.record`);
      await use();
      await add(50, 5000);
      await use();
      await store.close();
      // A connection reports what it read at its end.
      await until(async () => {
        const open = await admin`SELECT FROM pg_stat_activity WHERE application_name = ${schema}`;
        return open.length === 0;
      }, "the connection has ended");
      const [row] = await admin`
        SELECT (seq_tup_read + idx_tup_fetch)::int AS read FROM pg_stat_user_tables
        WHERE schemaname = ${schema} AND relname = 'record'`;
      // 40 lists of 10 records, and some records for each commit. Each reading of the table would be 5,000.
      assert.ok(row!["read"] >= 400 && row!["read"] < 20_000, `${row!["read"]} records were read`);
      await admin.unsafe(`DROP SCHEMA ${schema} CASCADE`);
    });
  }

  test("a snapshot has the records that are live by the clock of PostgreSQL", async () => {
    const schema = newSchema();
    const store = open(undefined, schema);
    await store.commit({ set: [{ key: ["k", 1], value: 1, expires: Date.now() + 600_000 }] });
    const { now } = Date;
    Date.now = () => now() + 7_200_000;
    try {
      const listed = await withPostgresSnapshot(inSchema(schema), (snapshot) => snapshot.list(["k"]));
      assert.is(listed.length, 1);
    } finally {
      Date.now = now;
    }
    await store.close();
  });

  test("keys may have quotes, backslashes, braces and commas", async () => {
    const store = open();
    const keys = ['a"b', "a\\b", "{a,b}", "NULL", "null", "", "'", "\\x41", "a\nb"].map((
      text,
    ) => ["odd", text]);
    await store.commit({ set: keys.map((key) => ({ key, value: key })) });
    for (const key of keys) assert.equal((await store.get(key))?.value, key);
    await store.close();
  });
}

test("an invalid address is refused at once", () => {
  assert.throws(() => postgresStore("mysql://x"), /\bpostgres:\/\//);
  assert.throws(() => postgresStore("postgres://x/y?schema=A;DROP"), /\bschema\b/);
  assert.throws(() => postgresStore("postgres://x/y?timeout=never"), /timeout/);
  for (const max of ["0", "x", "1.5"]) {
    assert.throws(() => postgresStore(`postgres://x/y?max=${max}`), /\bmax\b/);
  }
  assert.throws(() => postgresStore("postgres://x/y?pgbouncer=1"), /\bpgbouncer\b/);
});

test.run();
