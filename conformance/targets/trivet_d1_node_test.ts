/**
 * Trivet passes the whole kit on workerd with its state in D1, asked from Node.
 *
 * @module
 */
import { suite } from "uvu";
import { withWorker } from "../../scripts/test/cloudflare.ts";
import { skipBecause } from "../../scripts/test/run_files.ts";
import { checkAt, from, opening } from "./test_worker.ts";

const test = suite("conformance of Trivet on D1");

function define(): void {
  test("OAuth, JSON-RPC, MCP and Skills", () =>
    withWorker(
      `${opening()}
      import { d1Store } from ${from("src/store/d1.ts")};
      export default toWorker(({ DB }) => workerHandler(bundled, async (now) => {
        await DB.batch(TABLES.map((table) => DB.prepare("DROP TABLE IF EXISTS " + table)));
        return d1Store(DB, { now });
      }));`,
      {},
      async (worker) => await checkAt((await worker.ready).origin),
    ));
}

// Miniflare, which has D1, runs on Node.
if ("Deno" in globalThis || "Bun" in globalThis) skipBecause(test, "Miniflare runs on Node");
else define();

test.run();
