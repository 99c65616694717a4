/**
 * The runner discovers an MCP server of which it knows only the URL: it invents no token, and runs what the server
 * offers anonymous callers.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { loadRequirements, loadVectors } from "../runner/vector/load.ts";
import { runAll } from "../runner/run.ts";
import { openTarget } from "../runner/target/open_target.ts";

const test = suite("conformance of Trivet by its URL alone");
const ROOT = fileURLToPath(new URL("..", import.meta.url));

test("MCP: every vector that applies passes", async () => {
  const module = fileURLToPath(new URL("trivet_anonymous.ts", import.meta.url));
  const target = await openTarget({ module, suiteFolders: new Set(["mcp"]) });
  const vectors = loadVectors(ROOT, ["mcp"], loadRequirements(ROOT));
  const results = await runAll(vectors, { target, seed: "test", maxWaitSeconds: 0 });
  await target.close();
  const wrong = results.filter(({ outcome }) => !["pass", "skip", "observe"].includes(outcome));
  assert.equal(wrong.map(({ name, reason }) => `${name}: ${reason}`), []);
  const passing = results.filter(({ outcome }) => outcome === "pass").length;
  assert.ok(passing >= 150, `${passing} pass`);
});

test.run();
