/**
 * Which features a vector needs, said or implied by its steps, and which of them a target lacks.
 *
 * @module
 */
import { isMembers, type Members, type Step } from "./vector_file.ts";

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

/** The first need that is not met. `var:a.b` asks for a variable; a clock may be replaced by waiting. */
export function missing(
  needs: readonly string[],
  { features, variables }: { readonly features: ReadonlySet<string>; readonly variables: Members },
  mayWait: boolean,
): string | undefined {
  const has = (one: string): boolean =>
    one.startsWith("var:")
      ? hasVariable(one.slice("var:".length), variables)
      : features.has(one) || one === "clock" && mayWait;
  return needs.find((need) =>
    !need.split("|").some((one) => one.startsWith("!") ? !has(one.slice(1)) : has(one))
  );
}

function hasVariable(path: string, variables: Members): boolean {
  let value: unknown = variables;
  for (const name of path.split(".")) {
    if (!isMembers(value) && !Array.isArray(value) || !Object.hasOwn(value, name)) return false;
    value = (value as Members)[name];
  }
  return value !== undefined;
}
