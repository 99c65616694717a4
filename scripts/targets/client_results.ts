/**
 * Runs the scenarios of the kit against the clients in `conformance/clients/`, and compares the results with the
 * `result.json` beside each. Makes the table of `conformance/clients/README.md`.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import process from "node:process";

const FOLDER = "conformance/clients";
const README = `${FOLDER}/README.md`;
const [TABLE_START, TABLE_END] = ["<!-- results -->\n", "<!-- end of results -->"];
const MAX_RUN_MS = 300_000;

/** What a client is: `client.json` beside its driver. */
interface ClientDescription {
  /** Name of the npm package; that of this repository is not installed. */
  readonly package: string;
  readonly suites: readonly string[];
  /** What it leaves to the application or does not implement, with reasons. */
  readonly without: Readonly<Record<string, string>>;
}

/** `result.json` beside a driver. */
export interface SavedResult {
  readonly package: string;
  readonly version: string;
  readonly suites: readonly string[];
  readonly without: Readonly<Record<string, string>>;
  readonly summary: Readonly<Record<string, number>>;
  /** Scenarios that did not pass and were not skipped. */
  readonly failures: Readonly<Record<string, { readonly outcome: string; readonly class?: string }>>;
}

/** The members of the JSON report that this file reads. */
interface Report {
  readonly summary: Readonly<Record<string, number>>;
  readonly scenarios: readonly {
    readonly name: string;
    readonly title: string;
    readonly outcome: string;
    readonly class?: string;
  }[];
}

/** The clients: folders with a `client.json`. */
export function listClients(): string[] {
  return globSync(`${FOLDER}/*/client.json`).map((file) => dirname(file).replaceAll("\\", "/")).sort();
}

/** Runs the scenarios against the client in a folder. `undefined` if it is not installed. */
export function runClientFolder(folder: string): SavedResult | undefined {
  const client = readJson(join(folder, "client.json")) as ClientDescription;
  const installed = client.package === "trivet"
    ? "package.json"
    : join(folder, "node_modules", client.package, "package.json");
  if (!existsSync(installed)) return undefined;
  const { version } = readJson(installed) as { version: string };
  const { stdout, stderr } = spawnSync(process.execPath, [
    "conformance/runner/cli.ts",
    "client",
    ...client.suites,
    ...Object.keys(client.without).flatMap((name) => ["--without", name]),
    "--driver",
    `${process.execPath} ${folder}/driver.mjs`,
    "--json",
  ], { encoding: "utf8", timeout: MAX_RUN_MS, maxBuffer: 1 << 26 });
  if (stdout === "") throw new Error(`${folder}: ${stderr}`);
  const { summary, scenarios }: Report = JSON.parse(stdout);
  const failures = Object.fromEntries(
    scenarios.filter(({ outcome }) => outcome !== "pass" && outcome !== "skip").map((each) => [
      each.name,
      { outcome: each.outcome, ...(each.class !== undefined && { class: each.class }), title: each.title },
    ]),
  );
  const { package: name, suites, without } = client;
  return { package: name, version, suites, without, summary, failures };
}

/** The saved result of a client. */
export function readSavedResult(folder: string): SavedResult {
  return readJson(join(folder, "result.json")) as SavedResult;
}

export function writeSavedResult(folder: string, result: SavedResult): void {
  writeFileSync(join(folder, "result.json"), `${JSON.stringify(result, null, 2)}\n`);
}

/** Names of the scenarios whose outcome is not the saved one. */
export function findChanges(saved: SavedResult, now: SavedResult): string[] {
  const names = new Set([...Object.keys(saved.failures), ...Object.keys(now.failures)]);
  const toWord = ({ failures }: SavedResult, name: string) => failures[name]?.outcome ?? "pass or skip";
  return [...names].filter((name) => toWord(saved, name) !== toWord(now, name)).sort()
    .map((name) => `${name} (${toWord(saved, name)}, now ${toWord(now, name)})`);
}

/** The table of results in Markdown, from the saved results. */
export function toResultTable(): string {
  const rows = listClients().map((folder) => {
    const { package: name, version, suites, without, summary } = readSavedResult(folder);
    const count = (word: string) => String(summary[word] ?? 0);
    const left = Object.entries(without).map(([need, reason]) => `${need}: ${reason}`).join("; ");
    const link = `[${name} ${version}](${basename(folder)}/result.json)`;
    const counts = [count("pass"), count("fail"), count("warn"), count("skip")];
    return `| ${[link, suites.join(", "), ...counts, left || "-"].join(" | ")} |`;
  });
  return [
    "| client | suites | pass | fail | warn | skip | not tested, because |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...rows,
    "",
  ].join("\n");
}

/** Writes the table into the README. @param format aligns its columns */
export function writeResultTable(format: (text: string) => string): void {
  const text = readFileSync(README, "utf8");
  const [before, after] = [text.split(TABLE_START)[0], text.split(TABLE_END)[1]];
  writeFileSync(README, format(`${before}${TABLE_START}\n${toResultTable()}\n${TABLE_END}${after}`));
}

/** The table in the README, without alignment. */
export function readResultTable(): string {
  const table = readFileSync(README, "utf8").split(TABLE_START)[1]?.split(TABLE_END)[0] ?? "";
  return table.trim().split("\n").map((line) => line.replace(/ +/g, " ").replace(/-{3,}/g, "---")).join("\n");
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"));
}
