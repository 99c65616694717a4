/**
 * `node scripts/freeze_set.ts NAME SUITE… [--level MUST]`: writes the names of the vectors that there are now into
 * `conformance/sets.json`, under a name that holds a date (`oauth-2026-12-01`). A set that is there is never changed.
 *
 * @module
 */
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { parseArgs } from "node:util";
import { choose } from "../conformance/runner/vector/choose.ts";
import { loadRequirements, loadVectors } from "../conformance/runner/vector/load.ts";

const FILE = "conformance/sets.json";
const { values: { level }, positionals: [name, ...suites] } = parseArgs({
  allowPositionals: true,
  options: { level: { type: "string" } },
});
if (!name || !/\d{4}-\d{2}-\d{2}$/.test(name) || suites.length === 0) {
  console.error("Cannot freeze a set: give it a name that ends in a date, and suites");
  process.exit(2);
}
const sets: Record<string, readonly string[]> = JSON.parse(readFileSync(FILE, "utf8"));
if (Object.hasOwn(sets, name)) {
  console.error(`Cannot freeze "${name}": there is a set of this name, and sets are never changed`);
  process.exit(2);
}
const vectors = loadVectors("conformance", suites, loadRequirements("conformance"));
const chosen = choose(vectors, { only: [], slow: true, ...(level !== undefined && { level }) });
sets[name] = chosen.map((each) => each.name).sort();
writeFileSync(FILE, JSON.stringify(sets, null, 2) + "\n");
console.log(`${name}: ${chosen.length} vectors`);
