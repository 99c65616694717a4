/**
 * Digests of vectors: of everything that decides the outcome, without the prose. Two kits whose digests are equal
 * test the same (`FORMAT.md` section 7).
 *
 * @module
 */
import { createHash } from "node:crypto";
import type { LoadedVector } from "./load.ts";
import { isJsonObject, type Step } from "./vector_file.ts";

/** Length of a digest in hexadecimal digits: 128 bits of SHA-256. */
const DIGEST_CHARACTERS = 32;

/**
 * The digest of a vector: its steps and those of its file, needs, flags, and the level and form of the rows that
 * it covers. Titles and notes are left out.
 */
export function digestVector({ name, vector, file, rows }: LoadedVector): string {
  const { flags = [], needs = [], steps, alone, slow, outcome, verdict } = vector;
  return digest({
    name,
    needs: [...file.needs ?? [], ...needs],
    flags,
    before: (file.before ?? []).map(withoutTitle),
    steps: steps.map(withoutTitle),
    rows: rows.map(({ id, level, about }) => ({ id, level, about })),
    alone,
    slow,
    outcome,
    verdict,
  });
}

/** The digest of several vectors, in any order. */
export function digestVectors(vectors: readonly LoadedVector[]): string {
  return digest(vectors.map((each) => `${each.name} ${digestVector(each)}`).sort());
}

function withoutTitle({ title: _, ...rest }: Step): Omit<Step, "title"> {
  return rest;
}

function digest(value: unknown): string {
  return createHash("sha256").update(toCanonicalJson(value)).digest("hex").slice(0, DIGEST_CHARACTERS);
}

/** JSON without whitespace, the members of objects sorted by name. */
function toCanonicalJson(value: unknown): string {
  return JSON.stringify(
    value,
    (_, each: unknown) =>
      isJsonObject(each)
        ? Object.fromEntries(Object.keys(each).sort().map((name) => [name, each[name]]))
        : each,
  );
}
