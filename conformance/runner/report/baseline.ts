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
