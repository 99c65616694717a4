/**
 * The command for clients with drivers that only exit.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";

const test = suite("trivet-conformance client");
const CLI = fileURLToPath(new URL("../cli.ts", import.meta.url));

/** Runs two scenarios with a driver that evaluates a script. */
function run(script: string, ...options: readonly string[]): { status: number | null; outcomes: string[] } {
  const { status, stdout } = spawnSync(process.execPath, [
    CLI,
    "client",
    "oauth",
    "--only",
    "requests/verifier",
    "--driver",
    `node_modules/.bin/node -e ${script}`,
    "--json",
    ...options,
  ], { encoding: "utf8" });
  const { scenarios }: { scenarios: readonly { outcome: string }[] } = JSON.parse(stdout);
  return { status, outcomes: scenarios.map(({ outcome }) => outcome) };
}

test("a driver that accepts without a request fails", () => {
  assert.equal(run("process.exit(0)"), { status: 1, outcomes: ["fail", "warn"] });
});

test("a driver that does not accept the correct flow is a faulty setup", () => {
  assert.equal(run("process.exit(3)"), { status: 1, outcomes: ["setup", "setup"] });
});

test("a driver that does not end is a faulty setup", () => {
  const { status, outcomes } = run("setInterval(Date,1000)", "--timeout", "1");
  assert.equal([status, outcomes], [1, ["setup", "setup"]]);
});

test("the exit code is 2 if every scenario was skipped", () => {
  assert.equal(run("process.exit(4)"), { status: 2, outcomes: ["skip", "skip"] });
  assert.equal(run("process.exit(0)", "--without", "pkce"), { status: 2, outcomes: ["skip", "skip"] });
});

test("expected failures that name no scenario: 2, and no driver is started", () => {
  const folder = mkdtempSync(join(tmpdir(), "conformance-"));
  const known = join(folder, "known.json");
  writeFileSync(known, JSON.stringify({ "oauth/requests/no-such-scenario": "misspelt" }));
  const driver = ["--driver", "no-such-command", "--expected-failures", known];
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, "client", "oauth", ...driver], {
    encoding: "utf8",
  });
  rmSync(folder, { recursive: true });
  assert.equal([status, stdout], [2, ""]);
  assert.match(stderr, '"oauth/requests/no-such-scenario"');
});

test.run();
