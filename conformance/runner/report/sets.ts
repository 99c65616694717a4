/**
 * Reads frozen sets of vectors and finds the vectors that changed since (`FORMAT.md` section 7).
 *
 * @module
 */
import { digestVector } from "../vector/digest.ts";
import { type LoadedVector, LoadError } from "../vector/load.ts";
import { isJsonObject } from "../vector/vector_file.ts";
import { readJsonObject } from "./baseline.ts";

/** A correction of a vector that a set has frozen. */
export interface Amendment {
  readonly vector: string;
  /** The digest of the corrected vector. */
  readonly digest: string;
  readonly date: string;
  readonly reason: string;
}

/** A set as `sets.json` has it: vectors with their digests, or only names in sets from before format 2. */
export type StoredSet = readonly string[] | {
  readonly vectors: Readonly<Record<string, string>>;
  readonly amendments?: readonly Amendment[];
};

export interface FrozenSet {
  readonly name: string;
  /** The digest of each vector, if the set has digests. */
  readonly digests: ReadonlyMap<string, string | undefined>;
  readonly amendments: readonly Amendment[];
}

/** A vector of a set that is not the one that was frozen. */
export interface ChangedVector {
  readonly name: string;
  readonly digest: string;
  /** The reason of its amendment. */
  readonly reason?: string;
}

/** @throws {LoadError} */
export function readSets(path: string): FrozenSet[] {
  return Object.entries(readJsonObject(path)).map(([name, stored]): FrozenSet => {
    if (Array.isArray(stored)) {
      return { name, digests: new Map(stored.map((each) => [String(each), undefined])), amendments: [] };
    }
    if (!isJsonObject(stored) || !isJsonObject(stored["vectors"])) {
      throw new LoadError(`Invalid set "${name}" in ${path}: "vectors" is required`);
    }
    const { vectors, amendments = [] } = stored as Exclude<StoredSet, readonly string[]>;
    return { name, digests: new Map(Object.entries(vectors)), amendments };
  });
}

/**
 * Reads one frozen set.
 *
 * @param asked the selected vectors; at least one must be in the set as it was frozen
 * @throws {LoadError}
 */
export function readSet(path: string, name: string, asked?: readonly LoadedVector[]): FrozenSet {
  const sets = readSets(path);
  const set = sets.find((each) => each.name === name);
  if (!set) {
    const names = sets.map((each) => `"${each.name}"`).join(", ");
    throw new LoadError(`Unknown set "${name}". Available sets: ${names === "" ? "none" : names}.`);
  }
  if (asked && !asked.some((each) => set.digests.has(each.name))) {
    throw new LoadError(`Invalid set "${name}": none of its vectors is selected`);
  }
  if (asked && asked.filter((each) => set.digests.has(each.name)).length === findChanged(set, asked).length) {
    throw new LoadError(
      `Invalid set "${name}": no selected vector counts, because all changed since it was frozen. Use a newer set.`,
    );
  }
  return set;
}

/** The vectors of a set whose digest is no longer the frozen one. */
export function findChanged(
  { digests, amendments }: FrozenSet,
  vectors: readonly LoadedVector[],
): ChangedVector[] {
  return vectors.flatMap((each): ChangedVector[] => {
    const frozen = digests.get(each.name);
    const digest = frozen === undefined ? undefined : digestVector(each);
    if (digest === undefined || digest === frozen) return [];
    const amendment = amendments.find(({ vector, digest: other }) =>
      vector === each.name && other === digest
    );
    return [{ name: each.name, digest, ...(amendment && { reason: amendment.reason }) }];
  });
}
