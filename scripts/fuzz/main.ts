/**
 * `npm run fuzz`: the authorization server under generated requests.
 *
 *   npm run fuzz -- --count 100000 --seed 1
 *
 * @module
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { fuzzOAuth } from "./oauth.ts";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "100000" },
    seed: { type: "string", default: String(Date.now() % 100_000) },
  },
});
const started = performance.now();
const { problems, answers } = await fuzzOAuth(Number(values.count), Number(values.seed));
const byStatus = new Map<string, number>();
for (const [key, count] of answers) {
  const status = key.split(" ").at(-1)!;
  byStatus.set(status, (byStatus.get(status) ?? 0) + count);
}
for (const problem of problems) console.error(problem + "\n");
const told = [...byStatus].sort(([a], [b]) => Number(a) - Number(b)).map(([status, count]) =>
  `${status}: ${count}`
).join(", ");
console.log(
  `${values.count} requests of seed ${values.seed} in ${
    Math.round((performance.now() - started) / 1000)
  } s; ${told}`,
);
console.log(`${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
