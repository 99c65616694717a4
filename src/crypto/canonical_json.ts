/**
 * JSON text that is equal for equal values, for digests and comparisons: the members of objects are in the order of their
 * names. For values whose size is limited elsewhere; `../gateway/policy/canonical_json.ts` limits it itself.
 *
 * @module
 */

/** The canonical text of a JSON value. Members without a value are left out. */
export function toCanonicalJson(value: unknown): string {
  // JSON.stringify writes the Infinity of 1e999 as null.
  if (typeof value === "number") return String(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(",")}]`;
  const members = Object.entries(value).filter(([, each]) => each !== undefined)
    .sort(([a], [b]) => a < b ? -1 : 1);
  return `{${members.map(([name, each]) => `${JSON.stringify(name)}:${toCanonicalJson(each)}`).join(",")}}`;
}
