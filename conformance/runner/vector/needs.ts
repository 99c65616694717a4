/**
 * Finds the features that a vector needs, declared or implied by its steps, and those that a target does not
 * have.
 *
 * @module
 */
import { hasVariable as hasVariable } from "./template.ts";
import type { JsonObject, Step } from "./vector_file.ts";

/** Variables that only a target provides. */
const TARGET_VARIABLES: ReadonlySet<string> = new Set([
  "clients",
  "users",
  "endpoints",
  "scopes",
  "resources",
  "keys",
  "metadata",
]);
const TEMPLATE = /\{\{([a-z_]+)\.([^{}]+)\}\}/g;

/** Needs that follow from the steps and are not written in a vector. */
export function findImpliedNeeds(steps: readonly Step[]): string[] {
  const needs = new Set<string>();
  const own = new Set(
    steps.flatMap((step) => [step.let, step.with, step.capture].flatMap((all) => Object.keys(all ?? {}))),
  );
  for (const [, root = "", rest = ""] of JSON.stringify(steps).matchAll(TEMPLATE)) {
    if (TARGET_VARIABLES.has(root) && !own.has(root)) needs.add(`var:${root}.${rest}`);
  }
  for (const step of steps) {
    if (step.call !== undefined) needs.add(`procedure:${step.call}`);
    if (step.raw) needs.add("raw");
    if ((step.request || Array.isArray(step.parallel)) && !step.echo) needs.add("http");
    if (step.end) needs.add("stdio");
    if (step.advance !== undefined) needs.add("clock");
  }
  return [...needs];
}

/** The needs that a target does not meet. `var:a.b` needs a variable. Waiting can replace a clock. */
export function findUnmetNeeds(
  needs: readonly string[],
  { features, variables }: { readonly features: ReadonlySet<string>; readonly variables: JsonObject },
  mayWait: boolean,
): string[] {
  const has = (feature: string): boolean =>
    feature.startsWith("var:")
      ? hasVariable(feature.slice("var:".length), variables)
      : features.has(feature) || feature === "clock" && mayWait;
  const isMet = (need: string) =>
    need.split("|").some((one) => one.startsWith("!") ? !has(one.slice(1)) : has(one));
  return [...new Set(needs)].filter((need) => !isMet(need));
}
