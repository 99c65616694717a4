import { spawn, spawnSync, type StdioOptions } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CLI, newDataFolder, runtimeCommand, startTrivet, temporaryFolder } from "../test_process.ts";

const test = suite("trivet with a closed output");
const folder = temporaryFolder();
test.after(() => folder.remove());

/** Runs a command whose standard output is not read. */
function runUnread(args: readonly string[]): Promise<{ code: number | null; stderr: string }> {
  const [command, before] = runtimeCommand();
  const child = spawn(command, [...before, CLI, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.destroy();
  let stderr = "";
  child.stderr.on("data", (chunk) => stderr += chunk);
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, stderr })));
}

test("a command whose output is closed ends with its usual code and without an error", async () => {
  const data = await newDataFolder(join(folder.path, "short"));
  assert.equal(await runUnread(["--help"]), { code: 0, stderr: "" });
  for (
    const args of [["key", "add", "--name", "a"], ["audit", "list"], ["backup", join(folder.path, "b.db")]]
  ) {
    assert.equal(await runUnread([...args, "--data", data]), { code: 0, stderr: "" }, args.join(" "));
  }
});

test("an output on a full disk ends with 1 and one line that says why", async () => {
  // Linux: a file without room.
  if (!existsSync("/dev/full")) return;
  const [command, before] = runtimeCommand();
  const full = openSync("/dev/full", "w");
  const stdio: StdioOptions = ["ignore", full, "pipe"];
  const { status, stderr } = spawnSync(command, [...before, CLI, "--help"], { stdio, encoding: "utf8" });
  closeSync(full);
  assert.is(status, 1);
  assert.match(stderr, /^trivet: .+\n$/);
});

test("a server whose log is closed goes on, and stops in order", async () => {
  const server = await startTrivet(["--data", join(folder.path, "served"), "--no-demo", "--log-requests"]);
  server.child.stderr!.destroy();
  for (let i = 0; i < 5; i++) {
    assert.is((await fetch(`${server.facts.url}/readyz`)).status, 200);
    assert.is((await fetch(`${server.facts.url}/absent`)).status, 404);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.is(await server.stop(), 0);
});

test.run();
