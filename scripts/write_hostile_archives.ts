/**
 * Writes the hostile archives of `fixtures/hostile` into a folder, to try other readers with them. None is kept in the
 * repository: scanners stumble over them, and nobody can read what they are.
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
if (folder === undefined) throw new Error("Name the folder to write to");
mkdirSync(folder, { recursive: true });
for (const { what, rule, make } of HOSTILE_ARCHIVES) {
  writeFileSync(join(folder, `${rule} ${what}.zip`.replace(/[^\w .-]/g, "_")), await make());
}
console.log(`${HOSTILE_ARCHIVES.length} archives are in ${folder}`);
