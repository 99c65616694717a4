import { copyFileSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CURRENT_FORMAT, FORMAT_VERSION, StoreFormatError } from "../../format.ts";
import { encodeKey, pageRange } from "../../key.ts";
import type { Put, Store } from "../../store.ts";
import { sqliteStore } from "../sqlite.ts";
import { loadSqlite, openDatabase, readPatiently, rebuildRecords, waitBriefly } from "./open.ts";
import { TestFiles } from "./test_files.ts";
import { until } from "../../../test_until.ts";

const test = suite("sqlite database");
const files = new TestFiles();
const newFile = () => files.create();

/** A file as earlier versions wrote it, whose large values were in the tree of the keys. */
function writeEarlierFile(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  database.exec(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE record (
      key TEXT PRIMARY KEY, value ANY NOT NULL, version INTEGER NOT NULL, expires INTEGER
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX record_expires ON record (expires) WHERE expires IS NOT NULL;
    CREATE TABLE sequence (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL) STRICT;
    INSERT INTO sequence VALUES (1, 7);
    PRAGMA user_version = ${FORMAT_VERSION};
  `);
  const insert = database.prepare("INSERT INTO record VALUES (?, ?, ?, ?)");
  insert.run(encodeKey(["format"]), JSON.stringify(CURRENT_FORMAT), 1, null);
  insert.run(encodeKey(["k", 1]), '{"a":1}', 3, null);
  insert.run(encodeKey(["k", 2]), new Uint8Array([1, 2, 3]), 7, 2 ** 42);
  return database;
}
const isEarlierForm = (database: DatabaseSync): boolean =>
  String(database.prepare("SELECT sql FROM sqlite_schema WHERE name = 'record'").get()!.sql)
    .includes("WITHOUT ROWID");

test("a file of an earlier version keeps its records, with their versions, while another process uses it", async () => {
  const file = newFile();
  const earlier = writeEarlierFile(file);
  const select = earlier.prepare("SELECT value FROM record WHERE key = ?");
  assert.is(select.get(encodeKey(["k", 1]))!.value, '{"a":1}');
  const store = sqliteStore(file);
  assert.not(isEarlierForm(earlier));
  assert.equal(await store.list(["k"]), [
    { key: ["k", 1], value: { a: 1 }, version: "3" },
    { key: ["k", 2], value: new Uint8Array([1, 2, 3]), version: "7", expires: 2 ** 42 },
  ]);
  assert.ok(
    await store.commit({ check: [{ key: ["k", 1], version: "3" }], set: [{ key: ["k", 1], value: 2 }] }),
  );
  assert.is(select.get(encodeKey(["k", 1]))!.value, "2");
  assert.is((await store.get(["k", 1]))!.version, "8");
  earlier.close();
  await store.close();
});

test("a file of an earlier version stays as it is, and usable, without the space for a copy", async () => {
  const file = newFile();
  const earlier = writeEarlierFile(file);
  earlier.prepare("INSERT INTO record VALUES (?, zeroblob(50000), 7, NULL)").run(encodeKey(["large"]));
  const { page_count: pages } = earlier.prepare("PRAGMA page_count").get() as { page_count: number };
  earlier.exec(`PRAGMA max_page_count = ${pages}`);
  rebuildRecords(earlier);
  assert.ok(isEarlierForm(earlier));
  earlier.prepare("UPDATE record SET value = '2' WHERE key = ?").run(encodeKey(["k", 1]));
  earlier.close();
  const store = sqliteStore(file);
  assert.is((await store.get(["k", 1]))!.value, 2);
  await store.close();
});

for (const isEarlier of [false, true]) {
  const form = isEarlier ? "a table of an earlier version" : "the current table";
  test(`a sweep of ${form} removes all expired records, however many expire at once, and no other`, async () => {
    const file = newFile();
    if (isEarlier) writeEarlierFile(file).close();
    const store = isEarlier ? withoutSpace(() => sqliteStore(file)) : sqliteStore(file);
    const now = Date.now();
    const put = (i: number, expires?: number): Put => ({
      key: ["e", i],
      value: 1,
      ...(expires && { expires }),
    });
    const expired = Array.from({ length: 3300 }, (_, i) => put(i, now - (i % 3 === 0 ? i : 5000)));
    const others = [put(4000, now + 60_000), put(4001)];
    await store.commit({ set: [...expired, ...others] });
    assert.is(await store.sweep(), expired.length);
    assert.is(await store.sweep(), 0);
    await store.close();
    const database = new DatabaseSync(file);
    assert.is(isEarlierForm(database), isEarlier);
    const keys = database.prepare("SELECT key FROM record WHERE key > ? AND key < ?");
    const { low, high } = pageRange(["e"], {});
    assert.equal(keys.all(low, high).map(({ key }) => key), others.map(({ key }) => encodeKey(key)));
    database.close();
  });
}

/** Opens a store on a disk without space for a copy of the table. */
function withoutSpace(open: () => Store): Store {
  const { exec } = DatabaseSync.prototype;
  DatabaseSync.prototype.exec = function (sql) {
    if (sql.includes("ALTER TABLE record")) throw new Error("database or disk is full");
    exec.call(this, sql);
  };
  try {
    return open();
  } finally {
    DatabaseSync.prototype.exec = exec;
  }
}

const walSizeOf = (file: string) => statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
/** Opens a copy of the main file without its WAL. */
function copyOf(file: string): Store {
  const copy = newFile();
  copyFileSync(file, copy);
  return sqliteStore(copy);
}

test("after close() the main file has all records, also while another connection is open", async () => {
  for (const isOpenElsewhere of [false, true]) {
    const file = newFile();
    const store = sqliteStore(file);
    const other = isOpenElsewhere ? sqliteStore(file) : undefined;
    const keys = Array.from({ length: 50 }, (_, i) => ["k", i]);
    const commits = keys.map((key) => store.commit({ set: [{ key, value: "x".repeat(1000) }] }));
    await store.close();
    await Promise.all(commits);
    assert.is(walSizeOf(file), 0);
    const copy = copyOf(file);
    assert.is((await copy.list(["k"])).length, keys.length);
    await copy.close();
    await other?.close();
  }
});

test("VACUUM INTO copies a database in use with all records and its format", async () => {
  const file = newFile();
  const store = sqliteStore(file);
  const commits = Array.from({ length: 50 }, (_, i) => store.commit({ set: [{ key: ["k", i], value: i }] }));
  await Promise.all(commits);
  assert.ok(walSizeOf(file) > 0);
  const into = newFile();
  const tool = new DatabaseSync(file);
  tool.exec(`VACUUM INTO '${into}'`);
  tool.close();
  const copy = sqliteStore(into);
  assert.is((await copy.list(["k"])).length, 50);
  await copy.close();
  await store.close();
});

test("a WAL that grew during a read transaction is checkpointed and truncated, and the main file has all records", async () => {
  const file = newFile();
  const store = sqliteStore(file, { checkpointEvery: 10 });
  await store.commit({ set: [{ key: ["first"], value: 1 }] });
  const reader = new DatabaseSync(file);
  reader.exec("BEGIN");
  reader.prepare("SELECT * FROM record").all();
  const value = new Uint8Array(1_000_000);
  for (let i = 0; i < 20; i++) await store.commit({ set: [{ key: ["k", i], value }] });
  assert.ok(walSizeOf(file) > 20_000_000);
  reader.exec("COMMIT");
  await until(() => walSizeOf(file) === 0);
  const copy = copyOf(file);
  assert.is((await copy.list(["k"])).length, 20);
  await copy.close();
  reader.close();
  await store.close();
});

test("a WAL that a killed process left is checkpointed when the database is opened", async () => {
  const file = newFile();
  const killed = new DatabaseSync(file);
  await sqliteStore(file).close();
  killed.exec("PRAGMA wal_autocheckpoint = 0");
  killed.exec(
    "INSERT INTO record (key, value, version, expires) VALUES ('1k\u0001', zeroblob(5000000), 7, NULL)",
  );
  const left = newFile();
  for (const ending of ["", "-wal"]) copyFileSync(file + ending, left + ending);
  assert.ok(walSizeOf(left) > 5_000_000);
  const store = sqliteStore(left);
  assert.is(walSizeOf(left), 0);
  assert.is((await store.get<Uint8Array>(["k"]))?.value.length, 5_000_000);
  await store.close();
  killed.close();
});

test("the option durable sets PRAGMA synchronous, in WAL mode", () => {
  for (const [durable, synchronous] of [["power", 2], ["process", 1]] as const) {
    const database = openDatabase(newFile(), { durable, busyTimeout: 0 });
    assert.is(database.prepare("PRAGMA synchronous").get()!.synchronous, synchronous);
    assert.is(database.prepare("PRAGMA journal_mode").get()!.journal_mode, "wal");
    database.close();
  }
});

test("a read that finds a lock is tried again with the whole busyTimeout, and other errors are not", () => {
  const database = openDatabase(newFile(), { durable: "process", busyTimeout: 700 });
  waitBriefly(database, 700);
  const timeouts: unknown[] = [];
  const read = (error: Error) => () => {
    timeouts.push(database.prepare("PRAGMA busy_timeout").get()!.timeout);
    if (timeouts.length % 2 === 1) throw error;
    return "value";
  };
  const locked = Object.assign(new Error("database is locked"), { errcode: 5 });
  assert.is(readPatiently(database, 700, read(locked)), "value");
  assert.is(database.prepare("PRAGMA busy_timeout").get()!.timeout, 20);
  const other = Object.assign(new Error("no such table: record"), { errcode: 1 });
  assert.throws(() => readPatiently(database, 700, read(other)), (error: unknown) => error === other);
  assert.equal(timeouts, [20, 700, 20]);
  database.close();
});

test("a file that is not a database is refused when it is opened", () => {
  assert.throws(() => sqliteStore(fileURLToPath(import.meta.url)));
});

test("PRAGMA user_version is the format version, and a newer one is refused before any table is read", async () => {
  const file = newFile();
  await sqliteStore(file).close();
  const database = new DatabaseSync(file);
  assert.is(database.prepare("PRAGMA user_version").get()!.user_version, FORMAT_VERSION);
  // As versions without the format record left it.
  database.exec("PRAGMA user_version = 0; DELETE FROM record");
  await sqliteStore(file).close();
  assert.is(database.prepare("PRAGMA user_version").get()!.user_version, FORMAT_VERSION);
  database.exec(`PRAGMA user_version = ${FORMAT_VERSION + 1}; DROP TABLE record; DROP TABLE sequence`);
  assert.throws(() => sqliteStore(file), (error: Error) => error instanceof StoreFormatError);
  assert.equal(database.prepare("SELECT name FROM sqlite_schema").all(), []);
  database.close();
});

test("a database of another program is refused and not changed", () => {
  const file = newFile();
  const database = new DatabaseSync(file);
  database.exec("CREATE TABLE notes (text)");
  assert.throws(() => sqliteStore(file), (error: Error) => error instanceof StoreFormatError);
  assert.is(database.prepare("SELECT count(*) AS n FROM sqlite_schema").get()!.n, 1);
  assert.is(database.prepare("PRAGMA journal_mode").get()!.journal_mode, "delete");
  database.close();
});

test("a runtime without node:sqlite is refused with an error that names it", () => {
  assert.throws(() => loadSqlite(() => undefined), /node:sqlite/);
  assert.type(loadSqlite().DatabaseSync, "function");
});

test.after(() => files.remove());

test.run();
