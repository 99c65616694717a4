/**
 * Trivet passes the whole kit: every MUST and SHOULD that it claims, or the deviation stands with its reason in its target.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readArguments } from "../runner/arguments.ts";
import { choose } from "../runner/choose.ts";
import { loadRequirements, loadVectors } from "../runner/load.ts";
import { type Report, toReport } from "../runner/report.ts";
import { runAll } from "../runner/run.ts";
import { openTarget } from "../runner/target.ts";

const test = suite("conformance of Trivet");
const ROOT = fileURLToPath(new URL("..", import.meta.url));

async function replay(suites: readonly string[], target: string): Promise<Report> {
  const asked = readArguments([...suites, "--target", `${ROOT}targets/${target}.json`, "--seed", "test"]);
  const requirements = loadRequirements(ROOT);
  const vectors = choose(loadVectors(ROOT, asked.suites, requirements), asked);
  const opened = await openTarget(asked);
  try {
    const started = new Date();
    const results = await runAll(vectors, { target: opened, seed: "test", mostWaiting: 0 });
    return toReport({
      asked,
      root: ROOT,
      target: opened,
      requirements,
      vectors,
      results,
      seed: "test",
      started,
    });
  } finally {
    await opened.close();
  }
}

/** Every vector as it should be, and at least so many that were not skipped. */
function check({ passed, vectors }: Report, least: number): void {
  const wrong = vectors.filter(({ outcome }) => ["fail", "setup", "error"].includes(outcome));
  assert.equal(wrong.map(({ name, reason }) => `${name}: ${reason}`), []);
  assert.ok(passed);
  const asked = vectors.filter(({ outcome }) => outcome !== "skip").length;
  assert.ok(asked >= least, `${asked} vectors were asked, not ${least}`);
}

for (const target of ["trivet", "trivet_sqlite"]) {
  test(`${target}: OAuth, JSON-RPC, MCP and Skills`, async () => {
    check(await replay(["oauth", "jsonrpc", "mcp", "skills"], target), 1150);
  });
}

test("trivet_openai: Skills in OpenAI's dialect", async () => {
  check(await replay(["skills"], "trivet_openai"), 300);
});

test.run();
