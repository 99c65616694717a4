/**
 * What a server under test showed of itself, as features that vectors ask for.
 *
 * @module
 */
import type { Procedure } from "./target_description.ts";
import type { Members } from "../vector/vector_file.ts";

export interface Claims {
  readonly features: readonly string[];
  readonly vars?: Members;
  readonly procedures?: Readonly<Record<string, Procedure>>;
  /** For people: what was looked at, and what was found. */
  readonly notes: readonly string[];
}

export function note(seen: string, features: readonly string[]): string {
  return `${seen}: ${features.length === 0 ? "nothing to claim" : features.join(", ")}`;
}
