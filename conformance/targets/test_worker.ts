/**
 * Builds Worker modules that serve Trivet as a target, and runs the kit against them. Only tests on workerd import this.
 *
 * @module
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { withWorker } from "../../scripts/test/cloudflare.ts";
import { assertPassed, replayWith, targetFile, WHOLE_KIT } from "./test_replay.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The path of a repository file as an import specifier. */
export const importPath = (file: string): string => JSON.stringify(join(ROOT, file));

/** The first lines of a module: `workerHandler`, `toWorker`, the `bundledFiles`, and the SQL `TABLES` of stores. */
export function workerPrelude(): string {
  const folder = join(ROOT, "fixtures/skills");
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const skills = Object.fromEntries(
    entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length + 1).replaceAll("\\", "/"), readFileSync(path, "utf8")];
    }),
  );
  const registered = JSON.parse(readFileSync(targetFile("trivet.json"), "utf8"));
  return `
    import { workerHandler } from ${importPath("conformance/targets/trivet_worker.ts")};
    import { toWorker } from ${importPath("src/runtime/workerd.ts")};
    const bundledFiles = ${JSON.stringify({ registered, skills })};
    const TABLES = ["record", "sequence"];
  `;
}

/** Runs the kit against the Worker at `base`. */
export async function assertServerPasses(
  base: string,
  suites: readonly string[] = WHOLE_KIT,
  minRun: number = 1180,
): Promise<void> {
  // Generous, because other work on this machine slows the server.
  assertPassed(await replayWith(suites, "trivet_served.json", { base, limits: { seconds: 60 } }), minRun);
}

/** Runs the kit against a Worker on D1. */
export function assertPassesOnD1(suites: readonly string[], minRun: number): Promise<void> {
  const source = `
    ${workerPrelude()}
    import { d1Store } from ${importPath("src/store/drivers/d1.ts")};
    export default toWorker(({ DB }) => workerHandler(bundledFiles, async (now) => {
      await DB.batch(TABLES.map((table) => DB.prepare("DROP TABLE IF EXISTS " + table)));
      return d1Store(DB, { now });
    }));
  `;
  return withWorker(
    source,
    {},
    async (worker) => await assertServerPasses((await worker.ready).origin, suites, minRun),
  );
}
