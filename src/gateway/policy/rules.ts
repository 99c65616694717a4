/**
 * The rules of a policy, checked and compiled: the first that applies decides.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import { digestJson } from "./canonical_json.ts";
import { compileWhen, type Decide, PolicyError } from "./condition.ts";
import { type CompiledMatch, compileMatch, MATCH_MEMBERS } from "./match.ts";
import type { Truth } from "./loose_text.ts";
import type { OfferedDefinition } from "./offered.ts";
import type { Effect, PolicyOptions, PolicyRule } from "./policy_options.ts";

/** What the rules say about a call. */
export interface Verdict {
  readonly effect: Effect;
  /** The rule, such as `rules[2]`, or `default`. */
  readonly place: string;
  /** What the operator says about it. */
  readonly reason: string | undefined;
  /** The digest of the rule: what a user allowed by one rule is not allowed by another. */
  readonly id: string;
}

/** A verdict about each use of a definition. */
export interface AheadVerdict extends Verdict {
  /** Whether no argument and no URI can change it. */
  readonly isCertain: boolean;
}

/** The rules of a policy. */
export interface Rules {
  decide(definition: OfferedDefinition, name: string, input: unknown, caller: Principal | undefined): Verdict;
  /** Decides about a use before its arguments, or the URI of a template, are known. What is unknown restricts. */
  decideAhead(definition: OfferedDefinition, caller: Principal | undefined): AheadVerdict;
  isVisible(definition: OfferedDefinition, caller: Principal | undefined): boolean;
}

interface CompiledRule extends Verdict {
  readonly match: CompiledMatch;
  readonly when: Decide | undefined;
}

const EFFECTS: readonly Effect[] = ["allow", "deny", "ask"];
const MAX_RULES = 1000;
const MAX_REASON_CHARACTERS = 500;
const RULE_MEMBERS: ReadonlySet<string> = new Set<keyof PolicyRule>([
  ...MATCH_MEMBERS,
  "when",
  "effect",
  "reason",
]);

/** @throws {PolicyError} naming the place, such as `policy.rules[2].when` */
export function compileRules(
  { default: fallback = "allow", rules = [] }: PolicyOptions,
  implied: ReadonlyMap<string, ReadonlySet<string>>,
): Rules {
  checkEffect(fallback, "default");
  if (!Array.isArray(rules) || rules.length > MAX_RULES) {
    throw new PolicyError("rules", `must be a list of at most ${MAX_RULES} rules`);
  }
  const compiled = rules.map((rule, i) => compileRule(rule, `rules[${i}]`, implied));
  const otherwise: Verdict = { effect: fallback, place: "default", reason: undefined, id: "" };
  /** The rules that can be about a definition. Not for templates, whose URI differs with each read. */
  const candidates = new WeakMap<OfferedDefinition, readonly CompiledRule[]>();

  function findCandidates(definition: OfferedDefinition): readonly CompiledRule[] {
    let found = candidates.get(definition);
    if (!found) {
      found = definition.kind === "resource_template" ? compiled : compiled.filter((rule) => {
        return applies(rule, rule.match.definition(definition, nameOf(definition)));
      });
      candidates.set(definition, found);
    }
    return found;
  }

  return {
    decide(definition, name, input, caller) {
      for (const rule of findCandidates(definition)) {
        if (
          definition.kind === "resource_template" && !applies(rule, rule.match.definition(definition, name))
        ) {
          continue;
        }
        if (!applies(rule, rule.match.caller(caller))) continue;
        if (!rule.when || applies(rule, rule.when(input))) return rule;
      }
      return otherwise;
    },
    decideAhead(definition, caller) {
      let isCertain = true;
      for (const rule of findCandidates(definition)) {
        if (!applies(rule, rule.match.caller(caller))) continue;
        const truth = matchAhead(rule, definition);
        if (truth === false) continue;
        if (truth && !rule.when) return { ...rule, isCertain };
        isCertain = false;
        if (rule.effect !== "allow") return { ...rule, isCertain };
      }
      return { ...otherwise, isCertain };
    },
    isVisible(definition, caller) {
      for (const rule of findCandidates(definition)) {
        if (!applies(rule, rule.match.caller(caller))) continue;
        const truth = matchAhead(rule, definition);
        if (truth === false) continue;
        if (rule.effect !== "deny") return true;
        if (truth && !rule.when) return false;
      }
      return fallback !== "deny";
    },
  };
}

/** Whether a rule, but for its conditions, is about all uses of a definition: of a template unknown for some URIs only. */
function matchAhead(rule: CompiledRule, definition: OfferedDefinition): Truth {
  if (definition.kind === "resource_template") {
    return rule.match.template(definition, definition.uriTemplate);
  }
  return applies(rule, rule.match.definition(definition, nameOf(definition)));
}

/** What is unknown restricts. */
function applies({ effect }: Verdict, truth: boolean | undefined): boolean {
  return truth ?? effect !== "allow";
}

/** The name or URI of a definition; the template of a template. */
export function nameOf(definition: OfferedDefinition): string {
  if (definition.kind === "resource") return definition.uri;
  return definition.kind === "resource_template" ? definition.uriTemplate : definition.name;
}

function compileRule(
  rule: PolicyRule,
  place: string,
  implied: ReadonlyMap<string, ReadonlySet<string>>,
): CompiledRule {
  checkMembers(rule, RULE_MEMBERS, place);
  checkEffect(rule.effect, `${place}.effect`);
  const { effect, reason, when } = rule;
  if (reason !== undefined && (typeof reason !== "string" || reason.length > MAX_REASON_CHARACTERS)) {
    throw new PolicyError(`${place}.reason`, `must be a text of at most ${MAX_REASON_CHARACTERS} characters`);
  }
  return {
    effect,
    place,
    reason,
    id: digestJson(rule),
    match: compileMatch(rule, place, implied),
    when: when === undefined ? undefined : compileWhen(when, `${place}.when`),
  };
}

/** @throws {PolicyError} unless it is an object of known members */
export function checkMembers(value: unknown, known: ReadonlySet<string>, place: string): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new PolicyError(place, "must be an object");
  }
  const unknown = Object.keys(value).find((name) => !known.has(name));
  if (unknown === undefined) return;
  throw new PolicyError(place, `has the unknown member "${unknown}"; known are ${[...known].join(", ")}`);
}

function checkEffect(effect: unknown, place: string): void {
  if (EFFECTS.includes(effect as Effect)) return;
  throw new PolicyError(place, `must be ${EFFECTS.join(", ")}`);
}
