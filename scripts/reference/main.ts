/**
 * `npm run reference`: writes the API reference.
 *
 * @module
 */
import process from "node:process";
import { FOLDER, writeReference } from "./reference.ts";

const problems = writeReference(false);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log(`${FOLDER}/ is up to date`);
