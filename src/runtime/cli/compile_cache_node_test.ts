import { spawn, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import nodeModule from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CLI, runtimeCommand } from "../../end_to_end/test_process.ts";

const test = suite("cli/compile_cache");
/** Deno and Bun keep their own. */
const isKept = process.versions.bun === undefined && !("Deno" in globalThis) &&
  nodeModule.enableCompileCache !== undefined;

let folder: string;
test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), "trivet-compiled-"));
});
test.after.each(() => rmSync(folder, { recursive: true, force: true }));

const kept = (): string => join(folder, "trivet", "compiled");
const hasFiles = (path: string): boolean =>
  existsSync(path) &&
  readdirSync(path, { recursive: true, withFileTypes: true }).some((entry) => entry.isFile());

function start(args: readonly string[], env: Readonly<Record<string, string>>) {
  const [command, before] = runtimeCommand();
  const { NODE_V8_COVERAGE: _, NODE_DISABLE_COMPILE_CACHE: __, NODE_COMPILE_CACHE: ___, ...inherited } =
    process.env;
  const options: SpawnOptions = {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...inherited, XDG_CACHE_HOME: folder, ...env },
  };
  return spawn(command, [...before, CLI, ...args], options);
}

async function printVersion(env: Readonly<Record<string, string>> = {}): Promise<number> {
  const [code] = await once(start(["--version"], env), "close");
  return code;
}

test("what was compiled is kept in a folder of the user, which only the user can read", async () => {
  assert.is(await printVersion(), 0);
  assert.is(hasFiles(kept()), isKept);
  if (isKept) assert.is(statSync(kept()).mode & 0o077, 0);
});

test("Node's own variables are respected", async () => {
  assert.is(await printVersion({ NODE_DISABLE_COMPILE_CACHE: "1" }), 0);
  const other = join(folder, "other");
  assert.is(await printVersion({ NODE_COMPILE_CACHE: other }), 0);
  assert.not(existsSync(kept()));
  if (isKept) assert.ok(hasFiles(other));
});

test("a folder that cannot be made is no error", async () => {
  writeFileSync(join(folder, "file"), "");
  assert.is(await printVersion({ XDG_CACHE_HOME: join(folder, "file") }), 0);
  assert.is(await printVersion({ XDG_CACHE_HOME: "/proc/none" }), 0);
});

test("a server that is killed has kept it too", async () => {
  if (!isKept) return;
  const child = start(["stdio", "--data", join(folder, "data")], {});
  while (!hasFiles(kept()) && child.exitCode === null) await setTimeout(50);
  child.kill("SIGKILL");
  assert.equal(await once(child, "close"), [null, "SIGKILL"]);
});

test.run();
