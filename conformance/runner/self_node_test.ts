/**
 * The runner passes the vectors of `self/`.
 *
 * @module
 */
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

test.run();
