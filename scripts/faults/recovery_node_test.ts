import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../test/run_files.ts";
import { hasEngine } from "./engine.ts";
import { type Fault, measureRecovery } from "./recovery.ts";

/** `measure_recovery.ts` measures how long the recovery takes. */
const MAX_RECOVERY_MS = 3000;
const test = suite("recovery of PostgreSQL");

if (!hasEngine("postgres")) {
  if (process.env.CI === "true") throw new Error("CI requires the programs of PostgreSQL");
  skipBecause(test, "the programs of PostgreSQL are not installed");
} else {
  for (const fault of ["fast", "terminated"] satisfies Fault[]) {
    test(`three instances recover within 3 seconds after the engine: ${fault}`, async () => {
      const [round] = await measureRecovery({ rounds: 1, faults: [fault], probeMs: 6000 });
      assert.equal(round!.violations, []);
      assert.ok(Math.max(...round!.recovered) <= MAX_RECOVERY_MS, `${round!.recovered} ms`);
    });
  }
}

test.run();
