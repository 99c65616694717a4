/**
 * Which features a vector needs, said or implied by its steps, and which of them a target lacks.
 *
 * @module
 */
import type { Step } from "./vector_file.ts";

/** Needs that nobody has to write: they follow from the steps. */
export function automaticNeeds(steps: readonly Step[]): string[] {
  const needs = new Set<string>();
  for (const step of steps) {
    if (step.call !== undefined) needs.add(`procedure:${step.call}`);
    if (step.raw) needs.add("raw");
    if ((step.request || step.stream !== undefined) && !step.echo) needs.add("http");
    if (step.end) needs.add("stdio");
    if (step.advance !== undefined) needs.add("clock");
  }
  return [...needs];
}

/** The first need that is not met. A clock may be replaced by waiting. */
export function missing(
  needs: readonly string[],
  features: ReadonlySet<string>,
  mayWait: boolean,
): string | undefined {
  const isMet = (need: string): boolean =>
    need.split("|").some((one) =>
      one.startsWith("!") ? !features.has(one.slice(1)) : features.has(one) || one === "clock" && mayWait
    );
  return needs.find((need) => !isMet(need));
}
