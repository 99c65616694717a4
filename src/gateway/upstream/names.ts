/**
 * The names of tools and prompts of upstreams as clients see them: `PREFIX_NAME`, of the characters and length that MCP
 * allows (2025-11-25, tools). A name depends on the configuration and on the upstream's own name for the entry, not on what
 * other upstreams offer now, so it stays the same when they fail and come back.
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";

const MAX_CHARACTERS = 128;
const MAX_PREFIX_CHARACTERS = 40;
const VALID = /^[A-Za-z0-9_.-]{1,128}$/;
const FORBIDDEN = /[^A-Za-z0-9_.-]/g;

/** The prefix of an upstream without one in its configuration: its name, or a similar text that no other name has. */
export function toPrefix(name: string): string {
  const clean = name.replace(FORBIDDEN, "_");
  if (clean === name && name.length <= MAX_PREFIX_CHARACTERS) return name;
  return `${clean.slice(0, MAX_PREFIX_CHARACTERS - 7)}_${digest(name, 6)}`;
}

/**
 * The prefixes of upstreams, by name. Of several that want none, the first by name has none, also while it offers nothing: so
 * no name passes from one upstream to another.
 */
export function assignPrefixes(
  upstreams: readonly { readonly name: string; readonly prefix: string | undefined }[],
): ReadonlyMap<string, string> {
  const [plain] = upstreams.filter(({ prefix }) => prefix === "").map(({ name }) => name).sort();
  return new Map(upstreams.map(({ name, prefix }) => [name, name === plain ? "" : prefix || toPrefix(name)]));
}

/**
 * The function from an upstream's names to those that clients see. A name that could belong to another upstream, or that
 * had to be changed, gets a digest.
 * @param prefix "" keeps the names
 * @param prefixes of all upstreams
 */
export function createNames(prefix: string, prefixes: readonly string[]): (original: string) => string {
  const head = prefix && `${prefix}_`;
  // `a_b_c` is the tool `c` of the upstream `a_b`, and not `b_c` of `a`.
  const others = prefixes.filter((each) => each !== "" && each !== prefix && each.startsWith(head));
  const heads = others.map((each) => `${each}_`);
  return (original) => {
    const name = head + original;
    return VALID.test(name) && original !== "" && !heads.some((each) => name.startsWith(each))
      ? name
      : toMarkedName(prefix, original);
  };
}

/** A name with a digest, which differs from the names of all other entries. */
export function toMarkedName(prefix: string, original: string): string {
  const mark = digest(JSON.stringify([prefix, original]), 8);
  const clean = original.replace(FORBIDDEN, "_");
  return `${prefix && `${prefix}_`}${mark}${clean && `_${clean}`}`.slice(0, MAX_CHARACTERS);
}

/** Lower-case characters and digits. */
function digest(text: string, length: number): string {
  return secretDigest(text).replace(/[-_]/g, "").toLowerCase().slice(0, length);
}

/**
 * Whether a name matches a pattern with `*` (any characters) and `?` (one). An upstream chooses the name, so that the time
 * must not grow with each star, as it does for a regular expression.
 */
export function matchesPattern(pattern: string, name: string): boolean {
  const wanted = [...pattern];
  const given = [...name];
  let at = 0;
  /** Where to go on when what follows the last star does not match: the star then stands for one more character. */
  let last: { readonly at: number; read: number } | undefined;
  for (let read = 0; read < given.length;) {
    if (wanted[at] === "*") last = { at: ++at, read };
    else if (wanted[at] === "?" || wanted[at] === given[read]) {
      at++;
      read++;
    } else if (last) {
      at = last.at;
      read = ++last.read;
    } else return false;
  }
  return wanted.slice(at).every((each) => each === "*");
}
