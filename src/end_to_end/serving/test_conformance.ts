/**
 * Runs the official conformance suite (https://github.com/modelcontextprotocol/conformance), always on Node, and reads
 * its results. Only tests import this.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const fromRoot = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const NODE = fromRoot("node_modules/.bin/node");
const SUITE = fromRoot("node_modules/@modelcontextprotocol/conformance/dist/index.js");

/** The check that the suite itself skips. */
export const SKIPPED_CHECK = "tasks-status-notifications: tasks-status-notifications SKIPPED";

/** The results of a run. */
export interface Report {
  readonly scenarios: number;
  /** Scenarios that decide about conformance to the revision; the others test extensions and drafts. */
  readonly scored: number;
  /** Checks that succeeded. */
  readonly succeeded: number;
  /** Everything else: failures, warnings and skipped checks. */
  readonly rest: readonly string[];
  readonly code: number | null;
}

/** One check of a scenario in `checks.json`. */
interface Check {
  readonly id: string;
  /** `INFO` contains the messages of the connection. */
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly errorMessage?: string;
}

/** A check, with its scenario. */
export interface ScenarioCheck extends Check {
  readonly scenario: string;
}

/** Runs the suite against a server and reads its results from the folder `results`. */
export async function runSuite(
  url: Promise<string> | string,
  results: string,
  ...args: string[]
): Promise<Report> {
  const { checks, code, printed } = await runChecks(url, results, ...args);
  const scenarios = new Set(checks.map(({ scenario }) => scenario)).size;
  const unscored = /^Not scored for \S+: (\d+) scenario/m.exec(printed)?.[1] ?? 0;
  return {
    scenarios,
    scored: scenarios - Number(unscored),
    succeeded: checks.filter(({ status }) => status === "SUCCESS").length,
    rest: checks.filter(({ status }) => status !== "SUCCESS" && status !== "INFO").map(toLine),
    code,
  };
}

/** As {@linkcode runSuite}; returns every check. */
export async function runChecks(
  url: Promise<string> | string,
  results: string,
  ...args: string[]
): Promise<
  { readonly checks: readonly ScenarioCheck[]; readonly code: number | null; readonly printed: string }
> {
  const child = spawn(NODE, [SUITE, "server", "--url", await url, "--output-dir", results, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  child.stdout.on("data", (chunk) => printed += chunk);
  child.stderr.on("data", (chunk) => printed += chunk);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  if (!existsSync(results)) throw new Error(`the suite exited with ${code}: ${printed}`);
  const checks = readdirSync(results).sort().flatMap((directory) => {
    // server-<scenario>-<time>
    const scenario = directory.replace(/^server-|-\d{4}-\d\d-\d\dT.*$/g, "");
    const found: Check[] = JSON.parse(readFileSync(join(results, directory, "checks.json"), "utf8"));
    return found.map((check) => ({ scenario, ...check }));
  });
  return { checks, code, printed };
}

/** One line for a check. The long reason of a skipped check is left out. */
export function toLine({ scenario, id, status, errorMessage = "" }: ScenarioCheck): string {
  return `${scenario}: ${id} ${status}${status === "SKIPPED" ? "" : `: ${errorMessage.slice(0, 400)}`}`;
}
