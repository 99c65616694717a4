import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { storeContract } from "./contract.ts";
import { sqliteStore } from "./sqlite.ts";
import { StoreUnavailableError } from "./store.ts";

const folder = mkdtempSync(join(tmpdir(), "trivet-sqlite-"));
let files = 0;
const newFile = () => join(folder, `${++files}.db`);

storeContract("sqlite", { open: async (now) => sqliteStore(newFile(), { now }) });
storeContract("sqlite in memory", { open: async (now) => sqliteStore(":memory:", { now }) });

const test = suite("sqlite");

test("records outlive the store that wrote them", async () => {
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

test("two connections to one file see each other's commits, and one of two racing wins", async () => {
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

test("watch() hears of another connection's commit: the prefix, to be read again", async () => {
  const file = newFile();
  const [a, b] = [sqliteStore(file), sqliteStore(file)];
  const reader = a.watch(["w"]).getReader();
  // The store's own timers keep no process alive.
  const alive = setTimeout(() => {}, 10_000);
  await b.commit({ set: [{ key: ["w", 1], value: 1 }] });
  assert.equal((await reader.read()).value, [["w"]]);
  clearTimeout(alive);
  await reader.cancel();
  await a.close();
  await b.close();
});

test("a lock that another process keeps is out of reach, and nothing of the commit is done; then it works again", async () => {
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

test("a file that is no database is refused when it is opened", () => {
  assert.throws(() => sqliteStore(fileURLToPath(import.meta.url)));
});

test("a commit that cannot be written rejects alone and leaves nothing behind", async () => {
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

test("kill -9 in the middle of writes loses no acknowledged write, and leaves none in half", async () => {
  const writer = fileURLToPath(new URL("./sqlite_writer_for_kill.ts", import.meta.url));
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
    // Each commit wrote two records: both are there, or neither.
    const left = await store.list(["left"], { limit: 100_000 });
    const right = await store.list(["right"], { limit: 100_000 });
    assert.equal(left.map((entry) => entry.value), right.map((entry) => entry.value));
    await store.close();
  }
});

/** What the runtime that runs this test needs to run another file. */
function runArguments(): string[] {
  return "Deno" in globalThis ? ["run", "-A", "--no-check"] : [];
}

test.after(() => rmSync(folder, { recursive: true, force: true }));

test.run();
