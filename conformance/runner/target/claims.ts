/**
 * The features that a target showed when it was probed.
 *
 * @module
 */
import type { Procedure } from "./target_description.ts";
import type { JsonObject } from "../vector/vector_file.ts";

export interface Claims {
  readonly features: readonly string[];
  readonly vars?: JsonObject;
  readonly procedures?: Readonly<Record<string, Procedure>>;
  /** What was detected, as text for the report. */
  readonly notes: readonly string[];
}

export function formatNote(seen: string, features: readonly string[]): string {
  return `${seen}: ${features.length === 0 ? "no features detected" : features.join(", ")}`;
}
