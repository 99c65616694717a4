/**
 * `npm run guides [NAME...]`: runs the guides in `docs/` as their readers would. Without names, all.
 *
 * @module
 */
import process from "node:process";
import { buildPackages } from "./newcomer.ts";
import { findGuides, findMissing, readGuide, runGuideOf } from "./guides.ts";

const names = process.argv.slice(2);
const unknown = names.find((name) => !findGuides().includes(name));
if (unknown !== undefined) throw new Error(`No guide "${unknown}". There are: ${findGuides().join(", ")}`);
const packages = buildPackages();
try {
  for (const name of names.length > 0 ? names : findGuides()) {
    const started = performance.now();
    try {
      const guide = readGuide(name);
      const missing = await findMissing(guide);
      if (missing === undefined) await runGuideOf(guide, packages);
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      console.log(
        missing === undefined ? `ok   ${name} (${seconds} s)` : `skip ${name}: it needs ${missing}`,
      );
    } catch (error) {
      process.exitCode = 1;
      console.log(`FAIL docs/${name}.md, ${(error as Error).message}`);
    }
  }
} finally {
  packages.remove();
}
