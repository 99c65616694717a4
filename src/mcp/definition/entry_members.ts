/**
 * Checks the members of list entries, and of the objects in them: because of one of another type, strict clients refuse the
 * whole list. Not with a JSON Schema, since every server checks its entries at the start: to compile one takes 3 ms of it.
 *
 * @module
 */
import { isObject } from "../../json_schema/value.ts";

/** A type, a pattern, the rule of the items of an array, or an object whose members have rules, and which one it must have. */
type Rule = "string" | "number" | "boolean" | "object" | RegExp | readonly [Rule] | { readonly has?: string };

/** By the name of the member, wherever it is. */
const RULES: ReadonlyMap<string, Rule> = new Map(Object.entries<Rule>({
  name: /./s,
  title: "string",
  description: "string",
  mimeType: "string",
  lastModified: "string",
  src: "string",
  sizes: ["string"],
  size: "number",
  priority: "number",
  required: "boolean",
  theme: /^(light|dark)$/,
  audience: [/^(user|assistant)$/],
  // RFC 6749 section 3.3, as in `../../http/scope_token.ts`.
  scopes: [/^[!#-[\]-~]+$/],
  annotations: {},
  icons: [{ has: "src" }],
  arguments: [{ has: "name" }],
  _meta: "object",
}));

/**
 * The first wrong member, as `/icons/0/src must be …`; `undefined` when all are right.
 * @param all the rule of every member. @default by its name
 */
export function findWrongMember(entry: object, place = "", all?: Rule): string | undefined {
  for (const [name, value] of Object.entries(entry)) {
    // Annotations of tools, such as readOnlyHint.
    const rule = all ?? RULES.get(name) ?? (name.endsWith("Hint") && "boolean");
    const wrong = rule && value !== undefined && findWrong(value, rule, `${place}/${name}`);
    if (wrong) return wrong;
  }
  return undefined;
}

function findWrong(value: unknown, rule: Rule, place: string): string | undefined {
  if (typeof rule === "string") {
    return typeof value === rule && (rule !== "object" || isObject(value))
      ? undefined
      : `${place} must be of type ${rule}`;
  }
  if (rule instanceof RegExp) {
    return typeof value === "string" && rule.test(value) ? undefined : `${place} must match ${rule}`;
  }
  if (isObject(rule)) {
    const { has } = rule;
    if (!isObject(value)) return `${place} must be of type object`;
    return has && value[has] === undefined ? `${place} must have ${has}` : findWrongMember(value, place);
  }
  return Array.isArray(value) ? findWrongMember(value, place, rule[0]) : `${place} must be of type array`;
}
