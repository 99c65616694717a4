/**
 * A server of MCP that takes strangers and refuses wrong tokens, of which nothing is told but where it is: no token is
 * made up for it, and what it shows of itself is asked.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { loadRequirements, loadVectors } from "../runner/vector/load.ts";
import { runAll } from "../runner/run.ts";
import { openTarget } from "../runner/target/open_target.ts";

const test = suite("conformance of Trivet by its address alone");
const ROOT = fileURLToPath(new URL("..", import.meta.url));

test("MCP: what it shows is asked, and holds", async () => {
  const module = fileURLToPath(new URL("trivet_anonymous.ts", import.meta.url));
  const target = await openTarget({ module, kinds: new Set(["mcp"]) });
  const vectors = loadVectors(ROOT, ["mcp"], loadRequirements(ROOT));
  const results = await runAll(vectors, { target, seed: "test", mostWaiting: 0 });
  await target.close();
  const wrong = results.filter(({ outcome }) => !["pass", "skip", "observe"].includes(outcome));
  assert.equal(wrong.map(({ name, reason }) => `${name}: ${reason}`), []);
  const asked = results.filter(({ outcome }) => outcome === "pass").length;
  assert.ok(asked >= 150, `${asked} pass`);
});

test.run();
