/**
 * Every command of the kit explains itself with `--help`.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";

const test = suite("help");
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const runtime = "Deno" in globalThis ? ["run", "-A", "--no-check", "--quiet"] : [];

const COMMANDS: readonly (readonly string[])[] = [
  ["conformance/runner/cli.ts"],
  ["conformance/runner/cli.ts", "client"],
  ["conformance/mutants/main.ts"],
  ["conformance/learn/main.ts"],
  ["scripts/coverage.ts"],
  ["scripts/freeze_set.ts"],
  ["scripts/targets.ts"],
];

for (const command of COMMANDS) {
  test(command.join(" "), () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [...runtime, ...command, "--help"], {
      cwd: ROOT,
      encoding: "utf8",
    });
    assert.equal([status, stderr], [0, ""]);
    assert.match(stdout, /^Usage: /m);
  });
}

test.run();
