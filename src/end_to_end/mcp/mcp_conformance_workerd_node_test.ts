/**
 * The official conformance suite against everything that the tool server has, on workerd: sessions, streams, questions and
 * tasks where no request may wait for another.
 *
 * @module
 */
import { join, resolve } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { type RunningWorker, startWorker } from "../../../scripts/test/workerd.ts";
import { LEFT_OUT, type Report, runSuite } from "../serving/test_conformance.ts";
import { temporaryFolder } from "../test_process.ts";

const test = suite("MCP conformance on workerd");
const folder = temporaryFolder();
let worker: RunningWorker;
let runs: Record<"modern" | "legacy", Promise<Report>>;

function define(): void {
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

  test("conforms to 2026-07-28, by all 37 scenarios that are scored", async () => {
    assert.equal(await runs.modern, { scenarios: 50, scored: 37, succeeded: 196, rest: [LEFT_OUT], code: 0 });
  });

  test("conforms to 2025-11-25, by all 30 scenarios that are scored", async () => {
    assert.equal(await runs.legacy, { scenarios: 33, scored: 30, succeeded: 83, rest: [], code: 0 });
  });
}

// The suite always runs on Node, and the server on workerd.
if ("Deno" in globalThis || "Bun" in globalThis) skipBecause(test, "workerd is tried from Node");
else define();

test.run();
