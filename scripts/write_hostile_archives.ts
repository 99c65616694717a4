/**
 * Writes the hostile archives of `fixtures/hostile` to a folder, to test other readers with them. The repository contains
 * only the code that makes them: virus scanners report the archives, and reviewers cannot read them.
 *
 *   node scripts/write_hostile_archives.ts FOLDER
 *
 * @module
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { HOSTILE_ARCHIVES } from "../fixtures/hostile/archives.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("Usage: node scripts/write_hostile_archives.ts FOLDER");
mkdirSync(folder, { recursive: true });
for (const { what, rule, make } of HOSTILE_ARCHIVES) {
  writeFileSync(join(folder, `${rule} ${what}.zip`.replace(/[^\w .-]/g, "_")), await make());
}
console.log(`wrote ${HOSTILE_ARCHIVES.length} archives to ${folder}`);
