import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { sqliteStore } from "../sqlite.ts";
import { backupSqlite, checkBackup, removeSeal, sealBackup } from "./backup.ts";

const test = suite("sqlite backup");
const folder = mkdtempSync(join(tmpdir(), "trivet-sqlite-backup-"));
let names = 0;
const newFile = (): string => join(folder, `${++names}.db`);

/** A backup of a store with keys of several parts, texts, bytes and expiry. */
async function makeBackup(): Promise<string> {
  const [from, to] = [newFile(), newFile()];
  const store = sqliteStore(from);
  for (let i = 0; i < 30; i++) {
    const value = i % 3 === 0 ? new Uint8Array(700).fill(i) : { i, text: "x".repeat(300) };
    await store.commit({
      set: [{ key: ["kind", i, `name ${i}`], value, expires: i % 2 ? undefined : Date.now() + 3_600_000 }],
    });
  }
  backupSqlite(from, to);
  await store.close();
  return to;
}

function withDatabase<Result>(file: string, work: (database: DatabaseSync) => Result): Result {
  const database = new DatabaseSync(file);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

function contentsOf(file: string): string {
  return withDatabase(file, (database) => JSON.stringify(database.prepare("SELECT * FROM record").all()));
}

test("a sealed backup is confirmed by its digest, an unsealed one only checked", async () => {
  const file = await makeBackup();
  assert.equal(checkBackup(file), { isSealed: false });
  sealBackup(file);
  assert.equal(checkBackup(file), { isSealed: true });
  removeSeal(file);
  assert.equal(checkBackup(file), { isSealed: false });
});

test("a backup of a store that was restored with its seal gets a new one", async () => {
  const file = await makeBackup();
  sealBackup(file);
  withDatabase(file, (database) => database.exec("DELETE FROM record WHERE id % 2"));
  const second = newFile();
  backupSqlite(file, second);
  assert.throws(() => checkBackup(second), /digest/);
  sealBackup(second);
  assert.equal(checkBackup(second), { isSealed: true });
});

test("no bit flipped anywhere changes a record unseen", async () => {
  const file = await makeBackup();
  sealBackup(file);
  const bytes = readFileSync(file);
  const contents = contentsOf(file);
  let refused = 0;
  // A prime step, so that every part of a page has its turn.
  for (let at = 0; at < bytes.length; at += 61) {
    const damaged = newFile();
    const copy = Uint8Array.from(bytes);
    copy[at]! ^= 1 << (at % 8);
    writeFileSync(damaged, copy);
    try {
      checkBackup(damaged);
    } catch {
      refused++;
      continue;
    }
    assert.is(contentsOf(damaged), contents, `bit ${at % 8} of byte ${at}`);
  }
  assert.ok(refused > 200, `${refused} files were refused`);
});

test("a file of any shorter length is refused, with and without a digest in it", async () => {
  for (const isSealed of [true, false]) {
    const file = await makeBackup();
    if (isSealed) sealBackup(file);
    const bytes = readFileSync(file);
    for (const length of [0, 1, 99, 100, 4095, 4096, 8192, bytes.length - 4096, bytes.length - 1]) {
      const short = newFile();
      writeFileSync(short, bytes.subarray(0, length));
      assert.throws(() => checkBackup(short), /damaged/, `${length} bytes`);
    }
  }
});

test("a record that no store writes is refused without a digest too", async () => {
  const changes = {
    "a value that is not JSON": "UPDATE record SET value = '{' WHERE id = 2",
    "a value that is a number": "UPDATE record SET value = 7 WHERE id = 2",
    "a key without an end": "UPDATE record SET key = '1kind' WHERE id = 2",
    "no records": "DROP TABLE record",
    "no versions": "DROP TABLE sequence",
  };
  for (const [name, statement] of Object.entries(changes)) {
    const file = await makeBackup();
    withDatabase(file, (database) => database.exec(statement));
    assert.throws(() => checkBackup(file), /damaged/, name);
  }
});

test.after(() => rmSync(folder, { recursive: true, force: true }));
test.run();
