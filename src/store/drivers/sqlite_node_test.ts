import { spawn } from "node:child_process";
import { statSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { storeContract } from "../contract/contract.ts";
import { StoreUnavailableError } from "../store.ts";
import { sqliteStore } from "./sqlite.ts";
import { TestFiles } from "./sqlite/test_files.ts";

const files = new TestFiles();
const newFile = () => files.create();

storeContract("sqlite", {
  open: async (now) => sqliteStore(newFile(), { now }),
  reopen: async (now, options) => sqliteStore(files.last, { now, ...options }),
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

test("a commit waits for the lock of another process while the event loop goes on", async () => {
  const file = newFile();
  const store = sqliteStore(file);
  const other = new DatabaseSync(file);
  other.exec("BEGIN IMMEDIATE");
  const committed = [1, 2].map((value) => store.commit({ set: [{ key: ["k", value], value }] }));
  // A process that stops for its lock could not release this one.
  setTimeout(() => other.exec("COMMIT"), 100);
  assert.equal(await Promise.all(committed), [true, true]);
  other.close();
  await store.close();
});

test("a sweep waits for the lock of another process as a commit does", async () => {
  const file = newFile();
  const store = sqliteStore(file);
  const impatient = sqliteStore(file, { busyTimeout: 50 });
  const other = new DatabaseSync(file);
  const expired = { key: ["k"], value: 1, expires: Date.now() - 1 };
  await store.commit({ set: [expired] });
  other.exec("BEGIN IMMEDIATE");
  setTimeout(() => other.exec("COMMIT"), 100);
  assert.is(await store.sweep(), 1);
  await store.commit({ set: [expired] });
  other.exec("BEGIN IMMEDIATE");
  const reason = await impatient.sweep().then(() => undefined, (error) => error);
  assert.instance(reason, StoreUnavailableError);
  await impatient.close();
  // One that waits while its store is closed ends.
  const sweeping = store.sweep();
  await store.close();
  assert.is(await sweeping, 0);
  other.close();
});

test("a read that meets a disk error gets StoreUnavailableError, any other error stays as it is", async () => {
  const store = sqliteStore(newFile());
  const { get, all, run } = StatementSync.prototype;
  const calls = [() => store.get(["k"]), () => store.list(["k"]), () => store.sweep()];
  try {
    for (
      const [message, errcode, isDisk] of [["disk I/O error", 522, true], ["malformed", 11, false]] as const
    ) {
      const fail = (): never => {
        throw Object.assign(new Error(message), { errcode });
      };
      Object.assign(StatementSync.prototype, { get: fail, all: fail, run: fail });
      for (const call of calls) {
        const error = await call().then(() => undefined, (error: unknown) => error);
        assert.instance(error, Error, message);
        assert.is(error instanceof StoreUnavailableError, isDisk, message);
      }
    }
  } finally {
    Object.assign(StatementSync.prototype, { get, all, run });
  }
  assert.is(await store.get(["k"]), undefined);
  await store.close();
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

test("the page cache is small while a commit with a value of 64 KiB is written, also one that fails", async () => {
  const sizes: unknown[] = [];
  let fails = false;
  const { exec } = DatabaseSync.prototype;
  DatabaseSync.prototype.exec = function (sql) {
    if (sql === "COMMIT") {
      sizes.push(this.prepare("PRAGMA cache_size").get()!.cache_size);
      if (fails) throw new Error("disk I/O error");
    }
    exec.call(this, sql);
  };
  const store = sqliteStore(newFile());
  const commitBytes = (length: number) =>
    store.commit({ set: [{ key: ["k"], value: new Uint8Array(length) }] });
  try {
    await commitBytes(65_535);
    await commitBytes(65_536);
    await commitBytes(65_535);
    fails = true;
    await commitBytes(65_536).then(() => assert.unreachable(), () => {});
    fails = false;
    await commitBytes(1);
  } finally {
    DatabaseSync.prototype.exec = exec;
    await store.close();
  }
  // In KiB, which SQLite writes as a negative number.
  assert.equal(sizes, [-2000, -512, -2000, -512, -2000]);
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
        error.message.startsWith("Invalid options: ") &&
        /"sqliteStore\.(durable|busyTimeout)"/.test(error.message),
    );
  }
  assert.is(statSync(file, { throwIfNoEntry: false }), undefined);
});

/** Arguments with which this runtime runs another file. */
function runArguments(): string[] {
  return "Deno" in globalThis ? ["run", "-A", "--no-check"] : [];
}

test.after(() => files.remove());

test.run();
