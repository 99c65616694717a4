import { spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { storeContract } from "../contract/contract.ts";
import { CURRENT_FORMAT, FORMAT_VERSION, StoreFormatError } from "../format.ts";
import { sqliteStore } from "./sqlite.ts";
import { encodeKey, pageRange } from "../key.ts";
import { loadSqlite, openDatabase, rebuildRecords } from "./sqlite/open.ts";
import { type Put, type Store, StoreUnavailableError } from "../store.ts";

const folder = mkdtempSync(join(tmpdir(), "trivet-sqlite-"));
let files = 0;
const newFile = () => join(folder, `${++files}.db`);

storeContract("sqlite", {
  open: async (now) => sqliteStore(newFile(), { now }),
  reopen: async (now, options) => sqliteStore(join(folder, `${files}.db`), { now, ...options }),
});
storeContract("sqlite in memory", { open: async (now) => sqliteStore(":memory:", { now }) });

const test = suite("sqlite");

test("records persist after the store is closed", async () => {
  const file = newFile();
  const first = sqliteStore(file);
  await first.commit({ set: [{ key: ["k"], value: { kept: true } }] });
  const { version } = (await first.get(["k"]))!;
  await first.close();
  const second = sqliteStore(file);
  assert.equal((await second.get(["k"]))?.value, { kept: true });
  await second.commit({ set: [{ key: ["k"], value: 2 }] });
  assert.is.not((await second.get(["k"]))!.version, version);
  await second.close();
});

test("two connections to one file see each other's commits, and exactly one of concurrent commits succeeds", async () => {
  const file = newFile();
  const [a, b] = [sqliteStore(file), sqliteStore(file)];
  for (let round = 0; round < 50; round++) {
    const key = ["race", round];
    const outcomes = await Promise.all(
      [a, b, a, b].map((store, i) =>
        store.commit({ check: [{ key, version: null }], set: [{ key, value: i }] })
      ),
    );
    assert.is(outcomes.filter(Boolean).length, 1);
    assert.is((await b.get(key))?.value, outcomes.indexOf(true));
  }
  await a.close();
  await b.close();
});

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

test("watch() is notified with the prefix after a commit of another connection", async () => {
  const file = newFile();
  const [a, b] = [sqliteStore(file), sqliteStore(file)];
  const reader = a.watch(["w"]).getReader();
  // Timers of the store do not keep the process alive.
  const alive = setTimeout(() => {}, 10_000);
  await b.commit({ set: [{ key: ["w", 1], value: 1 }] });
  assert.equal((await reader.read()).value, [["w"]]);
  clearTimeout(alive);
  await reader.cancel();
  await a.close();
  await b.close();
});

test("a commit while another connection holds the lock gets StoreUnavailableError and writes nothing", async () => {
  const file = newFile();
  const store = sqliteStore(file, { busyTimeout: 20 });
  const other = new DatabaseSync(file);
  other.exec("BEGIN IMMEDIATE");
  const refused = await store.commit({ set: [{ key: ["k"], value: 1 }] }).catch((error: Error) => error);
  assert.instance(refused, StoreUnavailableError);
  other.exec("COMMIT");
  assert.is(await store.get(["k"]), undefined);
  assert.is(await store.commit({ set: [{ key: ["k"], value: 2 }] }), true);
  other.close();
  await store.close();
});

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
  for (let i = 0; i < 500 && walSizeOf(file) > 0; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.is(walSizeOf(file), 0);
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

test("many concurrent commits of large values are applied whole and in order", async () => {
  const store = sqliteStore(newFile());
  const value = new Uint8Array(1_500_000);
  const done = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      store.commit({
        check: [{ key: ["k", i % 5], version: null }],
        set: [{ key: ["k", i % 5], value }, { key: ["n", i], value: i }],
      })),
  );
  assert.equal(done, Array.from({ length: 20 }, (_, i) => i < 5));
  assert.equal((await store.list(["n"])).map(({ value }) => value), [0, 1, 2, 3, 4]);
  const versions = new Set((await store.list(["k"])).map(({ version }) => version));
  assert.is(versions.size, 5);
  await store.close();
});

test("a clock jump during a sweep removes no record, which is readable after the correction", async () => {
  const at = { now: Date.now(), monotonic: 0 };
  const file = newFile();
  const store = sqliteStore(file, { now: () => at.now, monotonic: () => at.monotonic });
  await store.commit({ set: [{ key: ["revoked"], value: 1, expires: at.now + 7_200_000 }] });
  at.now += 3 * 3600_000;
  assert.is(await store.get(["revoked"]), undefined);
  assert.is(await store.sweep(), 0);
  at.now -= 3 * 3600_000;
  assert.is((await store.get(["revoked"]))?.value, 1);
  assert.is(await store.sweep(), 0);
  at.now += 8_000_000;
  at.monotonic += 8_000_000;
  assert.is(await store.sweep(), 1);
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

test("the page cache is small while a commit with a value of 64 KiB is written, also one that fails", async () => {
  const sizes: unknown[] = [];
  const { exec } = DatabaseSync.prototype;
  DatabaseSync.prototype.exec = function (sql) {
    if (sql.startsWith("BEGIN")) sizes.push(this.prepare("PRAGMA cache_size").get()!.cache_size);
    exec.call(this, sql);
  };
  const file = newFile();
  const store = sqliteStore(file, { busyTimeout: 0 });
  const commitBytes = (length: number) =>
    store.commit({ set: [{ key: ["k"], value: new Uint8Array(length) }] });
  try {
    await commitBytes(65_535);
    await commitBytes(65_536);
    await commitBytes(65_535);
    const other = new DatabaseSync(file);
    exec.call(other, "BEGIN IMMEDIATE");
    await commitBytes(65_536).then(() => assert.unreachable(), () => {});
    other.close();
    await commitBytes(1);
  } finally {
    DatabaseSync.prototype.exec = exec;
    await store.close();
  }
  // In KiB, which SQLite writes as a negative number.
  assert.equal(sizes, [-2000, -512, -2000, -512, -2000]);
});

test("the option durable sets PRAGMA synchronous, in WAL mode", () => {
  for (const [durable, synchronous] of [["power", 2], ["process", 1]] as const) {
    const database = openDatabase(newFile(), { durable, busyTimeout: 0 });
    assert.is(database.prepare("PRAGMA synchronous").get()!.synchronous, synchronous);
    assert.is(database.prepare("PRAGMA journal_mode").get()!.journal_mode, "wal");
    database.close();
  }
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

test("a commit that cannot be serialized rejects alone and writes nothing", async () => {
  const store = sqliteStore(":memory:");
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  const bad = store.commit({ set: [{ key: ["a"], value: 1 }, { key: ["b"], value: cyclic }] });
  const good = store.commit({ set: [{ key: ["c"], value: 1 }] });
  assert.is(await bad.then(() => "resolved", () => "rejected"), "rejected");
  assert.is(await good, true);
  assert.is(await store.get(["a"]), undefined);
  assert.is(await store.commit({ set: [{ key: ["a"], value: 2 }] }), true);
  await store.close();
});

test("SIGKILL during writes loses no acknowledged commit and leaves no partial one", async () => {
  const writer = fileURLToPath(new URL("./sqlite/writer_for_kill.ts", import.meta.url));
  for (let round = 0; round < 3; round++) {
    const file = newFile();
    const child = spawn(process.execPath, [...runArguments(), writer, file], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let acknowledged = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      acknowledged = Number(line);
      if (acknowledged >= 200 + 37 * round) child.kill("SIGKILL");
    }
    assert.ok(acknowledged >= 200);
    const store = sqliteStore(file);
    for (let n = 1; n <= acknowledged; n++) {
      assert.is((await store.get(["left", n]))?.value, n, `write ${n} of ${acknowledged} is lost`);
    }
    // Each commit sets two records: both are there, or neither.
    const left = await store.list(["left"], { limit: 100_000 });
    const right = await store.list(["right"], { limit: 100_000 });
    assert.equal(left.map((entry) => entry.value), right.map((entry) => entry.value));
    await store.close();
  }
});

test("invalid options are refused before a file is made", () => {
  const file = newFile();
  for (const options of [{ durable: "zz" }, { busyTimeout: "zz" }, { busyTimeout: NaN }]) {
    const open = () => sqliteStore(file, options as never);
    assert.throws(
      open,
      (error: Error) =>
        error.message.startsWith("Invalid options: ") && /"(durable|busyTimeout)"/.test(error.message),
    );
  }
  assert.is(statSync(file, { throwIfNoEntry: false }), undefined);
});

test("a runtime without node:sqlite is refused with an error that names it", () => {
  assert.throws(() => loadSqlite(() => undefined), /node:sqlite/);
  assert.type(loadSqlite().DatabaseSync, "function");
});

/** Arguments with which this runtime runs another file. */
function runArguments(): string[] {
  return "Deno" in globalThis ? ["run", "-A", "--no-check"] : [];
}

test.after(() => rmSync(folder, { recursive: true, force: true }));

test.run();
