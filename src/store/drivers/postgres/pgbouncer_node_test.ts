import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import postgres from "postgres";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { dropStore } from "../../../../scripts/cluster/cluster.ts";
import { skipBecause } from "../../../../scripts/test/run_files.ts";
import { freePort } from "../../../../conformance/runner/target/free_port.ts";
import { encodeKey } from "../../key.ts";
import { postgresStore } from "../postgres.ts";
import { PostgresPool } from "./pool.ts";
import { putIfAbsent, take } from "../../store.ts";
import { findEngine } from "../../test_engines.ts";

const test = suite("postgres behind pgbouncer in transaction mode");
const PROGRAM = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"].find(existsSync);
const address = await findEngine("postgres");

if (address === undefined || PROGRAM === undefined) {
  if (process.env.CI === "true") throw new Error("pgbouncer must be installed where CI is true");
  skipBecause(test, "no pgbouncer or no PostgreSQL: the store is not tested behind a pool");
} else {
  const schema = `trivet_test_pool_${Math.random().toString(36).slice(2, 8)}`;
  const folder = mkdtempSync(join(tmpdir(), "trivet-pgbouncer-"));
  const port = await freePort();
  let pool: ChildProcess;

  test.before(async () => {
    const { hostname, port: at, username, password, pathname } = new URL(address);
    const database = pathname.slice(1);
    const login = `user=${username}${password && ` password=${password}`}`;
    const config = join(folder, "pgbouncer.ini");
    // With two server connections for all clients, a statement that depends on its session would fail.
    writeFileSync(
      config,
      `[databases]
${database} = host=${hostname} port=${at || 5432} dbname=${database} ${login}
session = host=${hostname} port=${at || 5432} dbname=${database} ${login} pool_mode=session pool_size=8
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
server_reset_query_always = 1
`,
    );
    const args = [config];
    // pgbouncer refuses to run as root.
    if (process.getuid?.() === 0) {
      const id = (flag: string) => Number(spawnSync("id", [flag, "postgres"], { encoding: "utf8" }).stdout);
      for (const path of [folder, config]) chownSync(path, id("-u"), id("-g"));
      args.unshift("-u", "postgres");
    }
    pool = spawn(PROGRAM, args, { stdio: "ignore" });
    const store = postgresStore(pooled());
    for (let i = 0; i < 50; i++) {
      if (await store.get(["up"]).then(() => true, () => false)) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await store.close();
  });
  test.after(async () => {
    pool.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
    await dropStore(`${address}?schema=${schema}`);
  });

  const driverUrl = () => {
    const url = new URL(address);
    return `postgres://${url.username}@127.0.0.1:${port}${url.pathname}`;
  };
  const pooled = () => `${driverUrl()}?schema=${schema}&pgbouncer=true&max=6`;

  test("two stores with six connections each get, list, commit and sweep over two server connections", async () => {
    const [a, b] = [postgresStore(pooled()), postgresStore(pooled())];
    await Promise.all(
      Array.from({ length: 200 }, (_, i) => (i % 2 ? a : b).commit({ set: [{ key: ["k", i], value: i }] })),
    );
    const values = await Promise.all(
      Array.from({ length: 200 }, async (_, i) => (await (i % 3 ? a : b).get(["k", i]))?.value),
    );
    assert.equal(values, Array.from({ length: 200 }, (_, i) => i));
    assert.is((await a.list(["k"], { limit: 1000 })).length, 200);
    await a.commit({ set: [{ key: ["x"], value: 1, expires: 1 }] });
    assert.is(await b.sweep(), 1);
    await a.close();
    await b.close();
  });

  test("exactly one of concurrent commits succeeds", async () => {
    const stores = [postgresStore(pooled()), postgresStore(pooled())];
    for (let round = 0; round < 50; round++) {
      const key = ["race", round];
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, i) => putIfAbsent(stores[i % 2]!, key, i)),
      );
      assert.is(outcomes.filter(Boolean).length, 1);
      const taken = await Promise.all(Array.from({ length: 8 }, (_, i) => take(stores[i % 2]!, key)));
      assert.equal(taken.filter((value) => value !== undefined), [outcomes.indexOf(true)]);
    }
    await Promise.all(stores.map((store) => store.close()));
  });

  test("statements with and without parameters on one connection do not wait for each other forever", async () => {
    const pool = new PostgresPool(driverUrl(), { max: 1, fetch_types: false }, false);
    for (let round = 0; round < 50; round++) {
      const rows = await Promise.all([
        ...Array.from({ length: 4 }, () => pool.run<{ n: number }>("SELECT 7 AS n", []).rows),
        pool.run<{ n: number }>("SELECT $1::int AS n", [7]).rows,
        pool.run<{ n: number }>("SELECT 7 AS n", []).rows,
      ]);
      assert.equal(rows.map(([row]) => row!.n), [7, 7, 7, 7, 7, 7]);
    }
    await pool.end();
  });

  test("commits of a locked record end, so that the server connections are free for other records", async () => {
    const store = postgresStore(`${pooled()}&timeout=2`);
    await store.commit({ set: [{ key: ["locked"], value: 1 }, { key: ["free"], value: 1 }] });
    const sql = postgres(address, { max: 1 });
    await sql.begin(async (sql) => {
      await sql.unsafe(`SELECT 1 FROM ${schema}.record WHERE key = $1 FOR UPDATE`, [encodeKey(["locked"])]);
      for (let round = 0; round < 3; round++) {
        const locked = Array.from(
          { length: 4 },
          () => store.commit({ set: [{ key: ["locked"], value: 2 }] }).then(() => "done", () => "failed"),
        );
        assert.is(await store.commit({ set: [{ key: ["free"], value: round }] }), true);
        assert.is((await store.get(["free"]))?.value, round);
        assert.equal(await Promise.all(locked), Array(4).fill("failed"));
      }
    });
    await sql.end();
    await store.close();
  });

  test("a pool in session mode, which refuses settings, works without pgbouncer=true", async () => {
    const store = postgresStore(
      `${pooled().replace(/\/[^/?]*\?/, "/session?").replace("&pgbouncer=true", "")}`,
    );
    const done = await Promise.all(
      Array.from({ length: 20 }, (_, i) => store.commit({ set: [{ key: ["session", i], value: i }] })),
    );
    assert.equal(done, Array(20).fill(true));
    assert.is((await store.list(["session"])).length, 20);
    await store.close();
  });

  test("a watcher is notified of commits of another store", async () => {
    const [a, b] = [postgresStore(pooled()), postgresStore(pooled())];
    const reader = a.watch(["w"]).getReader();
    await a.get(["w"]);
    // Timers of the store do not keep the process alive.
    const alive = setTimeout(() => {}, 10_000);
    await b.commit({ set: [{ key: ["w", 1], value: 1 }] });
    assert.equal((await reader.read()).value, [["w"]]);
    clearTimeout(alive);
    await a.close();
    await b.close();
  });
}

test.run();
