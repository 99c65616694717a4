/**
 * Modules of Workers that serve Trivet as a target, and the kit against one: what tests on workerd share. Nothing but
 * tests imports this.
 *
 * @module
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { withWorker } from "../../scripts/test/cloudflare.ts";
import { check, replayWith, targetFile, WHOLE_KIT } from "./test_replay.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A file of the repository, as a module names it. */
export const from = (file: string): string => JSON.stringify(join(ROOT, file));

/** What the module begins with: `workerHandler`, `toWorker`, what is `bundled`, and the `TABLES` of stores in SQL. */
export function opening(): string {
  const folder = join(ROOT, "fixtures/skills");
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const skills = Object.fromEntries(
    entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length + 1).replaceAll("\\", "/"), readFileSync(path, "utf8")];
    }),
  );
  const described = JSON.parse(readFileSync(targetFile("trivet.json"), "utf8"));
  return `
    import { workerHandler } from ${from("conformance/targets/trivet_worker.ts")};
    import { toWorker } from ${from("src/runtime/workerd.ts")};
    const bundled = ${JSON.stringify({ described, skills })};
    const TABLES = ["record", "sequence"];
  `;
}

/** The kit against the Worker that listens there. */
export async function checkAt(
  base: string,
  suites: readonly string[] = WHOLE_KIT,
  least: number = 1180,
): Promise<void> {
  // Other work on this machine is no fault of the server's.
  check(await replayWith(suites, "trivet_served.json", { base, limits: { seconds: 60 } }), least);
}

/** The same on D1, which takes its time. */
export function checkOnD1(suites: readonly string[], least: number): Promise<void> {
  const source = `
    ${opening()}
    import { d1Store } from ${from("src/store/drivers/d1.ts")};
    export default toWorker(({ DB }) => workerHandler(bundled, async (now) => {
      await DB.batch(TABLES.map((table) => DB.prepare("DROP TABLE IF EXISTS " + table)));
      return d1Store(DB, { now });
    }));
  `;
  return withWorker(
    source,
    {},
    async (worker) => await checkAt((await worker.ready).origin, suites, least),
  );
}
