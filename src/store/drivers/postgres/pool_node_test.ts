import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";
import { setImmediate } from "node:timers";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../../scripts/test/run_files.ts";
import { PostgresPool } from "./pool.ts";
import { findEngine } from "../../test_engines.ts";

const address = await findEngine("postgres");
const test = suite("store/postgres_pool");

/** The outcome of a statement; `waits` after a time far below the driver's own timeout. */
async function outcome(work: Promise<unknown>): Promise<"answered" | "failed" | "waits"> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"waits">((resolve) => timer = setTimeout(() => resolve("waits"), 15_000));
  const done = work.then(() => "answered" as const, () => "failed" as const);
  return await Promise.race([done, late]).finally(() => clearTimeout(timer));
}

if (address === undefined) {
  skipBecause(test, "no PostgreSQL listens: connections that break are not tested");
} else {
  const { hostname, port } = new URL(address);

  /** A pool with at most one connection, and the sockets that it opened. */
  const newPool = () => {
    const sockets: Socket[] = [];
    const socket = () =>
      new Promise<Socket>((resolve) => {
        const opened = connect(Number(port), hostname, () => resolve(opened));
        sockets.push(opened);
      });
    const options = { max: 1, fetch_types: false, backoff: 0.01, connect_timeout: 60, socket };
    return { sockets, pool: new PostgresPool(address, options as never, true) };
  };

  test("a connection that breaks before a statement is written is replaced", async () => {
    const { pool, sockets } = newPool();
    for (let round = 0; round < 5; round++) {
      assert.is(await outcome(pool.run("SELECT 1", []).rows), "answered");
      sockets.at(-1)!.destroy();
      // The socket is destroyed but its close event has not fired: a statement sent now is never written.
      const broken = new Promise((resolve, reject) =>
        setImmediate(() => pool.run("SELECT 2", []).rows.then(resolve, reject))
      );
      assert.is.not(await outcome(broken), "waits");
      assert.is(await outcome(pool.run("SELECT 3", []).rows), "answered", `round ${round}`);
    }
    await pool.end();
  });

  test("after a connection broke with unsent statements, the next statement succeeds", async () => {
    const { pool, sockets } = newPool();
    await pool.run("SELECT 1", []).rows;
    const sleeping = Array.from({ length: 200 }, () => pool.run("SELECT pg_sleep(0.2)", []));
    const failed = Promise.allSettled(sleeping.map(({ rows }) => rows));
    await new Promise((resolve) => setTimeout(resolve, 50));
    sockets.at(-1)!.destroy();
    sleeping.slice(110).forEach(({ cancel }) => cancel());
    const statuses = (await failed).map(({ status }) => status);
    assert.is(statuses[0], "rejected");
    assert.is(await outcome(pool.run("SELECT 4", []).rows), "answered");
    await pool.end();
  });

  test("the server ends a statement after the timeout, but not the work of a transaction, such as a migration", async () => {
    const pool = new PostgresPool(address, {
      max: 1,
      fetch_types: false,
      settings: { statement_timeout: 100 },
    }, true);
    const error = await pool.run("SELECT pg_sleep(2)", []).rows.then(() => undefined, (error) => error);
    assert.is(error?.code, "57014");
    const rows = await pool.transact((sql) => sql.unsafe("SELECT 1 AS one FROM pg_sleep(0.5)"));
    assert.is(rows[0]!["one"], 1);
    await pool.end();
    const own = new URL(address);
    own.searchParams.set("statement_timeout", "1000");
    const others = new PostgresPool(own.href, {
      max: 1,
      fetch_types: false,
      settings: { statement_timeout: 100 },
    }, true);
    assert.is(
      (await others.run("SELECT 1 FROM pg_sleep(0.3)", []).rows).length,
      1,
      "that of the address counts",
    );
    await others.end();
  });

  test("connections to a server that does not write any more are replaced", async () => {
    const { pool } = newPool();
    const readSetting = async () => {
      const statement = "SELECT current_setting('default_transaction_read_only') AS setting";
      return (await pool.run<{ setting: string }>(statement, []).rows)[0]!.setting;
    };
    try {
      await pool.run("SET default_transaction_read_only = on", []).rows;
      for (let tries = 0; tries < 30 && await readSetting() === "on"; tries++) {
        const error = await pool.run("CREATE TABLE refused ()", []).rows.then(
          () => undefined,
          (error) => error,
        );
        assert.is(error?.code, "25006");
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      assert.is(await readSetting(), "off");
    } finally {
      await pool.end();
    }
  });

  test("a LISTEN that the server refused, as a standby does, is found and repeated", async () => {
    const { pool, sockets } = newPool();
    const channel = "trivet_pool_test";
    try {
      await pool.listen("trivet_pool_other", () => {}, () => {});
      const [socket] = sockets as [Socket];
      const write = socket.write;
      socket.write = (data: Uint8Array, ...more: never[]) => {
        const sent = Buffer.from(data).toString("latin1").replace(`listen "${channel}`, `lisTNN "${channel}`);
        return write.call(socket, Buffer.from(sent, "latin1"), ...more);
      };
      let times = 0;
      const { promise: listening, resolve } = Promise.withResolvers<void>();
      const refused = pool.listen(channel, () => {}, () => {
        times++;
        resolve();
      });
      assert.is(await outcome(refused), "failed");
      assert.is(await outcome(pool.probeListener()), "failed");
      pool.replaceListener();
      assert.is(await outcome(listening), "answered");
      assert.is(await outcome(pool.probeListener()), "answered");
      assert.is(times, 1);
    } finally {
      await pool.end();
    }
  });

  test("end() waits for running statements", async () => {
    const { pool } = newPool();
    const { rows } = pool.run<{ one: number }>("SELECT 1 AS one FROM pg_sleep(0.1)", []);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await pool.end();
    assert.is((await rows)[0]!.one, 1);
  });
}

test.run();
