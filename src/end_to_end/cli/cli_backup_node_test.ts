import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { dropStore } from "../../../scripts/cluster/cluster.ts";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { compareRecords, copyRecords, countRecords } from "../../store/copy.ts";
import { postgresStore } from "../../store/drivers/postgres.ts";
import { sqliteStore } from "../../store/drivers/sqlite.ts";
import type { Store } from "../../store/store.ts";
import { findEngine } from "../../store/test_engines.ts";
import { runCommand } from "./test_command.ts";
import { CLI, runtimeCommand, startTrivet, temporaryFolder, trivet } from "../test_process.ts";

const test = suite("cli/backup");
const folder = temporaryFolder();
const at = (...names: string[]): string => join(folder.path, ...names);
const SCHEMA = `trivet_backup_${process.pid}`;

/** Writes pairs of records that are equal in every state of the store, until `stop`. */
function writePairs(store: Store): { stop(): Promise<number> } {
  let isStopped = false;
  const run = async (): Promise<number> => {
    let i = 0;
    for (; !isStopped; i++) {
      const value = { i, filling: "x".repeat(200) };
      // Far apart in key order, so that a copy which reads page by page sees them at different times.
      await store.commit({ set: [{ key: ["a_first"], value }, { key: ["z_last"], value }] });
    }
    return i;
  };
  const done = run();
  return {
    stop() {
      isStopped = true;
      return done;
    },
  };
}

async function fill(store: Store): Promise<void> {
  for (let i = 0; i < 40; i++) {
    const set = Array.from({ length: 100 }, (_, j) => ({ key: ["m_filling", i, j], value: { i, j } }));
    await store.commit({ set });
  }
  await store.commit({ set: [{ key: ["bytes"], value: new Uint8Array([0, 1, 255]) }] });
}

/** Backs up while pairs are written, restores, and compares the pairs. */
async function backUpUnderLoad(store: Store, source: string[], name: string): Promise<void> {
  await fill(store);
  const writing = writePairs(store);
  const file = at(`${name}.db`);
  const made = await trivet(["backup", file, ...source, "--json"]);
  const written = await writing.stop();
  assert.is(made.code, 0, made.stderr);
  assert.ok(written > 10, `${written} commits beside the backup`);
  assert.is(statSync(file).mode & 0o777, 0o600);
  const { records, sha256 } = JSON.parse(made.stdout);
  const target = ["--data", at(`${name}-restored`)];
  const restored = await trivet(["restore", file, ...target, "--json"]);
  assert.is(restored.code, 0, restored.stderr);
  assert.equal(JSON.parse(restored.stdout), { records, sha256, verified: true, upgraded: false });
  const copy = sqliteStore(at(`${name}-restored`, "trivet.db"));
  const [first, last, bytes] = await Promise.all(
    [["a_first"], ["z_last"], ["bytes"]].map((key) => copy.get<unknown>(key)),
  );
  assert.equal(first!.value, last!.value);
  assert.equal([...bytes!.value as Uint8Array], [0, 1, 255]);
  assert.is((await copy.list(["m_filling"], { limit: 5000 })).length, 4000);
  await copy.close();
}

test("SQLite: a backup beside writing servers has the state of one moment", async () => {
  mkdirSync(at("live"));
  const store = sqliteStore(at("live", "trivet.db"));
  try {
    await backUpUnderLoad(store, ["--data", at("live")], "sqlite");
  } finally {
    await store.close();
  }
});

const address = await findEngine("postgres");
if (!address) skipBecause(test, "no postgres listens: backups of it are not tested");
else {test("PostgreSQL: the same, and a backup of one engine fills another", async () => {
    const own = `${address}?schema=${SCHEMA}`;
    const store = postgresStore(own);
    try {
      await backUpUnderLoad(store, ["--store", own, "--data", at("unused")], "postgres");
      const other = `${address}?schema=${SCHEMA}_copy`;
      const { code, stderr } = await trivet([
        "restore",
        at("sqlite.db"),
        "--store",
        other,
        "--data",
        at("unused"),
      ]);
      assert.is(code, 0, stderr);
      const full = await trivet(["restore", at("sqlite.db"), "--store", other, "--data", at("unused")]);
      assert.is(full.code, 1);
      assert.match(full.stderr, "not empty");
    } finally {
      await store.close();
      for (const schema of [SCHEMA, SCHEMA + "_copy"]) await dropStore(`${address}?schema=${schema}`);
    }
  });}

test("a server on restored data knows its clients, users and keys", async () => {
  const running = await startTrivet(["--data", at("served")]);
  const { client, api_key } = running.facts;
  try {
    const { code, stderr } = await trivet(["backup", at("served.db"), "--data", at("served")]);
    assert.is(code, 0, stderr);
  } finally {
    await running.stop();
  }
  assert.is((await trivet(["restore", at("served.db"), "--data", at("again")])).code, 0);
  const again = await startTrivet(["--data", at("again"), "--no-demo"]);
  try {
    const body = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: client.id,
      client_secret: client.secret!,
    });
    assert.is((await fetch(`${again.facts.url}/oauth/token`, { method: "POST", body })).status, 200);
    const headers = { "x-api-key": api_key! };
    assert.is((await fetch(`${again.facts.url}/v1/skills`, { headers })).status, 200);
  } finally {
    await again.stop();
  }
});

if (!address) skipBecause(test, "no postgres listens: interrupted restores are not tested");
else {test("a store with a part of a backup is refused by all commands, and the same restore completes it", async () => {
    const target = `${address}?schema=${SCHEMA}_part`;
    const place = ["--store", target, "--data", at("part")];
    const file = at("served.db");
    writeFileSync(at("source.db"), readFileSync(file));
    const from = sqliteStore(at("source.db"));
    const to = postgresStore(target);
    const copied = new Error("enough");
    let pages = 0;
    const digest = readFileSync(file + ".sha256", "utf8").slice(0, 64);
    const progress = () => {
      if (pages++ === 5) {
        throw copied;
      }
    };
    try {
      assert.is(
        await copyRecords(from, to, progress, digest).catch((error) =>
          error
        ),
        copied,
      );
      const other = at("other", "trivet.db");
      const refused = [
        ["serve", "--port", "0", ...place],
        ["doctor", ...place],
        ["user", "list", ...place],
        ["skill", "list", ...place],
        ["upgrade", ...place],
        ["backup", at("part.db"), ...place],
        ["migrate", "--from", target, "--to", "sqlite", "--data", at("other")],
        ["restore", at("sqlite.db"), ...place],
      ];
      const present = await countRecords(to);
      for (const args of refused) {
        const { code, stdout, stderr } = await runCommand(args);
        assert.is(code, 1, args.join(" "));
        assert.match(stdout + stderr, "interrupted", args.join(" "));
      }
      assert.not.ok(existsSync(at("part.db")));
      assert.not.ok(existsSync(other));
      assert.is(await countRecords(to), present);
      // What was copied is not yet what the file has, for example after a copy by an earlier version.
      const [first] = await to.list([], { limit: 1 });
      await to.commit({ set: [{ key: first!.key, value: "other" }, { key: ["a", "left over"], value: 1 }] });
      const restored = await runCommand(["restore", file, ...place]);
      assert.is(restored.code, 0, restored.stderr);
      assert.equal((await compareRecords(from, to)).differences, []);
      assert.is((await runCommand(["user", "list", ...place])).code, 0);
    } finally {
      await from.close();
      await to.close();
      await dropStore(target);
    }
  });}

test("a damaged, shortened or exchanged file is refused and changes nothing, with and without .sha256", async () => {
  const file = at("served.db");
  const bytes = readFileSync(file);
  const value = bytes.indexOf("http://127.0.0.1");
  assert.ok(value > 0);
  const damages: Record<string, (copy: Buffer) => Uint8Array> = {
    "a page": (copy) => copy.fill(0x5a, 4096, 4200),
    "one bit of a value": (copy) => copy.fill(copy[value]! ^ 2, value, value + 1),
    "the last page": (copy) => copy.subarray(0, -4096),
    "everything": () => new Uint8Array(),
  };
  for (const [name, damage] of Object.entries(damages)) {
    for (const isNoted of [true, false]) {
      const damaged = at(`damaged ${name} ${isNoted}.db`);
      writeFileSync(damaged, damage(Buffer.from(bytes)));
      if (isNoted) writeFileSync(damaged + ".sha256", readFileSync(file + ".sha256"));
      const { code, stderr } = await trivet(["restore", damaged, "--data", at("damaged")]);
      assert.is(code, 1, name);
      assert.match(stderr, isNoted ? "SHA-256" : "damaged", name);
      assert.not.ok(existsSync(at("damaged")));
    }
  }
});

test("the digest in the file is enough, and does not stay in the store", async () => {
  const moved = at("moved.db");
  writeFileSync(moved, readFileSync(at("served.db")));
  const restored = await trivet(["restore", moved, "--data", at("moved"), "--json"]);
  assert.is(restored.code, 0, restored.stderr);
  assert.is(JSON.parse(restored.stdout).verified, true);
  assert.is((await trivet(["backup", at("second.db"), "--data", at("moved")])).code, 0);
  assert.is((await trivet(["restore", at("second.db"), "--data", at("second")])).code, 0);
});

test("neither command replaces anything, and a store that does not exist is an error", async () => {
  const refused = [
    ["backup", at("served.db"), "--data", at("served")],
    ["backup", at("new.db"), "--data", at("absent")],
    ["restore", at("served.db"), "--data", at("again")],
    ["restore", at("absent.db"), "--data", at("new")],
  ];
  for (const args of refused) assert.is((await trivet(args)).code, 1, args.join(" "));
  assert.not.ok(existsSync(at("absent")));
  assert.is((await trivet(["backup"])).code, 2);
});

test("a place that is not what it must be is named", async () => {
  for (
    const [args, message] of [
      [["restore", folder.path, "--data", at("new")], `"${folder.path}" is not a file`],
      [
        ["backup", at("absent", "new.db"), "--data", at("served")],
        `The folder "${at("absent")}" does not exist: make it first`,
      ],
      [["restore", at("served.db"), "--data", at("served.db")], `"${at("served.db")}" is not a folder`],
      [
        ["backup", at("new.db"), "--store", "postgres://127.0.0.1:1/x"],
        "PostgreSQL is unavailable (ECONNREFUSED)",
      ],
    ] as const
  ) {
    assert.is((await trivet(args)).stderr, `trivet ${args[0]}: ${message}\n`);
  }
});

/** Runs a command, and ends it by a signal as soon as a file with the copy is in a folder, which only its owner can read. */
async function interrupt(
  args: readonly string[],
  inFolder: string,
  signal: NodeJS.Signals,
): Promise<number | null> {
  const [command, before] = runtimeCommand();
  const child = spawn(command, [...before, CLI, ...args], { stdio: "ignore" });
  const ended = once(child, "close");
  const find = () => existsSync(inFolder) && readdirSync(inFolder).find((name) => name.endsWith(".part"));
  while (!find() && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 2));
  assert.is(statSync(join(inFolder, find() as string)).mode & 0o077, 0);
  // By number: Deno's `child.kill()` reports the signal instead of the exit code.
  process.kill(child.pid!, signal);
  return (await ended)[0];
}

test("a signal leaves no copy of the records, which have private keys", async () => {
  const store = sqliteStore(at("large", "trivet.db"));
  for (let i = 0; i < 60; i++) {
    await store.commit({ set: [{ key: ["large", i], value: new Uint8Array(1 << 19) }] });
  }
  await store.close();
  const [file, source] = [at("large.db"), ["--data", at("large")]];
  assert.is(await interrupt(["backup", file, ...source], folder.path, "SIGTERM"), 143);
  assert.equal(readdirSync(folder.path).filter((name) => name.startsWith("large.db")), []);
  assert.is((await trivet(["backup", file, ...source])).code, 0);
  chmodSync(file, 0o644);
  const target = at("large target");
  const restore = ["restore", file, "--data", target];
  for (const [signal, code] of [["SIGTERM", 143], ["SIGHUP", 129]] as const) {
    assert.is(await interrupt(restore, target, signal), code);
    assert.equal(readdirSync(target).filter((name) => name !== "trivet.db"), [], signal);
  }
  // Nothing runs when a process is killed: the next one removes what it left, but not what one that runs writes.
  await interrupt(restore, target, "SIGKILL");
  assert.is(readdirSync(target).filter((name) => name.endsWith(".part")).length, 1);
  const other = `restore-${process.pid}.part`;
  writeFileSync(join(target, other), "");
  assert.is((await trivet(restore)).code, 0);
  assert.equal(readdirSync(target).sort(), [other, "trivet.db"]);
});

test("a data folder that cannot be written is the cause, not the backup", async () => {
  // Linux: the folder exists, and takes no file.
  const unwritable = "/proc/self";
  if (!existsSync(unwritable)) return;
  const { code, stderr } = await trivet(["restore", at("served.db"), "--data", unwritable]);
  assert.is(code, 1);
  assert.not.match(stderr, at("served.db"));
});

test.after(() => folder.remove());
test.run();
