/**
 * Parses media types in `Content-Type` and `Accept` (RFC 9110 section 8.3).
 *
 * @module
 */

/** Of a range in lower case. */
const REFUSED = /;\s*q=0(?:\.0*)?\s*(?:;|$)/;

/** The type and subtype in lower case, without parameters; `""` without a field. */
export function mediaType(field: string | null): string {
  if (field === null) return "";
  const end = field.indexOf(";");
  return (end < 0 ? field : field.slice(0, end)).trim().toLowerCase();
}

/** The value of a parameter such as `boundary`, unquoted; `undefined` when it is absent. */
export function mediaTypeParameter(field: string, name: string): string | undefined {
  const parameters = /;\s*([!#$%&'*+\-.^_`|~\w]+)=(?:"((?:[^"\\]|\\.)*)"|([!#$%&'*+\-.^_`|~\w]*))/g;
  for (const [, key, quoted, plain] of field.matchAll(parameters)) {
    if (key!.toLowerCase() === name) return quoted === undefined ? plain : quoted.replace(/\\(.)/g, "$1");
  }
  return undefined;
}

/**
 * Whether an `Accept` field names exactly this type. Wildcards do not count, and a weight only when it is 0, which means
 * "not acceptable" (RFC 9110 section 12.4.2).
 */
export function acceptNames(field: string | null, type: string): boolean {
  return field !== null &&
    field.toLowerCase().split(",").some((range) => mediaType(range) === type && !REFUSED.test(range));
}
