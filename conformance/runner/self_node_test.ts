/**
 * The runner passes the vectors of `self/`, and its report is not lost.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { loadRequirements, loadVectors } from "./vector/load.ts";
import { runAll } from "./run.ts";
import { createSelfTarget } from "./target/target.ts";

const test = suite("self");
const ROOT = fileURLToPath(new URL("..", import.meta.url));

test("every vector of self/ has its expected outcome", async () => {
  const vectors = loadVectors(ROOT, ["self"], loadRequirements(ROOT));
  const results = await runAll(vectors, { target: createSelfTarget(), seed: "self", maxWaitSeconds: 0 });
  assert.ok(results.length > 150);
  assert.equal(
    results.filter(({ outcome }) => outcome !== "pass").map(({ name, reason }) => `${name}: ${reason}`),
    [],
  );
});

test("a report that cannot be written ends with 2", () => {
  // Linux: a file without room. Bun does not notice.
  if (!existsSync("/dev/full") || process.versions.bun !== undefined) return;
  const cli = fileURLToPath(new URL("cli.ts", import.meta.url));
  const runtime = "Deno" in globalThis ? ["run", "-A", "--no-check", "--quiet"] : [];
  const full = openSync("/dev/full", "w");
  for (const args of [["self", "--json"], ["self", "--list"], ["client", "--help"]]) {
    const { status } = spawnSync(process.execPath, [...runtime, cli, ...args], {
      stdio: ["ignore", full, "pipe"],
    });
    assert.is(status, 2, args.join(" "));
  }
  closeSync(full);
});

test.run();
