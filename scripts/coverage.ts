/**
 * `npm run coverage [-- PREFIX…]`: checks that every requirement row has a vector or a reason for its exclusion, and that
 * every file of the kit is valid against its schema. Exit code 1 otherwise. Prefixes (`rfc7636`, `mcp`) choose documents.
 *
 *   node scripts/coverage.ts [--list] [--citations] [PREFIX…]
 *
 * It runs no vectors. `--list` lists the rows without vector and reason.
 *
 * @module
 */
import { globSync, readFileSync } from "node:fs";
import process from "node:process";
import { parseArgs } from "node:util";
import { expandFragments } from "../conformance/runner/vector/fragments.ts";
import { loadRequirements, loadVectors } from "../conformance/runner/vector/load.ts";
import { loadScenarios } from "../conformance/runner/client/scenario.ts";
import { toStrength } from "../conformance/runner/outcome.ts";
import { isJsonObject, type Vector } from "../conformance/runner/vector/vector_file.ts";
import { findChanged, readSets } from "../conformance/runner/report/sets.ts";
import { lintVectors } from "./lint_vectors.ts";
import { compileSchema } from "../src/json_schema/compile.ts";

const ROOT = "conformance";
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: "boolean", default: false },
    citations: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});
if (values.help) {
  process.stdout.write(`Usage: npm run coverage -- [--list] [--citations] [PREFIX...]

Checks that every requirement row has a vector or a reason for its exclusion, that every file of the kit is valid
against its schema, and that vectors of frozen sets are what was frozen. Prefixes (rfc7636, mcp) choose documents.

Options:
  --list       list the rows that have neither a vector nor a reason
  --citations  list vectors that assert the form of a response without a row about it
  --help       print this help
`);
  process.exit(0);
}
const isChosen = (name: string) =>
  positionals.length === 0 || positionals.some((prefix) => name.startsWith(prefix));

let failed = false;
checkSchemas();
const requirements = loadRequirements(ROOT);
const vectors = loadVectors(ROOT, ["self", "all"], requirements);
checkSets();
checkSections();
checkScenarios();
printCoverage();
printRefusals();
if (values.citations) {
  for (const problem of lintVectors(vectors)) if (isChosen(problem)) reportProblem(problem);
}
process.exitCode = failed ? 1 : 0;

function reportProblem(text: string): void {
  failed = true;
  console.log(text);
}

function checkSchemas(): void {
  for (
    const [schema, pattern] of [
      ["vector", "vectors/*/*.json"],
      ["requirement", "requirements/*.json"],
      ["clients/scenario", "clients/scenarios/*.json"],
      ["target", "targets/{*,*/!(package*|findings|result|mutants)}.json"],
      ["findings", "targets/*/findings.json"],
    ] as const
  ) {
    const check = compileSchema(withVectorSchema(readJson(`${ROOT}/${schema}.schema.json`)));
    for (const file of globSync(`${ROOT}/${pattern}`).sort()) {
      const value = withoutInvalidVectors(readJson(file));
      const expanded = isJsonObject(value) && "fragments" in value ? [expandFragments(value)] : [];
      for (const { path, message } of [value, ...expanded].flatMap((each) => check(each)).slice(0, 3)) {
        reportProblem(`${file}: ${path} ${message}`);
      }
    }
  }
}

/** Vectors of `self/` whose outcome is "error" are invalid on purpose. */
function withoutInvalidVectors(file: unknown): unknown {
  if (!isJsonObject(file) || !Array.isArray(file["vectors"])) return file;
  return { ...file, vectors: (file["vectors"] as Vector[]).filter(({ outcome }) => outcome !== "error") };
}

/** Checks that every vector of a frozen set exists, and is what was frozen or has an amendment. */
function checkSets(): void {
  const names = new Set(vectors.map(({ name }) => name));
  for (const set of readSets(`${ROOT}/sets.json`)) {
    for (const name of set.digests.keys()) {
      if (!names.has(name)) {
        reportProblem(`sets.json: the vector "${name}" of the set "${set.name}" does not exist`);
      }
    }
    for (const { name, reason } of findChanged(set, vectors)) {
      if (reason === undefined) {
        reportProblem(
          `sets.json: the vector "${name}" changed since the set "${set.name}" was frozen. ` +
            `Restore it and add a vector that supersedes it, or: npm run freeze -- --amend ${set.name} --reason TEXT`,
        );
      }
    }
  }
}

/** Checks that rows of these documents, which have several pages, link to their section. */
function checkSections(): void {
  for (const { id, link, document } of requirements.rows.values()) {
    const { url } = requirements.documents.get(document)!;
    if (
      /^(jsonrpc|mcp|skills)-/.test(document) && isChosen(document) && (link === url || !URL.canParse(link))
    ) {
      reportProblem(`${id} has no URL of its section: add "sections" to the document`);
    }
  }
}

/** Checks that every row that binds only clients has a scenario or a reason, in documents with scenarios. */
function checkScenarios(): void {
  const scenarios = loadScenarios(ROOT, ["all"], requirements);
  const covered = new Set(scenarios.flatMap(({ scenario }) => scenario.covers));
  const documents = new Set([...covered].map((id) => requirements.rows.get(id)?.document));
  for (const { id, binds, excluded, document } of requirements.rows.values()) {
    if (!documents.has(document)) continue;
    const bindsClientsOnly = binds !== undefined && !binds.includes("server");
    if (bindsClientsOnly && !covered.has(id) && excluded === undefined) {
      reportProblem(`${id} binds clients and has neither a scenario nor a reason for exclusion`);
    }
  }
  console.log(`clients: ${scenarios.length} scenarios for ${covered.size} rows`);
}

function printCoverage(): void {
  const covered = new Map<string, number>();
  for (const { rows } of vectors) {
    for (const { id } of rows) covered.set(id, (covered.get(id) ?? 0) + 1);
  }
  const lines = [["document", "level", "rows", "excluded", "with vectors", "without"]];
  for (const { document, rows } of requirements.documents.values()) {
    if (!isChosen(document)) continue;
    for (const strength of ["MUST", "SHOULD", "MAY"]) {
      const these = rows.filter(({ level, binds }) =>
        toStrength(level) === strength && (binds?.includes("server") ?? true)
      );
      const withVectors = these.filter(({ id }) => covered.has(id)).length;
      const excluded = these.filter(({ id, excluded }) => excluded !== undefined && !covered.has(id)).length;
      const without = these.filter(({ id, excluded }) => excluded === undefined && !covered.has(id));
      if (these.length === 0) continue;
      lines.push([document, strength, ...[these.length, excluded, withVectors, without.length].map(String)]);
      for (const { id, text } of values.list ? without : []) {
        reportProblem(`${id} has neither a vector nor a reason for exclusion: ${text}`);
      }
      if (without.length > 0) failed = true;
    }
  }
  const widths = lines[0]!.map((_, at) => Math.max(...lines.map((line) => line[at]!.length)));
  for (const line of lines) {
    console.log(
      line.map((cell, at) => at < 2 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)).join("  "),
    );
  }
}

function printRefusals(): void {
  const suites = Map.groupBy(vectors, ({ file }) => file.suite.split("/")[0]!);
  for (const [suite, all] of suites) {
    if (suite === "self") continue;
    const refusals = all.filter(({ vector }) => expectsRefusal(vector)).length;
    console.log(
      `${suite}: ${all.length} vectors, ${Math.round(100 * refusals / all.length)} % expect a refusal`,
    );
  }
}

/** Whether a step expects an error status, an error in a body, redirect or message, a broken connection, or an absence. */
function expectsRefusal({ steps }: Vector): boolean {
  return steps.some(({ expect }) => hasRefusal(expect, ""));
}

function hasRefusal(pattern: unknown, name: string): boolean {
  if (name === "status") {
    const all = Array.isArray(pattern) ? pattern : [pattern];
    return all.some((each) => Number(each) >= 400) || isJsonObject(pattern) && Number(pattern["$min"]) >= 400;
  }
  if (name === "error" || name === "$absent" || name === "broken" || name === "isError") {
    return !isJsonObject(pattern) || pattern["$absent"] !== true;
  }
  if (Array.isArray(pattern)) return pattern.some((each) => hasRefusal(each, ""));
  return isJsonObject(pattern) && Object.entries(pattern).some(([member, each]) => hasRefusal(each, member));
}

/** Copies the definitions of the vector schema into a schema that refers to them: a schema is compiled alone. */
function withVectorSchema(schema: unknown): { readonly [keyword: string]: unknown } {
  const text = JSON.stringify(schema);
  if (!text.includes("vector.schema.json#")) return JSON.parse(text);
  const whole = JSON.parse(text.replaceAll("vector.schema.json#", "#"));
  const { $defs } = readJson(`${ROOT}/vector.schema.json`) as { $defs: unknown };
  return { ...whole, $defs };
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"));
}
