/**
 * Trivet passes the whole kit on workerd, asked from Node: in memory and in a Durable Object. D1 has files of its own.
 *
 * @module
 */
import { suite } from "uvu";
import { withWorker } from "../../scripts/test/cloudflare.ts";
import { skipBecause } from "../../scripts/test/run_files.ts";
import { startWorker } from "../../scripts/test/workerd.ts";
import { checkAt, from, opening } from "./test_worker.ts";

const test = suite("conformance of Trivet on workerd");

function define(): void {
  test("in memory", async () => {
    const worker = await startWorker(`${opening()} export default toWorker(() => workerHandler(bundled));`);
    try {
      await checkAt(worker.url);
    } finally {
      worker.stop();
    }
  });

  test("in a Durable Object", () =>
    withWorker(
      `${opening()}
      import { DurableObject } from "cloudflare:workers";
      import { durableObjectStore } from ${from("src/store/drivers/durable_object.ts")};
      export class Trivet extends DurableObject {
        #handler = workerHandler(bundled, async (now) => {
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
      async (worker) => await checkAt((await worker.ready).origin),
    ));
}

// The kit runs on Node and the server on workerd, whoever starts them.
if ("Deno" in globalThis || "Bun" in globalThis) skipBecause(test, "workerd is tried from Node");
else define();

test.run();
