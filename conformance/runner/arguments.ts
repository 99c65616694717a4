/**
 * What the command line asks for.
 *
 * @module
 */
import { parseArgs } from "node:util";

export const USAGE = `trivet-conformance <suite> <target> [options]

Suites    oauth, jsonrpc, mcp, skills, self, all; a file of one (oauth/pkce); or a path

Target    URL                       an address: what it shows of itself is asked about
          --target FILE             a target file, which says more (README.md: ten lines)
          --stdio "COMMAND"         a server on standard input and output
          --module FILE             a file that exports fetch, in this process

Options   --only TEXT               vectors whose name contains it (again for more)
          --level MUST|SHOULD|MAY   vectors that ask for at least so much
          --since DATE              vectors added on that date or later
          --set NAME                only vectors of this frozen set count
          --expected-failures FILE  known failures: an object of vector and reason
          --strict                  warnings count as failures
          --slow                    slow vectors as well
          --wait SECONDS            waits so long where the target has no clock (0)
          --seed TEXT               repeats the random values of another run
          --jobs N                  vectors at once (4)
          --timeout SECONDS         for one exchange (10)
          --report-dir DIR          writes report.json, report.xml (JUnit), report.html, summary.md
          --json, --junit           prints that report instead of the table
          --verbose                 passing vectors as well, and exchanges of those that failed
          --list                    names the vectors and asks nothing

Exit      0 as expected, 1 not, 2 could not run or nothing could be asked
`;

export interface Arguments {
  readonly suites: readonly string[];
  readonly target?: string;
  readonly stdio?: string;
  readonly module?: string;
  readonly only: readonly string[];
  readonly level?: string;
  readonly since?: string;
  readonly set?: string;
  readonly baseline?: string;
  readonly reportDir?: string;
  readonly seed?: string;
  readonly jobs?: number;
  readonly seconds?: number;
  readonly wait: number;
  readonly strict: boolean;
  readonly slow: boolean;
  readonly verbose: boolean;
  readonly list: boolean;
  readonly help: boolean;
  readonly format: "table" | "json" | "junit";
}

/** @throws {TypeError} for what is no argument */
export function readArguments(args: readonly string[]): Arguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      target: { type: "string" },
      stdio: { type: "string" },
      module: { type: "string" },
      only: { type: "string", multiple: true },
      level: { type: "string" },
      since: { type: "string" },
      set: { type: "string" },
      "expected-failures": { type: "string" },
      "report-dir": { type: "string" },
      seed: { type: "string" },
      jobs: { type: "string" },
      timeout: { type: "string" },
      wait: { type: "string" },
      strict: { type: "boolean" },
      slow: { type: "boolean" },
      json: { type: "boolean" },
      junit: { type: "boolean" },
      verbose: { type: "boolean", short: "v" },
      list: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  const { target, stdio, module, level, since, set, seed } = values;
  if (level !== undefined && !["MUST", "SHOULD", "MAY"].includes(level)) {
    throw new TypeError(`"--level" must be MUST, SHOULD or MAY, but is "${level}"`);
  }
  if (since !== undefined && !/^\d{4}-\d{2}-\d{2}$/.test(since)) {
    throw new TypeError(`"--since" must be a date like 2026-11-01, but is "${since}"`);
  }
  const jobs = number("jobs", values.jobs, 1, 1000);
  const seconds = number("timeout", values.timeout, 0.01, DAY);
  const isTarget = (word: string) => /^https?:\/\//.test(word);
  const addresses = positionals.filter(isTarget);
  const all = [...addresses, target, stdio, module].filter((each) => each !== undefined);
  if (addresses.length > 1 || addresses.length > 0 && all.length > 1) {
    throw new TypeError(
      `A run has one target, but there are ${all.map((each) => `"${each}"`).join(" and ")}`,
    );
  }
  return {
    suites: positionals.filter((word) => !isTarget(word)),
    ...(addresses[0] !== undefined && { target: addresses[0] }),
    ...(target !== undefined && { target }),
    ...(stdio !== undefined && { stdio }),
    ...(module !== undefined && { module }),
    ...(level !== undefined && { level }),
    ...(since !== undefined && { since }),
    ...(set !== undefined && { set }),
    ...(seed !== undefined && { seed }),
    ...(values["expected-failures"] !== undefined && { baseline: values["expected-failures"] }),
    ...(values["report-dir"] !== undefined && { reportDir: values["report-dir"] }),
    ...(jobs !== undefined && { jobs }),
    ...(seconds !== undefined && { seconds }),
    only: values.only ?? [],
    wait: number("wait", values.wait, 0, DAY) ?? 0,
    strict: values.strict ?? false,
    slow: values.slow ?? false,
    verbose: values.verbose ?? false,
    list: values.list ?? false,
    help: values.help ?? false,
    format: values.json ? "json" : values.junit ? "junit" : "table",
  };
}

/** Seconds: longer than a timer can be is no number to wait for. */
const DAY = 86_400;

function number(name: string, text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined) return undefined;
  const value = text.trim() === "" ? NaN : Number(text);
  if (!(value >= least && value <= most)) {
    throw new TypeError(`"--${name}" must be a number from ${least} to ${most}, but is "${text}"`);
  }
  return value;
}
