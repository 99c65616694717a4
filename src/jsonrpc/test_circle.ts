/**
 * A value that has no JSON text, and takes long to refuse without the check of `to_json.ts`. Only tests import this.
 *
 * @module
 */

/** An object that refers to itself, as the entities of a database with relations do. */
export function circle(): Record<string, unknown> {
  // V8 writes only flat strings without a check.
  const root: Record<string, unknown> = { text: JSON.parse(`"${"x".repeat(20_000)}"`) };
  root.rows = [{ root }];
  return root;
}
