/**
 * `npm run coverage [-- PREFIX…]`: whether every requirement row has a vector or a reason, and every file of the kit is
 * what its schema says. Exit code 1 when not. Prefixes (`rfc7636`, `mcp`) choose documents.
 *
 *   node scripts/coverage.ts [--list] [PREFIX…]
 *
 * What vectors found is not said here but by a run of them; this is about what they ask.
 *
 * @module
 */
import { globSync, readFileSync } from "node:fs";
import process from "node:process";
import { parseArgs } from "node:util";
import { loadRequirements, loadVectors } from "../conformance/runner/vector/load.ts";
import { strengthOf } from "../conformance/runner/outcome.ts";
import { isMembers, type Vector } from "../conformance/runner/vector/vector_file.ts";
import { compileSchema } from "../src/json_schema/compile.ts";

const ROOT = "conformance";
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { list: { type: "boolean", default: false } },
});
const isChosen = (name: string) =>
  positionals.length === 0 || positionals.some((prefix) => name.startsWith(prefix));

let failed = false;
checkSchemas();
const requirements = loadRequirements(ROOT);
const vectors = loadVectors(ROOT, ["self", "all"], requirements);
checkSets();
printCoverage();
printRefusals();
process.exitCode = failed ? 1 : 0;

function complain(text: string): void {
  failed = true;
  console.log(text);
}

function checkSchemas(): void {
  for (
    const [schema, pattern] of [
      ["vector", "vectors/*/*.json"],
      ["requirement", "requirements/*.json"],
      ["target", "targets/{*,*/!(package*)}.json"],
    ] as const
  ) {
    const check = compileSchema(withVectorSchema(readJson(`${ROOT}/${schema}.schema.json`)));
    for (const file of globSync(`${ROOT}/${pattern}`).sort()) {
      for (const { path, message } of check(withoutWrongOnes(readJson(file))).slice(0, 3)) {
        complain(`${file}: ${path} ${message}`);
      }
    }
  }
}

/** Vectors of `self/` that a right runner calls an error are wrong on purpose. */
function withoutWrongOnes(file: unknown): unknown {
  if (!isMembers(file) || !Array.isArray(file["vectors"])) return file;
  return { ...file, vectors: (file["vectors"] as Vector[]).filter(({ outcome }) => outcome !== "error") };
}

/** Ids are for ever: what a frozen set names is there. */
function checkSets(): void {
  const names = new Set(vectors.map(({ name }) => name));
  const sets = readJson(`${ROOT}/sets.json`) as Readonly<Record<string, readonly string[]>>;
  for (const [set, all] of Object.entries(sets)) {
    for (const name of all) {
      if (!names.has(name)) complain(`sets.json: "${set}" names "${name}", which is not there`);
    }
  }
}

function printCoverage(): void {
  const covered = new Map<string, number>();
  for (const { vector } of vectors) {
    for (const id of vector.covers) covered.set(id, (covered.get(id) ?? 0) + 1);
  }
  const lines = [["document", "level", "rows", "excluded", "with vectors", "without"]];
  for (const { document, rows } of requirements.documents.values()) {
    if (!isChosen(document)) continue;
    for (const strength of ["MUST", "SHOULD", "MAY"]) {
      const these = rows.filter(({ level }) => strengthOf(level) === strength);
      const asked = these.filter(({ id }) => covered.has(id)).length;
      const excluded = these.filter(({ id, excluded }) => excluded !== undefined && !covered.has(id)).length;
      const without = these.filter(({ id, excluded }) => excluded === undefined && !covered.has(id));
      if (these.length === 0) continue;
      lines.push([document, strength, ...[these.length, excluded, asked, without.length].map(String)]);
      for (const { id, text } of values.list ? without : []) {
        complain(`${id} has neither a vector nor a reason: ${text}`);
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

/** An error status, an error in the body, in a redirect or in a message, an end of the connection, or what must not be there. */
function expectsRefusal({ steps }: Vector): boolean {
  return steps.some(({ expect }) => says(expect, ""));
}

function says(pattern: unknown, name: string): boolean {
  if (name === "status") {
    const all = Array.isArray(pattern) ? pattern : [pattern];
    return all.some((each) => Number(each) >= 400) || isMembers(pattern) && Number(pattern["$min"]) >= 400;
  }
  if (name === "error" || name === "$absent" || name === "broken" || name === "isError") {
    return !isMembers(pattern) || pattern["$absent"] !== true;
  }
  if (Array.isArray(pattern)) return pattern.some((each) => says(each, ""));
  return isMembers(pattern) && Object.entries(pattern).some(([member, each]) => says(each, member));
}

/** References to the other schema lead into this one: a compiled schema stands alone. */
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
