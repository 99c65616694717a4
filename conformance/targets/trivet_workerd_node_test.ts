/**
 * Trivet passes the whole kit on workerd, in memory and in a Durable Object; other files test D1. The client runs on Node.
 *
 * @module
 */
import { suite } from "uvu";
import { withWorker } from "../../scripts/test/cloudflare.ts";
import { skipBecause } from "../../scripts/test/run_files.ts";
import { startWorker } from "../../scripts/test/workerd.ts";
import { assertServerPasses, importPath, workerPrelude } from "./test_worker.ts";

const test = suite("conformance of Trivet on workerd");

function defineTests(): void {
  test("in memory", async () => {
    const worker = await startWorker(
      `${workerPrelude()} export default toWorker(() => workerHandler(bundledFiles));`,
    );
    try {
      await assertServerPasses(worker.url);
    } finally {
      worker.stop();
    }
  });

  test("in a Durable Object", () =>
    withWorker(
      `${workerPrelude()}
      import { DurableObject } from "cloudflare:workers";
      import { durableObjectStore } from ${importPath("src/store/drivers/durable_object.ts")};
      export class Trivet extends DurableObject {
        #handler = workerHandler(bundledFiles, async (now) => {
          const { storage } = this.ctx;
          for (const table of TABLES) storage.sql.exec("DROP TABLE IF EXISTS " + table);
          return durableObjectStore(storage, { now });
        });
        fetch(request) {
          return this.#handler.fetch(request);
        }
      }
      export default toWorker(({ TRIVET }) => ({
        fetch: (request) => TRIVET.get(TRIVET.idFromName("trivet")).fetch(request),
      }));`,
      { TRIVET: { className: "Trivet", useSQLite: true } },
      async (worker) => await assertServerPasses((await worker.ready).origin),
    ));
}

// The kit runs on Node and the server on workerd, so one runtime is enough.
if ("Deno" in globalThis || "Bun" in globalThis) skipBecause(test, "the client of workerd runs on Node");
else defineTests();

test.run();
