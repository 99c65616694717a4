/**
 * Parses the command line.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { CLASS_TITLES } from "./vector/flags.ts";
import type { FailureClass } from "./vector/vector_file.ts";

export const USAGE = `Usage: trivet-conformance <suite>... <target> [options]
       trivet-conformance client --help      (tests of clients)

Suites    oauth, jsonrpc, mcp, skills, self or all; one file (oauth/pkce); or a path

Target    URL                       a server at this address; its features are detected
          --target FILE             a target file, which describes the server (README.md)
          --stdio "COMMAND"         a server on standard input and output
          --module FILE             a module that exports fetch, in this process

Options   --only TEXT               run vectors whose name contains TEXT (repeatable)
          --level MUST|SHOULD|MAY   run vectors of this level or a stronger one
          --document NAME           run vectors that cover a row of this document: rfc7636, mcp (repeatable)
          --profile NAME            run the vectors of a profile: fapi-2.0-security, oauth-2.1
          --class NAME              report and count failures of this class only: broken, other-refusal,
                                    advice (repeatable)
          --since DATE              run vectors added on DATE or later
          --set NAME                count only the vectors of this frozen set
          --expected-failures FILE  known failures: a JSON object from vector name to reason
          --strict                  count warnings as failures
          --slow                    run slow vectors too
          --wait SECONDS            wait up to SECONDS where the target has no clock procedure (0)
          --seed TEXT               repeat the random values of another run
          --jobs N                  number of vectors that run at the same time (4)
          --timeout SECONDS         time limit of one exchange (10)
          --report-dir DIR          write report.json, report.xml (JUnit), report.html, summary.md
          --json, --junit           print that report instead of the table
          --verbose                 list passing vectors too, and show the exchanges of failures
          --list                    list the selected vectors and exit
          --version                 print the version of the kit
          --help                    print this help

Exit      0 as expected, 1 not as expected, 2 could not run, or asked no vector or almost none,
          130 interrupted

Examples  trivet-conformance mcp http://127.0.0.1:8080/mcp
          trivet-conformance oauth --target my-server.json --document rfc7636 --class broken
`;

export interface Arguments {
  readonly suites: readonly string[];
  readonly target?: string;
  readonly stdio?: string;
  readonly module?: string;
  readonly only: readonly string[];
  readonly documents: readonly string[];
  readonly profile?: string;
  readonly classes: readonly FailureClass[];
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
  readonly version: boolean;
  readonly format: "table" | "json" | "junit";
}

/** @throws {TypeError} for an unknown option or an invalid value */
export function parseArguments(args: readonly string[]): Arguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      target: { type: "string" },
      stdio: { type: "string" },
      module: { type: "string" },
      only: { type: "string", multiple: true },
      document: { type: "string", multiple: true },
      profile: { type: "string" },
      class: { type: "string", multiple: true },
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
      version: { type: "boolean" },
    },
  });
  checkNotEmpty(values);
  const { target, stdio, module, level, since, set, seed } = values;
  if (level !== undefined && !["MUST", "SHOULD", "MAY"].includes(level)) {
    throw new TypeError(`Invalid --level "${level}": use MUST, SHOULD or MAY.`);
  }
  if (since !== undefined && !/^\d{4}-\d{2}-\d{2}$/.test(since)) {
    throw new TypeError(`Invalid --since "${since}": use a date such as 2026-11-01.`);
  }
  const jobs = parseNumber("jobs", values.jobs, 1, 1000);
  const seconds = parseNumber("timeout", values.timeout, 0.01, MAX_SECONDS);
  const isUrl = (word: string) => /^https?:\/\//.test(word);
  const addresses = positionals.filter(isUrl);
  const incomplete = positionals.find((word) =>
    /^(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::\d+)?(?:\/.*)?$/.test(word) && !word.endsWith(".json")
  );
  if (incomplete !== undefined) {
    throw new TypeError(`Invalid URL "${incomplete}": write http://${incomplete} or https://${incomplete}.`);
  }
  const all = [...addresses, target, stdio, module].filter((each) => each !== undefined);
  if (addresses.length > 1 || addresses.length > 0 && all.length > 1) {
    throw new TypeError(
      `More than one target: ${all.map((each) => `"${each}"`).join(", ")}. Give one.`,
    );
  }
  return {
    suites: positionals.filter((word) => !isUrl(word)),
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
    documents: values.document ?? [],
    ...(values.profile !== undefined && { profile: values.profile }),
    classes: (values.class ?? []).map(toClass),
    wait: parseNumber("wait", values.wait, 0, MAX_SECONDS) ?? 0,
    strict: values.strict ?? false,
    slow: values.slow ?? false,
    verbose: values.verbose ?? false,
    list: values.list ?? false,
    help: values.help ?? false,
    version: values.version ?? false,
    format: values.json ? "json" : values.junit ? "junit" : "table",
  };
}

function toClass(name: string): FailureClass {
  const classes = Object.keys(CLASS_TITLES) as FailureClass[];
  const found = classes.find((each) => each === name);
  if (!found) throw new TypeError(`Invalid --class "${name}": use ${classes.join(", ")}.`);
  return found;
}

/** What an error says to a user: of `parseArgs` without its advice for arguments that begin with a hyphen. */
export function describeUsageError(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.startsWith("Unknown option")
    ? `${message.split(". ")[0]}. See trivet-conformance --help.`
    : message;
}

/** The longest timeout or wait: one day, well below the limit of a timer. */
const MAX_SECONDS = 86_400;

function parseNumber(name: string, text: string | undefined, min: number, max: number): number | undefined {
  if (text === undefined) return undefined;
  const value = text.trim() === "" ? NaN : Number(text);
  if (!(value >= min && value <= max)) {
    throw new TypeError(`Invalid --${name} "${text}": use a number from ${min} to ${max}.`);
  }
  return value;
}

/** Every name contains an empty text: `--only ""` would select all. @throws {TypeError} */
export function checkNotEmpty(values: Readonly<Record<string, unknown>>): void {
  const empty = Object.entries(values).find(([, value]) => [value].flat().includes(""));
  if (empty !== undefined) throw new TypeError(`Invalid --${empty[0]} "": must not be empty.`);
}
