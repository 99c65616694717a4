/**
 * `npm run bench -- --stores`: compares each driver with its raw client, which executes the same statements and parses the
 * same JSON, with one caller and with many, with few records and with many. `--scale` sets the largest number of records.
 * Long because each driver has its raw counterpart here.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { mkdtempSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { createClient, RESP_TYPES } from "redis";
import { encodeKey, prefixRange } from "../../src/store/key.ts";
import { memoryStore } from "../../src/store/drivers/memory.ts";
import { postgresStore } from "../../src/store/drivers/postgres.ts";
import { redisStore } from "../../src/store/drivers/redis.ts";
import { sqliteStore } from "../../src/store/drivers/sqlite.ts";
import { type Key, putIfAbsent, type Store, take } from "../../src/store/store.ts";
import { findEngine } from "../../src/store/test_engines.ts";
import { measure, printResults, type Result, type Subject } from "./harness.ts";

/** The statements of a driver, sent by its client without the driver. */
interface RawClient {
  get(id: string): Promise<unknown>;
  put(id: string, json: string): Promise<unknown>;
  /** Puts a record, gets it, and removes it if its version is the same. */
  putAndTake(id: string, json: string): Promise<unknown>;
  list(after: string, limit: number): Promise<unknown>;
}

interface Driver {
  readonly name: string;
  readonly store: Store;
  readonly raw: RawClient | undefined;
  close(): Promise<void>;
}

const KIND = "bench";
const PAGE = 20;
const CALLERS = [1, 32];
const TARGET = 0.8;
/** Has the size of a stored access token. */
const VALUE = {
  client_id: "client_8s7df6g8s7d6fg",
  user: "user_09XLxfqDvLQlp7sPtwnxyQ",
  scope: "profile read",
  expires: 1.8e12,
  grant: "x".repeat(22),
};

const toKey = (n: number): Key => [KIND, `record ${String(n).padStart(9, "0")}`];

const DRIVERS: Readonly<Record<string, () => Promise<Driver | undefined>>> = {
  memory: openMemory,
  SQLite: openSqlite,
  PostgreSQL: openPostgres,
  Redis: openRedis,
};

/** Measures every driver whose engine is available. @param only the name of one */
export async function measureStores(
  sizes: readonly number[],
  rounds: number,
  slice: number,
  only?: string,
): Promise<Result[]> {
  const all: Result[] = [];
  for (const [name, open] of Object.entries(DRIVERS)) {
    if (only !== undefined && name !== only) continue;
    const driver = await open();
    if (!driver) continue;
    try {
      let stored = 0;
      for (const size of sizes) {
        await fill(driver.store, stored, size);
        stored = size;
        const results = await measure(createSubjects(driver, size), rounds, slice);
        printResults(`${driver.name}, ${size.toLocaleString("en")} records`, results);
        all.push(...results);
      }
    } finally {
      await driver.close();
    }
  }
  return all;
}

async function fill(store: Store, from: number, to: number): Promise<void> {
  const expires = Date.now() + 7_200_000;
  for (let at = from; at < to; at += 1000) {
    const set = Array.from(
      { length: Math.min(1000, to - at) },
      (_, i) => ({ key: toKey(at + i), value: VALUE, expires }),
    );
    await store.commit({ set });
  }
}

function createSubjects({ name, store, raw }: Driver, size: number): Subject[] {
  const json = JSON.stringify(VALUE);
  const random = () => Math.floor(Math.random() * size);
  let fresh = 0;
  const operations: readonly [string, () => Promise<unknown>, ((raw: RawClient) => Promise<unknown>)][] = [
    ["get", () => store.get(toKey(random())), (raw) => raw.get(encodeKey(toKey(random())))],
    [
      "commit, one set",
      () => store.commit({ set: [{ key: toKey(random()), value: VALUE }] }),
      (raw) => raw.put(encodeKey(toKey(random())), json),
    ],
    ["put and take once", async () => {
      const key: Key = ["once", fresh++];
      await putIfAbsent(store, key, VALUE);
      await take(store, key);
    }, (raw) => raw.putAndTake(encodeKey(["once", fresh++]), json)],
    [
      "list, page of 20",
      () => store.list([KIND], { after: toKey(random()), limit: PAGE }),
      (raw) => raw.list(encodeKey(toKey(random())), PAGE),
    ],
  ];
  return CALLERS.flatMap((concurrency) =>
    operations.flatMap(([operation, run, runRaw]): Subject[] => {
      const title = `${operation}, ${concurrency} caller${concurrency > 1 ? "s" : ""}`;
      const subject: Subject = { name: `${name}: ${title}`, concurrency, prepare: async () => run };
      if (!raw) return [subject];
      const baseline = `raw client: ${title}`;
      return [
        { name: baseline, concurrency, prepare: async () => () => runRaw(raw) },
        { ...subject, baseline, target: TARGET },
      ];
    })
  );
}

/** Parses the value of a row. */
function parse(row: unknown): unknown {
  return JSON.parse((row as { value: string }).value);
}

/** Parses the value of a Redis string, which begins with version and expiry. */
function parseStored(found: Buffer): unknown {
  return JSON.parse(found.toString("utf8", found.indexOf("{")));
}

async function openMemory(): Promise<Driver> {
  const store = memoryStore();
  return { name: "memory", store, raw: undefined, close: () => store.close() };
}

async function openSqlite(): Promise<Driver> {
  const folder = mkdtempSync(join(tmpdir(), "trivet-bench-"));
  const file = join(folder, "bench.db");
  const store = sqliteStore(file);
  const database = new DatabaseSync(file);
  database.exec("PRAGMA busy_timeout = 5000; PRAGMA synchronous = FULL");
  const columns = "key, value, version, expires FROM record WHERE";
  const alive = "(expires IS NULL OR expires > ?)";
  const get = database.prepare(`SELECT ${columns} key = ? AND ${alive}`);
  const list = database.prepare(
    `SELECT ${columns} key > ? AND key < ? AND ${alive} ORDER BY key ASC LIMIT ?`,
  );
  const next = database.prepare("UPDATE sequence SET version = version + 1 RETURNING version");
  const put = database.prepare(
    "INSERT INTO record (key, value, version, expires) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value, version = excluded.version, expires = excluded.expires",
  );
  const version = database.prepare(`SELECT version FROM record WHERE key = ? AND ${alive}`);
  const remove = database.prepare("DELETE FROM record WHERE key = ?");
  const inTransaction = (work: () => void): void => {
    database.exec("BEGIN IMMEDIATE");
    work();
    database.exec("COMMIT");
  };
  const write = (id: string, json: string) => {
    put.run(id, json, (next.get() as { version: number }).version, null);
  };
  return {
    name: "SQLite",
    store,
    raw: {
      get: async (id) => parse(get.get(id, Date.now())),
      put: async (id, json) => inTransaction(() => write(id, json)),
      async putAndTake(id, json) {
        inTransaction(() => {
          version.get(id, Date.now());
          write(id, json);
        });
        get.get(id, Date.now());
        inTransaction(() => {
          version.get(id, Date.now());
          remove.run(id);
        });
      },
      list: async (after, limit) => list.all(after, prefixRange([KIND]).high, Date.now(), limit).map(parse),
    },
    async close() {
      database.close();
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function openPostgres(): Promise<Driver | undefined> {
  const address = await findEngine("postgres");
  if (address === undefined) return undefined;
  const schema = "trivet_bench";
  const sql = postgres(address, { fetch_types: false, onnotice: () => {} });
  await sql.unsafe(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  const store = postgresStore(`${address}?schema=${schema}`);
  const columns = `value, bytes, version::text, expires::text FROM ${schema}.record WHERE`;
  const alive = (n: number) => `(expires IS NULL OR expires > $${n}::bigint)`;
  const run = (statement: string, parameters: (string | number)[]) =>
    sql.unsafe(statement, parameters, { prepare: true });
  const GET = `SELECT ${columns} key = $1 AND ${alive(2)}`;
  const LIST = `SELECT key, ${columns} key > $1 AND key < $2 AND ${alive(3)} ORDER BY key LIMIT $4`;
  const COMMIT = `SELECT ${schema}.commit($1, $2, $3, $4, $5, $6, $7, $8) AS done`;
  const literal = (text: string) => `{"${text.replace(/["\\]/g, "\\$&")}"}`;
  const get = (id: string) => run(GET, [id, Date.now()]);
  return {
    name: "PostgreSQL",
    store,
    raw: {
      get: async (id) => (await get(id)).map(parse),
      put: (id, json) =>
        run(COMMIT, [Date.now(), "{}", "{}", "{}", literal(id), literal(json), "{NULL}", "{NULL}"]),
      async putAndTake(id, json) {
        await run(COMMIT, [
          Date.now(),
          literal(id),
          "{NULL}",
          "{}",
          literal(id),
          literal(json),
          "{NULL}",
          "{NULL}",
        ]);
        const [row] = await get(id);
        await run(COMMIT, [
          Date.now(),
          literal(id),
          `{${row!.version}}`,
          literal(id),
          "{}",
          "{}",
          "{}",
          "{}",
        ]);
      },
      list: async (after, limit) =>
        (await run(LIST, [after, prefixRange([KIND]).high, Date.now(), limit])).map(parse),
    },
    async close() {
      await store.close();
      await sql.unsafe(`DROP SCHEMA ${schema} CASCADE`);
      await sql.end();
    },
  };
}

async function openRedis(): Promise<Driver | undefined> {
  const address = await findEngine("redis");
  if (address === undefined) return undefined;
  const client = await createClient({ url: address, RESP: 2 }).connect();
  const tag = "{trivet_bench}:";
  const clear = async (): Promise<void> => {
    for (const key of await client.keys(tag + "*")) await client.unlink(key);
  };
  await clear();
  const store = redisStore(`${address}?name=trivet_bench`);
  // The digests of the driver's scripts, from its EVALSHA commands after its preparation.
  const loaded: string[] = [];
  await store.get(["x"]);
  const monitor = client.duplicate();
  await monitor.connect();
  await monitor.monitor((line) => {
    // MONITOR reports the commands of all clients.
    if (!line.toString().includes(tag)) return;
    const digest = /"EVALSHA" "([0-9a-f]{40})"/.exec(line.toString())?.[1];
    if (digest !== undefined && !loaded.includes(digest)) loaded.push(digest);
  });
  await store.commit({ set: [{ key: ["x"], value: 1 }] });
  await store.list(["x"]);
  await new Promise((resolve) => setTimeout(resolve, 200));
  monitor.destroy();
  const [commit, list] = loaded as [string, string];
  const bytes = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };
  const send = (args: string[]) => client.sendCommand<unknown>(args, bytes);
  const get = (id: string) => send(["GET", `${tag}r:${id}`]);
  const sets = [`${tag}version`, `${tag}expiries`, `${tag}kinds`];
  const toKindPrefix = (id: string) => id.slice(0, id.indexOf("\u0001") + 1);
  const evaluate = (keys: string[], args: string[]) =>
    send(["EVALSHA", commit, String(keys.length), ...keys, ...args]);
  const head = (...counts: number[]) => [String(Date.now()), `${tag}changes:`, ...counts.map(String)];
  const pair = (id: string) => [`${tag}r:${id}`, `${tag}i:${toKindPrefix(id)}`];
  const value = (id: string, json: string) => [id, toKindPrefix(id), "-", "", "j", json];
  return {
    name: "Redis",
    store,
    raw: {
      get: async (id) => parseStored(await get(id) as Buffer),
      put: (id, json) => evaluate([...sets, ...pair(id)], [...head(0, 0, 1), ...value(id, json)]),
      async putAndTake(id, json) {
        await evaluate([...sets, `${tag}r:${id}`, ...pair(id)], [...head(1, 0, 1), "", ...value(id, json)]);
        const found = String(await get(id));
        await evaluate([...sets, `${tag}r:${id}`, ...pair(id)], [
          ...head(1, 1, 0),
          found.slice(0, found.indexOf(" ")),
          id,
        ]);
      },
      async list(after, limit) {
        const ends = ["(" + after, "(" + prefixRange([KIND]).high];
        const args = [`${tag}r:`, String(Date.now()), ...ends, String(limit), "0"];
        const found = await send(["EVALSHA", list, "1", `${tag}i:${encodeKey([KIND])}`, ...args]) as Buffer[];
        return found.filter((_, i) => i % 2 === 1).map(parseStored);
      },
    },
    async close() {
      await store.close();
      await clear();
      client.destroy();
    },
  };
}
