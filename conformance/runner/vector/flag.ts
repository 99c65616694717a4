/**
 * What a failure leads to, by flag: `FORMAT.md` section 10.
 *
 * @module
 */
export const EFFECTS: Readonly<Record<string, string>> = {
  replay: "what is good once is good twice: a stolen code or token still works",
  race: "what is good once is good for several requests that arrive at the same time",
  downgrade: "a protection can be switched off by the one it protects against",
  "mix-up": "a client is led to give one server's answer to another",
  "open-redirect": "the server sends browsers, with or without secrets, where an attacker says",
  injection: "text of a stranger becomes structure: fields, markup, parameters",
  forgery: "another site acts in the user's name",
  impersonation: "a client or user passes for another",
  escalation: "more is allowed than was granted",
  leak: "a secret or another's data comes out",
  enumeration: "answers tell what exists",
  guessing: "secrets can be tried without limit",
  traversal: "a path leads out of its folder",
  exhaustion: "a small request costs the server much",
  smuggling: "two readers of the same bytes see different things",
  loss: "data vanishes or is half-written",
  interop: "right clients of others do not work",
};

/** What a failure leads to, in a sentence. */
export function effect(flags: readonly string[]): string {
  return `Where it fails, ${flags.map((flag) => EFFECTS[flag] ?? flag).join("; and ")}.`;
}
