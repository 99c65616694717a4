/**
 * The official conformance suite against a tool server with every feature, on workerd, where no request may wait for
 * another.
 *
 * @module
 */
import { join, resolve } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { type RunningWorker, startWorker } from "../../../scripts/test/workerd.ts";
import { type Report, runSuite, SKIPPED_CHECK } from "../serving/test_conformance.ts";
import { temporaryFolder } from "../test_process.ts";

const test = suite("MCP conformance on workerd");
const folder = temporaryFolder();
let worker: RunningWorker;
let runs: Record<"modern" | "legacy", Promise<Report>>;

function defineTests(): void {
  test.before(async () => {
    const from = (file: string): string => JSON.stringify(resolve(file));
    worker = await startWorker(`
    import { everything } from ${from("fixtures/everything/everything.ts")};
    import { createTrivet, memoryStore } from ${from("src/mod.ts")};
    import { toWorker } from ${from("src/runtime/workerd.ts")};
    export default toWorker(() => {
      const trivet = createTrivet({
        issuer: "http://127.0.0.1",
        store: memoryStore(),
        oauth: false,
        skills: { auth: "off" },
        mcp: { auth: "off", definitions: everything(() => trivet.mcp) },
      });
      return trivet;
    });
  `);
    const run = (name: string): Promise<Report> =>
      runSuite(`${worker.url}/mcp`, join(folder.path, name), "--requirements", name);
    runs = { modern: run("2026-07-28"), legacy: run("2025-11-25") };
    for (const each of Object.values(runs)) each.catch(() => {});
  });
  test.after(async () => {
    await worker.stop();
    folder.remove();
  });

  test("the server conforms to 2026-07-28 in all 37 scored scenarios", async () => {
    assert.equal(await runs.modern, {
      scenarios: 50,
      scored: 37,
      succeeded: 196,
      rest: [SKIPPED_CHECK],
      code: 0,
    });
  });

  test("the server conforms to 2025-11-25 in all 30 scored scenarios", async () => {
    assert.equal(await runs.legacy, { scenarios: 33, scored: 30, succeeded: 83, rest: [], code: 0 });
  });
}

// The suite always runs on Node, and the server on workerd.
if ("Deno" in globalThis || "Bun" in globalThis) skipBecause(test, "the test starts workerd from Node");
else defineTests();

test.run();
