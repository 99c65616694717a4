/**
 * The official conformance suite (https://github.com/modelcontextprotocol/conformance) against everything that the tool
 * server has, as a process of this runtime. The suite itself always runs on Node.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { runtimeCommand, temporaryFolder } from "./test_process.ts";

const test = suite("MCP conformance");
const fromRoot = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const NODE = fromRoot("node_modules/.bin/node");
const SUITE = fromRoot("node_modules/@modelcontextprotocol/conformance/dist/index.js");
const folder = temporaryFolder();

/** What the suite itself leaves out: it waits for notifications of tasks where they no longer come. */
const LEFT_OUT = "tasks-status-notifications: tasks-status-notifications SKIPPED";

/** What a run found. */
interface Report {
  readonly scenarios: number;
  /** Those that decide whether a server conforms to the revision; the others are extensions and news. */
  readonly scored: number;
  /** Checks that succeeded. */
  readonly succeeded: number;
  /** All that is no success: failures, warnings, and what was not checked. */
  readonly rest: readonly string[];
  readonly code: number | null;
}

/** One check of a scenario, as the suite writes it down. */
interface Check {
  readonly id: string;
  /** `INFO` tells what went over the wire. */
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly errorMessage?: string;
}

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

/** Runs the suite to its end, and reads what it wrote down. */
async function run(url: Promise<string>, name: string, ...words: string[]): Promise<Report> {
  const results = join(folder.path, name);
  const child = spawn(NODE, [SUITE, "server", "--url", await url, "--output-dir", results, ...words], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  child.stdout.on("data", (chunk) => printed += chunk);
  child.stderr.on("data", (chunk) => printed += chunk);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  if (!existsSync(results)) throw new Error(`The suite ended with ${code}: ${printed}`);
  const checks = readdirSync(results).sort().flatMap((directory) => {
    // server-<scenario>-<time>
    const scenario = directory.replace(/^server-|-\d{4}-\d\d-\d\dT.*$/g, "");
    const found: Check[] = JSON.parse(readFileSync(join(results, directory, "checks.json"), "utf8"));
    return found.map((check) => ({ scenario, ...check }));
  });
  const scenarios = new Set(checks.map(({ scenario }) => scenario)).size;
  const unscored = /^Not scored for \S+: (\d+) scenario/m.exec(printed)?.[1] ?? 0;
  return {
    scenarios,
    scored: scenarios - Number(unscored),
    succeeded: checks.filter(({ status }) => status === "SUCCESS").length,
    rest: checks.filter(({ status }) => status !== "SUCCESS" && status !== "INFO").map(toLine),
    code,
  };
}

/** A skipped check says why in many words, and is known by its name. */
function toLine({ scenario, id, status, errorMessage = "" }: Check & { readonly scenario: string }): string {
  return `${scenario}: ${id} ${status}${status === "SKIPPED" ? "" : `: ${errorMessage.slice(0, 400)}`}`;
}

test.run();
