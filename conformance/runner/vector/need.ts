/**
 * Which features a vector needs, said or implied by its steps, and which of them a target lacks.
 *
 * @module
 */
import { has as hasVariable } from "./template.ts";
import type { Members, Step } from "./vector_file.ts";

/** Names under which targets, and nobody else, give variables. */
const OF_TARGETS: ReadonlySet<string> = new Set([
  "clients",
  "users",
  "endpoints",
  "scopes",
  "resources",
  "keys",
  "metadata",
]);
const TEMPLATE = /\{\{([a-z_]+)\.([^{}]+)\}\}/g;

/** Needs that nobody has to write: they follow from the steps. */
export function automaticNeeds(steps: readonly Step[]): string[] {
  const needs = new Set<string>();
  const own = new Set(
    steps.flatMap((step) => [step.let, step.with, step.capture].flatMap((all) => Object.keys(all ?? {}))),
  );
  for (const [, root = "", rest = ""] of JSON.stringify(steps).matchAll(TEMPLATE)) {
    if (OF_TARGETS.has(root) && !own.has(root)) needs.add(`var:${root}.${rest}`);
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

/** The needs that are not met. `var:a.b` asks for a variable; a clock may be replaced by waiting. */
export function missing(
  needs: readonly string[],
  { features, variables }: { readonly features: ReadonlySet<string>; readonly variables: Members },
  mayWait: boolean,
): string[] {
  const has = (one: string): boolean =>
    one.startsWith("var:")
      ? hasVariable(one.slice("var:".length), variables)
      : features.has(one) || one === "clock" && mayWait;
  const isMet = (need: string) =>
    need.split("|").some((one) => one.startsWith("!") ? !has(one.slice(1)) : has(one));
  return [...new Set(needs)].filter((need) => !isMet(need));
}
