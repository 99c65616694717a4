/**
 * User names: how they are compared, and which new ones are accepted. A name that exists keeps working.
 *
 * @module
 */
import { latePattern } from "../../text/late_pattern.ts";

/** What is wrong with a new user name. */
export type UsernameProblem = "length" | "characters" | "spaces" | "scripts";

/** Each problem in words, for the command line and for embedders. */
export const USERNAME_RULES: Readonly<Record<UsernameProblem, string>> = {
  length: "the user name must be 1 to 128 characters without control characters",
  characters: "the user name must not have control, invisible or unassigned characters",
  spaces: "the user name must not begin or end with a space or have two spaces in a row",
  scripts: "the user name must not mix Latin, Greek and Cyrillic letters",
};

const MAX_CHARACTERS = 128;
/**
 * Control, unassigned and private-use characters, surrogates, line separators, and what a reader cannot see: default
 * ignorable code points (UAX #44) and bidirectional controls (UAX #9), which reorder the text around them.
 */
const UNSAFE = latePattern(
  String
    .raw`[\p{Cc}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]|^\p{M}| \p{M}`,
  "u",
);
const SPACES = /^\p{White_Space}|\p{White_Space}$|\p{White_Space}{2}/u;
/** Scripts with letters that look alike (UTS #39 section 5.2 admits none of them beside another). */
const LOOKALIKE_SCRIPTS = ["Latin", "Greek", "Cyrillic"].map((script) =>
  latePattern(`\\p{Script=${script}}`, "u")
);

/** User names are compared in this form: NFKC and lower case. */
export function canonicalUsername(username: string): string {
  return username.normalize("NFKC").toLowerCase();
}

/** The first rule that a new user name breaks; `undefined` when it breaks none. Checked as given and in NFKC. */
export function checkUsername(username: string): UsernameProblem | undefined {
  if (username === "" || username.length > MAX_CHARACTERS) return "length";
  const normal = username.normalize("NFKC");
  if (normal.length > MAX_CHARACTERS) return "length";
  // A space that begins the name breaks the rule on spaces, whatever follows.
  if (SPACES.test(normal)) return "spaces";
  if (UNSAFE().test(username) || UNSAFE().test(normal)) return "characters";
  return LOOKALIKE_SCRIPTS.filter((script) => script().test(normal)).length > 1 ? "scripts" : undefined;
}
