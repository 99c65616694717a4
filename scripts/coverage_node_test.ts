/**
 * Every row has a vector or a reason, every file of the kit is valid, and frozen sets list their changes.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";

const test = suite("coverage");

test("npm run coverage ends with 0", () => {
  const runtime = "Deno" in globalThis ? ["run", "-A", "--no-check", "--quiet"] : [];
  const script = fileURLToPath(new URL("coverage.ts", import.meta.url));
  const { status, stdout } = spawnSync(process.execPath, [...runtime, script, "--list"], {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    encoding: "utf8",
  });
  assert.is(status, 0, stdout);
});

test.run();
