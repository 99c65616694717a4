/**
 * `npm run mutants`: faulty servers, one at a time, each of which the vectors that it names have to catch.
 *
 *   node conformance/mutants/main.ts [--only TEXT] [--named] [--verbose]
 *
 * `--named` asks only the vectors that a mutant names. Without it all are asked, and vectors that no mutant troubles
 * are listed. Exit code 1 when a mutant survives, a vector that it names passes, or one turns red that has nothing to
 * do with it.
 *
 * @module
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { hunt, prepare } from "./hunt.ts";
import { MUTANTS } from "./mutants.ts";

const { values } = parseArgs({
  options: { only: { type: "string" }, named: { type: "boolean" }, verbose: { type: "boolean" } },
});
const chosen = MUTANTS.filter(({ name }) => values.only === undefined || name.includes(values.only));
const hunting = await prepare(chosen);
const troubled = new Set<string>();
let bad = 0;
for (const mutant of chosen) {
  const { red, missed, beyond } = await hunt(mutant, hunting, !values.named);
  for (const name of red) troubled.add(name);
  const isCaught = red.length > 0 && missed.length === 0 && beyond.length === 0;
  if (!isCaught) bad++;
  const word = isCaught ? "caught" : red.length === 0 ? "SURVIVED" : "WRONG";
  process.stdout.write(`${word.padEnd(9)}${mutant.name} (${red.length}): ${mutant.fault}\n`);
  if (missed.length > 0) process.stdout.write(`         passed all the same: ${missed.join(" ")}\n`);
  if (beyond.length > 0) process.stdout.write(`         red besides: ${beyond.join(" ")}\n`);
  if (values.verbose) process.stdout.write(`         red: ${red.join(" ")}\n`);
}
if (!values.named && values.only === undefined) {
  const calm = hunting.vectors.map(({ name }) => name)
    .filter((name) => !troubled.has(name) && !hunting.redBefore.has(name));
  process.stdout.write(
    `\n${calm.length} vectors that no mutant troubles${calm.length ? `: ${calm.join(" ")}` : ""}\n`,
  );
}
process.stdout.write(`\n${chosen.length - bad} of ${chosen.length} mutants caught\n`);
process.exit(bad > 0 || chosen.length === 0 ? 1 : 0);
