/**
 * Modules of Workers that serve Trivet as a target, and the kit against one: what tests on workerd share. Nothing but
 * tests imports this.
 *
 * @module
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
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

/** The whole kit against the Worker that listens there. */
export async function checkAt(base: string): Promise<void> {
  // Other work on this machine is no fault of the server's.
  check(await replayWith(WHOLE_KIT, "trivet_served.json", { base, limits: { seconds: 60 } }), 1180);
}
