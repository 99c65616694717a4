import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../../scripts/test/run_files.ts";
import { sqliteStore } from "../sqlite.ts";
import { databaseFile, protectDatabase } from "./file.ts";

const folder = mkdtempSync(join(tmpdir(), "trivet-sqlite-file-"));
const test = suite("sqlite file");
let names = 0;
const umask = process.umask();

/** A folder with mode 755, which every user can read, as a volume or `mkdir` creates it. */
function openFolder(): string {
  const path = join(folder, String(++names));
  mkdirSync(path);
  chmodSync(path, 0o755);
  return path;
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
const modesOf = (file: string) => [file, `${file}-wal`, `${file}-shm`].map(modeOf);
const put = (n: number) => ({ set: [{ key: ["k", n], value: n }] });

test.before.each(() => chmodSync(folder, 0o755));
test.after.each(() => void process.umask(umask));
test.after(() => rmSync(folder, { recursive: true, force: true }));

if (process.platform === "win32") {
  skipBecause(test, "Windows has no file modes");
} else {
  for (const mask of [0o000, 0o022, 0o077]) {
    test(`a database, its WAL and its shared memory have mode 600 with the umask ${mask.toString(8)}`, async () => {
      const file = join(openFolder(), "trivet.db");
      process.umask(mask);
      const store = sqliteStore(file);
      await store.commit(put(1));
      assert.equal(modesOf(file), ["600", "600", "600"]);
      await store.close();
      assert.is(modeOf(file), "600");
    });
  }

  test("a file system without new folders is an error", () => {
    if (existsSync("/proc/self")) assert.throws(() => sqliteStore("/proc/none/trivet.db"));
  });

  test("a database with mode 644 gets mode 600 when it is opened, also while another connection is open", async () => {
    const file = join(openFolder(), "trivet.db");
    process.umask(0);
    const before = new DatabaseSync(file);
    before.exec(
      "PRAGMA journal_mode = WAL; CREATE TABLE record (key TEXT PRIMARY KEY, value ANY NOT NULL, version INTEGER NOT NULL, expires INTEGER) STRICT, WITHOUT ROWID",
    );
    assert.equal(modesOf(file), ["644", "644", "644"]);
    const store = sqliteStore(file);
    await store.commit(put(1));
    assert.equal(modesOf(file), ["600", "600", "600"]);
    before.close();
    await store.close();
  });

  test("a missing folder is made, which only its owner can read", async () => {
    const file = join(openFolder(), "new/data/trivet.db");
    await sqliteStore(file).close();
    assert.equal([modeOf(dirname(file)), modeOf(file)], ["700", "600"]);
  });

  test("a database named by a URI gets mode 600, and one in memory creates no file", async () => {
    const file = join(openFolder(), "a b.db");
    process.umask(0);
    const store = sqliteStore(`file:${file.replace(" ", "%20")}?cache=private`);
    await store.commit(put(1));
    assert.equal(modesOf(file), ["600", "600", "600"]);
    await store.close();
    assert.equal(
      ["", ":memory:", "file::memory:", "file:x?mode=memory", "file:x?a=mode=memory", "file://host/x"].map(
        databaseFile,
      ),
      [undefined, undefined, undefined, undefined, "x", "/x"],
    );
  });

  const mayChangeUser = process.getuid?.() === 0 && !("Deno" in globalThis) && !("Bun" in globalThis);
  if (mayChangeUser) {
    test("a mode that cannot be changed causes a warning", () => {
      const file = join(openFolder(), "trivet.db");
      writeFileSync(file, "");
      chmodSync(file, 0o666);
      const warnings: string[] = [];
      process.seteuid!(65534);
      try {
        protectDatabase(file, (message) => warnings.push(message));
      } finally {
        process.seteuid!(0);
      }
      assert.is(warnings.length, 1);
      assert.is(modeOf(file), "666");
    });
  }
}

test.run();
