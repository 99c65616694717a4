/**
 * Selects the vectors of a run.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import type { Arguments } from "../arguments.ts";
import type { LoadedVector } from "./load.ts";

const WEAKEST_FIRST: readonly string[] = ["MAY", "SHOULD", "MUST"];

/** Vectors of a document that is a profile of others, by the rows that they cover (`profiles.json`). */
interface Profile {
  /** How the ids of rows begin. */
  readonly rows: readonly string[];
  /** How the names of vectors begin that it does not ask, although they cover such rows. */
  readonly without: readonly string[];
  /** The feature of targets that claim the profile. */
  readonly feature: string;
}

/** The features that a target declares by being tested with this profile. */
export const readClaims = (profile: string | undefined): readonly string[] =>
  profile === undefined ? [] : [readProfile(profile).feature];

/** @throws {TypeError} for an unknown name */
function readProfile(name: string): Profile {
  const all: Readonly<Record<string, Profile>> = JSON.parse(
    readFileSync(new URL("../../profiles.json", import.meta.url), "utf8"),
  );
  if (!Object.hasOwn(all, name)) {
    throw new TypeError(`Unknown --profile "${name}": use ${Object.keys(all).join(" or ")}.`);
  }
  return all[name]!;
}

function isInProfile({ rows, without }: Profile, { name, rows: covered }: LoadedVector): boolean {
  return !without.some((start) => name.startsWith(start)) &&
    covered.some(({ id }) => rows.some((start) => id.startsWith(start)));
}

export function selectVectors(
  vectors: readonly LoadedVector[],
  { only, documents = [], profile: profileName, level, since, slow }:
    & Pick<Arguments, "only" | "level" | "since" | "slow">
    & Partial<Pick<Arguments, "documents" | "profile">>,
): LoadedVector[] {
  const profile = profileName === undefined ? undefined : readProfile(profileName);
  return vectors.filter((loaded) => {
    const { name, vector, file, rows, strength } = loaded;
    return (profile === undefined || isInProfile(profile, loaded)) &&
      (only.length === 0 || only.some((part) => name.includes(part))) &&
      (documents.length === 0 ||
        rows.some(({ document }) => documents.some((prefix) => document.startsWith(prefix)))) &&
      (level === undefined || WEAKEST_FIRST.indexOf(strength) >= WEAKEST_FIRST.indexOf(level)) &&
      (since === undefined || (vector.since ?? file.since ?? "") >= since) &&
      (slow || vector.slow !== true);
  });
}

/** The first option that selects nothing although others may: `--only` with a misspelt name. */
export function findUnmatched(
  vectors: readonly LoadedVector[],
  { only, documents }: Pick<Arguments, "only" | "documents">,
): string | undefined {
  const text = only.find((part) => !vectors.some(({ name }) => name.includes(part)));
  if (text !== undefined) return `--only "${text}"`;
  const document = documents.find((prefix) =>
    !vectors.some(({ rows }) => rows.some((row) => row.document.startsWith(prefix)))
  );
  return document === undefined ? undefined : `--document "${document}"`;
}
