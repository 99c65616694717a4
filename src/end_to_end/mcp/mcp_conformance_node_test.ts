/**
 * The official conformance suite (https://github.com/modelcontextprotocol/conformance) against a tool server with every
 * feature, as a process of this runtime. The suite itself always runs on Node.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Report, runSuite, SKIPPED_CHECK } from "../serving/test_conformance.ts";
import { runtimeCommand, temporaryFolder } from "../test_process.ts";

const test = suite("MCP conformance");
const fromRoot = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const folder = temporaryFolder();
const run = (url: Promise<string>, name: string, ...args: string[]): Promise<Report> =>
  runSuite(url, join(folder.path, name), ...args);

let server: ChildProcess;
let runs: Record<"modern" | "legacy" | "old" | "oldest" | "all", Promise<Report>>;

test.before(() => {
  const [command, before] = runtimeCommand();
  server = spawn(command, [...before, fromRoot("scripts/serve_everything.ts"), "--port", "0"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const url = firstLine(server);
  // The suite mostly waits, so that all runs in parallel take as long as one.
  runs = {
    modern: run(url, "modern", "--requirements", "2026-07-28"),
    legacy: run(url, "legacy", "--requirements", "2025-11-25"),
    old: run(url, "old", "--suite", "all", "--spec-version", "2025-06-18"),
    oldest: run(url, "oldest", "--suite", "all", "--spec-version", "2025-03-26"),
    all: run(url, "all", "--suite", "all"),
  };
  // The tests that await the runs report their errors.
  for (const each of Object.values(runs)) each.catch(() => {});
});

test.after(() => {
  server.kill("SIGKILL");
  folder.remove();
});

test("the server conforms to 2026-07-28 in all 37 scored scenarios", async () => {
  assert.equal(await runs.modern, {
    scenarios: 50,
    scored: 37,
    succeeded: 196,
    rest: [SKIPPED_CHECK],
    code: 0,
  });
});

test("the server conforms to 2025-11-25 in all 30 scored scenarios", async () => {
  assert.equal(await runs.legacy, { scenarios: 33, scored: 30, succeeded: 83, rest: [], code: 0 });
});

test("the server passes every scenario for 2025-06-18", async () => {
  assert.equal(await runs.old, { scenarios: 27, scored: 27, succeeded: 56, rest: [], code: 0 });
});

test("the server passes every scenario for 2025-03-26", async () => {
  assert.equal(await runs.oldest, { scenarios: 1, scored: 1, succeeded: 3, rest: [], code: 0 });
});

test("the server passes every scenario of the suite, with tasks and skills", async () => {
  assert.equal(await runs.all, { scenarios: 65, scored: 65, succeeded: 275, rest: [SKIPPED_CHECK], code: 0 });
});

/** The URL that the server prints. Rejects with its standard error when the server exits before. */
function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let stderr = "";
    child.stderr!.on("data", (chunk) => stderr += chunk);
    createInterface({ input: child.stdout! }).once("line", resolve);
    child.once("close", (code) => reject(new Error(`The server exited with ${code}: ${stderr}`)));
  });
}

test.run();
