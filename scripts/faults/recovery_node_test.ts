import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../test/run_files.ts";
import { hasEngine } from "./engine.ts";
import { type Fault, measureRecovery } from "./recovery.ts";

/** The bound, in milliseconds; `measure_recovery.ts` tells how far below it recovery is. */
const MAX_RECOVERY_MS = 3000;
const test = suite("recovery of PostgreSQL");

if (!hasEngine("postgres")) {
  if (process.env.CI === "true") throw new Error("The programs of PostgreSQL must be there where CI is true");
  skipBecause(test, "no program of PostgreSQL is on this machine: recovery is not tested");
} else {
  for (const fault of ["fast", "terminated"] satisfies Fault[]) {
    test(`three instances answer again within 3 seconds of the engine's return: ${fault}`, async () => {
      const [round] = await measureRecovery({ rounds: 1, faults: [fault], watch: 6000 });
      assert.equal(round!.violations, []);
      assert.ok(Math.max(...round!.recovered) <= MAX_RECOVERY_MS, `${round!.recovered} ms`);
    });
  }
}

test.run();
