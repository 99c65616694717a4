/**
 * Completions within the policy: of the arguments of a prompt, and of the variables of a resource template. The arguments are
 * not final yet, so what the rules say about them is unknown, and restricts.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import type { Complete, CompletionValues } from "../../mcp/definition/definition.ts";
import { variableNames } from "../../mcp/definition/uri/uri_expression.ts";
import type { RecordedUse } from "./call_record.ts";
import { nameOfUse, type OfferedDefinition } from "./offered.ts";
import { nameOf, type Rules, type Verdict } from "./rules.ts";

/** The definition, with completions that the policy decides about. */
export type GuardCompletions = <Each extends OfferedDefinition>(definition: Each) => Each;

/** Decides about a completion, runs it, and records it. */
export type RunCompletion = (
  use: RecordedUse,
  verdict: Verdict,
  context: { readonly principal: Principal | undefined },
  run: () => Promise<CompletionValues>,
) => Promise<CompletionValues>;

/** Values that are looked at: as many as a result may have. */
const MAX_VALUES = 100;

export function createCompletionGuard(rules: Rules, run: RunCompletion): GuardCompletions {
  return (definition) => {
    const guard = (argument: string, complete: Complete): Complete => async (value, context) => {
      const { principal, arguments: known } = context;
      const input = { ...known, [argument]: value };
      const use = { definition, name: nameOf(definition), input, isCompletion: true };
      const ahead = rules.decideAhead(definition, principal);
      // The other variables are what the client says, and some servers do not look at them.
      const decidesEach = ahead.effect !== "allow" && !ahead.isCertain &&
        definition.kind === "resource_template" && variableNames(definition.uriTemplate).length === 1;
      const isAllowed = (value: string): boolean => {
        const variables = { [argument]: value };
        const name = nameOfUse(definition, use.name, variables);
        return rules.decide(definition, name, variables, principal).effect === "allow";
      };
      return await run(use, decidesEach ? { ...ahead, effect: "allow" } : ahead, context, async () => {
        const given = await complete(value, context);
        const found: CompletionValues = "length" in given
          ? { values: given, total: given.length, hasMore: false }
          : given;
        if (!decidesEach) return found;
        const first = found.values.slice(0, MAX_VALUES);
        // The total would say how many are left out.
        return {
          values: first.filter(isAllowed),
          hasMore: found.hasMore || first.length < found.values.length,
        };
      });
    };
    if (definition.kind === "prompt") {
      const variables = definition.arguments?.map((each) =>
        each.complete ? { ...each, complete: guard(each.name, each.complete) } : each
      );
      return { ...definition, ...(variables && { arguments: variables }) };
    }
    if (definition.kind === "resource_template" && definition.complete) {
      const complete = Object.entries(definition.complete).map(([name, each]) => [name, guard(name, each)]);
      return { ...definition, complete: Object.fromEntries(complete) };
    }
    return definition;
  };
}
