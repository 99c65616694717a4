/**
 * Reads lists of expected failures (`FORMAT.md` section 7).
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { LoadError } from "../vector/load.ts";
import { isJsonObject } from "../vector/vector_file.ts";

export type Baseline = ReadonlyMap<string, string>;

/** @throws {LoadError} */
export function readBaseline(
  path: string | undefined,
  deviations: Readonly<Record<string, string>>,
): Baseline {
  const known = new Map(Object.entries(deviations));
  if (path === undefined) return known;
  for (const [name, reason] of Object.entries(readJsonObject(path))) {
    if (typeof reason !== "string" || reason.trim() === "") {
      throw new LoadError(`Invalid expected failures in ${path}: "${name}" needs a reason`);
    }
    known.set(name, reason);
  }
  return known;
}

/**
 * Checks that expected failures name vectors or scenarios that exist: a misspelt name would never match.
 * @param where the list comes from
 * @throws {LoadError}
 */
export function checkNames(baseline: Baseline, known: Iterable<string>, where: string): void {
  const names = new Set(known);
  const unknown = [...baseline.keys()].filter((name) => !names.has(name));
  if (unknown.length === 0) return;
  const list = unknown.slice(0, MAX_LISTED).map((name) => `"${name}"`).join(", ");
  const more = unknown.length > MAX_LISTED ? ` and ${unknown.length - MAX_LISTED} more` : "";
  throw new LoadError(
    `Invalid expected failures in ${where}: unknown ${list}${more}. --list prints the names.`,
  );
}

const MAX_LISTED = 5;

/** @throws {LoadError} */
export function readJsonObject(path: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new LoadError(`Cannot read ${path}: ${(error as Error).message}`, { cause: error });
  }
  if (!isJsonObject(value)) throw new LoadError(`Invalid file ${path}: must be a JSON object`);
  return value;
}
