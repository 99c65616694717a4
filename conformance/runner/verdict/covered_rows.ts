/**
 * The rows that a step covers: which are about form, which are rules, and which govern a differing place (`FORMAT.md`
 * section 7).
 *
 * @module
 */
import type { Mismatch } from "../outcome.ts";
import type { JsonObject, Requirement } from "../vector/vector_file.ts";
import { governs } from "./about.ts";
import { contentOf } from "./response.ts";

/** The place of the number of messages. A row with this place in `about` governs nothing else. */
const MESSAGE_COUNT = "messages.length";

export interface CoveredRows {
  /** Rows about form. */
  readonly form: readonly Requirement[];
  /** Rules; if a step covers only rows about form, these, without those about JSON-RPC as such if there are others. */
  readonly rules: readonly Requirement[];
  /** Those about the number of messages. */
  readonly counting: readonly Requirement[];
  /** The rows about form that govern a differing place. */
  readonly findGoverning: (mismatch: Mismatch) => readonly Requirement[];
}

export function sortRows(covered: readonly Requirement[], view: JsonObject | undefined): CoveredRows {
  const form = covered.filter(({ about }) => about !== undefined);
  const rules = [
    covered.filter(({ about }) => about === undefined),
    covered.filter((row) => !isAboutProtocol(row)),
  ].find((each) => each.length > 0) ?? covered;
  const counting = form.filter(({ about }) => about!.some(({ at }) => at === MESSAGE_COUNT));
  const content = contentOf(view);
  // Where a message came, only its jsonrpc is about JSON-RPC as such; where nothing came, nothing is.
  const findGoverning = (mismatch: Mismatch): readonly Requirement[] =>
    form.filter((row) =>
      row.about!.some((each) => governs(each, mismatch)) &&
      (content === "other" || !isAboutProtocol(row) ||
        content === "message" && mismatch.path.endsWith(".jsonrpc"))
    );
  return { form, rules, counting, findGoverning };
}

/** Whether a row is about messages of JSON-RPC as such, not about one value of `jsonrpc`. */
export function isAboutProtocol({ about = [] }: Requirement): boolean {
  return about.some(({ at, value }) => at.endsWith(".jsonrpc") && value === undefined);
}
