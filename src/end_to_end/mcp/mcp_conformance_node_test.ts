/**
 * The official conformance suite (https://github.com/modelcontextprotocol/conformance) against everything that the tool
 * server has, as a process of this runtime. The suite itself always runs on Node.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { LEFT_OUT, type Report, runSuite } from "../serving/test_conformance.ts";
import { runtimeCommand, temporaryFolder } from "../test_process.ts";

const test = suite("MCP conformance");
const fromRoot = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const folder = temporaryFolder();
const run = (url: Promise<string>, name: string, ...words: string[]): Promise<Report> =>
  runSuite(url, join(folder.path, name), ...words);

let server: ChildProcess;
let runs: Record<"modern" | "legacy" | "old" | "oldest" | "all", Promise<Report>>;

test.before(() => {
  const [command, before] = runtimeCommand();
  server = spawn(command, [...before, fromRoot("scripts/serve_everything.ts"), "--port", "0"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const url = firstLine(server);
  // Most of the time the suite waits: all at once take as long as one.
  runs = {
    modern: run(url, "modern", "--requirements", "2026-07-28"),
    legacy: run(url, "legacy", "--requirements", "2025-11-25"),
    old: run(url, "old", "--suite", "all", "--spec-version", "2025-06-18"),
    oldest: run(url, "oldest", "--suite", "all", "--spec-version", "2025-03-26"),
    all: run(url, "all", "--suite", "all"),
  };
  // The tests that wait for them tell what went wrong.
  for (const each of Object.values(runs)) each.catch(() => {});
});

test.after(() => {
  server.kill("SIGKILL");
  folder.remove();
});

test("conforms to 2026-07-28, by all 37 scenarios that are scored", async () => {
  assert.equal(await runs.modern, { scenarios: 50, scored: 37, succeeded: 196, rest: [LEFT_OUT], code: 0 });
});

test("conforms to 2025-11-25, by all 30 scenarios that are scored", async () => {
  assert.equal(await runs.legacy, { scenarios: 33, scored: 30, succeeded: 83, rest: [], code: 0 });
});

test("passes all that there is for 2025-06-18", async () => {
  assert.equal(await runs.old, { scenarios: 27, scored: 27, succeeded: 56, rest: [], code: 0 });
});

test("passes all that there is for 2025-03-26", async () => {
  assert.equal(await runs.oldest, { scenarios: 1, scored: 1, succeeded: 3, rest: [], code: 0 });
});

test("passes every scenario of the suite, tasks and skills among them", async () => {
  assert.equal(await runs.all, { scenarios: 65, scored: 65, succeeded: 275, rest: [LEFT_OUT], code: 0 });
});

/** Where the server says that it listens. Rejects with what it complained of when it ends before. */
function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let complaint = "";
    child.stderr!.on("data", (chunk) => complaint += chunk);
    createInterface({ input: child.stdout! }).once("line", resolve);
    child.once("close", (code) => reject(new Error(`The server ended with ${code}: ${complaint}`)));
  });
}

test.run();
