/**
 * Measures how long instances respond with 503 after PostgreSQL is available again. Exit code 1 if an instance takes more
 * than 3 seconds, or on a violation.
 *
 *   node scripts/faults/measure_recovery.ts [--rounds N] [--fault fast,immediate,backend,terminated]
 *
 * @module
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { type Fault, FAULTS, measureRecovery, percentile } from "./recovery.ts";

const MAX_RECOVERY_MS = 3000;

const { values } = parseArgs({ options: { rounds: { type: "string" }, fault: { type: "string" } } });
const faults = values.fault?.split(",") as Fault[] | undefined;
const rounds = await measureRecovery({
  rounds: Number(values.rounds ?? 100),
  ...(faults && { faults }),
  onRound: ({ fault, recovered, slowest, violations }) =>
    console.log(
      `${fault.padEnd(11)}${recovered.join(", ")} ms, slowest response ${slowest} ms${
        violations.map(({ message }) => `; ${message}`).join("")
      }`,
    ),
});
for (const fault of FAULTS) {
  const times = rounds.filter((round) => round.fault === fault).flatMap(({ recovered }) => recovered);
  if (times.length === 0) continue;
  const shown = [0.5, 0.9, 0.99, 1].map((share) => percentile(times, share));
  console.log(`${fault.padEnd(11)}p50, p90, p99, worst: ${shown.join(", ")} ms of ${times.length}`);
}
const all = rounds.flatMap(({ recovered }) => recovered);
console.log(
  `all        p99 ${percentile(all, 0.99)} ms, worst ${Math.max(...all)} ms in ${rounds.length} rounds`,
);
if (rounds.some(({ violations }) => violations.length > 0) || Math.max(...all) > MAX_RECOVERY_MS) {
  process.exitCode = 1;
}
