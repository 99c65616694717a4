/**
 * Known failures of an implementation, by name and reason, and frozen sets of vectors (`FORMAT.md` section 7).
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { LoadError } from "../vector/load.ts";
import { isMembers } from "../vector/vector_file.ts";

export type Baseline = ReadonlyMap<string, string>;

/** @throws {LoadError} */
export function readBaseline(
  path: string | undefined,
  deviations: Readonly<Record<string, string>>,
): Baseline {
  const known = new Map(Object.entries(deviations));
  if (path === undefined) return known;
  for (const [name, reason] of Object.entries(readObject(path))) {
    if (typeof reason !== "string" || reason.trim() === "") {
      throw new LoadError(`Cannot use ${path}: "${name}" must have a reason`);
    }
    known.set(name, reason);
  }
  return known;
}

/**
 * The names in a frozen set.
 *
 * @param asked names of the vectors that are asked: some of the set have to be, or the run says nothing about it
 * @throws {LoadError}
 */
export function readSet(path: string, name: string, asked?: readonly string[]): ReadonlySet<string> {
  const sets = readObject(path);
  const list = Object.hasOwn(sets, name) ? sets[name] : undefined;
  if (!Array.isArray(list)) {
    const names = Object.keys(sets).map((each) => `"${each}"`).join(", ");
    throw new LoadError(
      `Cannot use the set "${name}": there ${names === "" ? "is none yet" : `are ${names}`}`,
    );
  }
  const set = new Set(list.map(String));
  if (asked && !asked.some((each) => set.has(each))) {
    throw new LoadError(`Cannot use the set "${name}": none of its vectors would be asked`);
  }
  return set;
}

function readObject(path: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new LoadError(`Cannot read ${path}: ${(error as Error).message}`, { cause: error });
  }
  if (!isMembers(value)) throw new LoadError(`Cannot use ${path}: it must be an object`);
  return value;
}
