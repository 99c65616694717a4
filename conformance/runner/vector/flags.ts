/**
 * The impact of a failure, by flag (`FORMAT.md` section 10).
 *
 * @module
 */
import type { FailureClass } from "./vector_file.ts";

export const EFFECTS: Readonly<Record<string, string>> = {
  replay: "a single-use value works twice: a stolen code or token is still accepted",
  race: "a single-use value works for several requests that arrive at the same time",
  downgrade: "an attacker can switch off a protection",
  "mix-up": "a code or response of one request, client or server is accepted in place of another",
  "open-redirect": "the server redirects browsers, possibly with secrets, to a URL of an attacker",
  injection: "untrusted text becomes fields, markup or parameters",
  forgery: "another site can act in the name of the user",
  impersonation: "a client or user can pose as another",
  escalation: "more access than was granted is possible",
  leak: "a secret or the data of another user is disclosed",
  enumeration: "responses reveal what exists",
  guessing: "a secret can be guessed: attempts have no limit, or one that was never issued is accepted",
  traversal: "a path leads out of its folder",
  exhaustion: "a small request uses many resources of the server",
  smuggling: "an ambiguous request is accepted, which two parsers may read differently",
  loss: "data is lost or partly written",
  interop: "conforming clients do not work",
};

/** What each class of failure means. */
export const CLASS_TITLES: Readonly<Record<FailureClass, string>> = {
  broken: "broken",
  "other-refusal": "refused, with another error",
  advice: "deviates from advice",
};

/** The impact that was observed, in one sentence. */
export function describeEffect(flags: readonly string[]): string {
  return `Observed impact: ${flags.map((flag) => EFFECTS[flag] ?? flag).join("; ")}.`;
}
