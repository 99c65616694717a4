/**
 * The command `trivet-conformance client`: runs scenarios against a client.
 *
 * @module
 */
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { checkNotEmpty, describeUsageError } from "../arguments.ts";
import { killAllGroups } from "../exchange/child_processes.ts";
import { exitAfterOutput } from "../interrupt.ts";
import { FAILING_OUTCOMES } from "../outcome.ts";
import { checkNames, readBaseline } from "../report/baseline.ts";
import { loadRequirements } from "../vector/load.ts";
import { toClientJson, toClientTable } from "./client_report.ts";
import { createProgramDriver } from "./driver.ts";
import { runClient } from "./run_client.ts";
import { loadScenarios, NEEDS, SUITES } from "./scenario.ts";

const USAGE = `Usage: trivet-conformance client <suite>... --driver "COMMAND" [options]

Tests a client. The kit is the server: it answers correctly but for one deviation at a time, and observes
what the client does. The driver is a program of a few lines, which makes your client perform a flow
(clients/README.md).

Suites    ${SUITES.join(", ")} or all

Options   --driver "COMMAND"        the program; words are separated by spaces
          --only TEXT               run scenarios whose name contains TEXT (repeatable)
          --without NAME            skip what the client leaves to the application or does not
                                    implement: ${NEEDS.join(", ")} (repeatable)
          --expected-failures FILE  known failures: a JSON object from scenario name to reason
          --jobs N                  number of scenarios that run at the same time (2)
          --timeout SECONDS         time limit of one run of the driver (15)
          --json                    print JSON instead of the table
          --verbose                 list passing scenarios too, and the requests of failures
          --list                    list the selected scenarios and exit

Exit      0 as expected, 1 not as expected, 2 could not run or every scenario was skipped
`;

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

process.stdout.on("error", exitAfterOutput);
process.exitCode = await main(process.argv.slice(3));
killAllGroups();

async function main(args: readonly string[]): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        driver: { type: "string" },
        only: { type: "string", multiple: true },
        without: { type: "string", multiple: true },
        "expected-failures": { type: "string" },
        jobs: { type: "string" },
        timeout: { type: "string" },
        json: { type: "boolean", default: false },
        verbose: { type: "boolean", short: "v", default: false },
        list: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help || positionals.length === 0) {
      process.stdout.write(USAGE);
      return values.help ? 0 : 2;
    }
    checkNotEmpty(values);
    const requirements = loadRequirements(ROOT);
    const { only = [], without = [] } = values;
    const unknown = without.find((name) => !(NEEDS as readonly string[]).includes(name));
    if (unknown !== undefined) {
      throw new TypeError(`Unknown --without "${unknown}": use ${NEEDS.join(", ")}.`);
    }
    const scenarios = loadScenarios(ROOT, positionals, requirements).filter(({ name }) =>
      only.length === 0 || only.some((text) => name.includes(text))
    );
    if (scenarios.length === 0) throw new TypeError("No scenario matches the options. Change --only.");
    if (values.list) {
      for (const { name, strength, scenario } of scenarios) {
        process.stdout.write(`${name}  ${strength}  ${scenario.title}\n`);
      }
      return 0;
    }
    const command = values.driver?.trim().split(/\s+/);
    if (!command) throw new TypeError('--driver is required: --driver "node driver.mjs".');
    const path = values["expected-failures"];
    const expected = readBaseline(path, {});
    if (path !== undefined) {
      checkNames(expected, loadScenarios(ROOT, ["all"], requirements).map(({ name }) => name), path);
    }
    const driver = createProgramDriver(command, parseNumber("timeout", values.timeout, 15));
    const results = await runClient(scenarios, driver, parseNumber("jobs", values.jobs, 2), without);
    const isUnexpected = results.some(({ name, outcome }) =>
      expected.has(name) ? outcome === "pass" : FAILING_OUTCOMES.has(outcome)
    );
    process.stdout.write(
      values.json
        ? toClientJson(results, scenarios, !isUnexpected)
        : toClientTable(results, scenarios, requirements, values.verbose),
    );
    if (results.every(({ outcome }) => outcome === "skip")) {
      process.stderr.write("Every scenario was skipped: the driver supports none of the flows.\n");
      return 2;
    }
    return isUnexpected ? 1 : 0;
  } catch (error) {
    process.stderr.write(`${describeUsageError(error)}\n`);
    return 2;
  }
}

function parseNumber(name: string, text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text);
  if (!(value >= 1 && value <= 3600)) throw new TypeError(`Invalid --${name} "${text}": use 1 to 3600.`);
  return value;
}
