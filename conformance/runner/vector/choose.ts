/**
 * Which of the vectors a run asks.
 *
 * @module
 */
import type { Arguments } from "../arguments.ts";
import type { Loaded } from "./load.ts";

const ORDER: readonly string[] = ["MAY", "SHOULD", "MUST"];

export function choose(
  vectors: readonly Loaded[],
  { only, level, since, slow }: Pick<Arguments, "only" | "level" | "since" | "slow">,
): Loaded[] {
  return vectors.filter(({ name, vector, file, strength }) =>
    (only.length === 0 || only.some((part) => name.includes(part))) &&
    (level === undefined || ORDER.indexOf(strength) >= ORDER.indexOf(level)) &&
    (since === undefined || (vector.since ?? file.since ?? "") >= since) &&
    (slow || vector.slow !== true)
  );
}
