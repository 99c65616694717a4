/**
 * Two readings of a text: as it is, and as a program may understand it that ignores case, decodes percent-encoding, drops
 * invisible characters or resolves `..`. Where the two readings disagree, a comparison is unknown.
 *
 * @module
 */

/** A comparison: `undefined` when it is unknown. */
export type Truth = boolean | undefined;

/** Longer texts are not compared. */
export const MAX_COMPARED_CHARACTERS = 65_536;

/** Rounds of percent-decoding. */
const MAX_DECODINGS = 3;

/** Characters that programs drop or cut at: controls, formats such as U+200B, variation selectors, lone surrogates. */
const DROPPED = /[\p{Cc}\p{Cf}\p{Cs}\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;

/** The text without case, compatibility forms, invisible characters, and white space at its ends. */
export const toLoose: (text: string) => string = rememberLast((text) =>
  text.normalize("NFKC").replace(DROPPED, "").normalize("NFKC").toLowerCase().trim()
);

/** As {@linkcode toLoose}, for a path or a URL: percent-decoded, with `/` as the only separator, and `..` resolved. */
export const toLoosePath: (text: string) => string = rememberLast((text) => {
  const path = toLoose(decodeAll(toCanonicalUrl(text))).replaceAll("\\", "/");
  const [, scheme = "", rest = ""] = /^([a-z][a-z0-9+.-]*:\/\/)?(.*)$/s.exec(path)!;
  const isAbsolute = rest.startsWith("/");
  const kept: string[] = [];
  for (const segment of rest.split("/")) {
    // Windows drops dots and spaces at the end of a name.
    const name = segment === "." || segment === ".." ? segment : segment.replace(/[. ]+$/, "") || segment;
    if (name === "" || name === ".") continue;
    if (name === ".." && kept.length > 0 && kept.at(-1) !== "..") kept.pop();
    else if (name !== ".." || !isAbsolute) kept.push(name);
  }
  const end = /(?:^|\/)\.{0,2}$/.test(rest) && kept.length > 0 ? "/" : "";
  return scheme + (isAbsolute ? "/" : "") + kept.join("/") + end;
});

/**
 * The readings of a pattern that are compared with {@linkcode toLoosePath} of a text: `.` and `..` in it stay, and slashes
 * are one, but for those of a scheme. Which slashes are those is not certain where a pattern begins with a star, or is for a
 * part of the text.
 * @param isWhole whether it is for the beginning of the text or all of it: then it is decoded too
 */
export function toLoosePatterns(pattern: string, isWhole: boolean): readonly string[] {
  const readings = new Set<string>();
  for (const each of isWhole ? [pattern, decodeAll(toCanonicalPattern(pattern))] : [pattern]) {
    const path = each.normalize("NFKC").toLowerCase().replaceAll("\\", "/");
    readings.add(path);
    // One of slashes alone would be in every path.
    if (!/[^/*]/.test(path)) continue;
    const [, scheme = "", rest = ""] = /^([^:/]*:\/\/)?(.*)$/s.exec(path)!;
    readings.add(scheme + collapseSlashes(rest));
    readings.add(collapseSlashes(path));
  }
  return [...readings];
}

function collapseSlashes(path: string): string {
  return path.replace(/\/{2,}/g, "/");
}

/** A star before the path can stand for more than a host. */
function toCanonicalPattern(pattern: string): string {
  return /^[^*]+:\/\/[^*/\\?#]+(?:[/\\?#]|$)/.test(pattern) ? toCanonicalUrl(pattern) : pattern;
}

/** A URL without user name, password and default port, and with the host that a browser would use; so the URL in it. */
function toCanonicalUrl(text: string): string {
  // Such as upstream://files/file://localhost/etc/passwd. What follows the host is resolved as a part of the whole.
  const [whole = "", outer = "", inner = ""] =
    /^([a-z][a-z0-9+.-]*:\/\/[^/]*\/+)([a-z][a-z0-9+.-]*:\/\/[^/\\?#]*)/i.exec(text) ?? [];
  return normalizeUrl(outer + normalizeUrl(inner).replace(/\/$/, "") + text.slice(whole.length));
}

function normalizeUrl(text: string): string {
  if (kindOfPlace(text) !== "url") return text;
  const url = URL.parse(text);
  return url ? `${url.protocol}//${url.host}${url.pathname}${url.search}${url.hash}` : text;
}

/** Several conditions compare the same text one after the other. */
function rememberLast(make: (text: string) => string): (text: string) => string {
  let last: string | undefined;
  let made = "";
  return (text) => {
    if (text !== last) {
      made = make(text);
      last = text;
    }
    return made;
  };
}

/** What a text names: `undefined` for one that depends on where the program runs, or that names no place. */
export function kindOfPlace(text: string): "url" | "path" | "drive" | undefined {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return "url";
  if (/^[a-z]:[/\\]/i.test(text)) return "drive";
  return /^[/\\]/.test(text) ? "path" : undefined;
}

/** Programs that decode twice exist. */
function decodeAll(text: string): string {
  let path = text;
  for (let round = 0; round < MAX_DECODINGS && path.includes("%"); round++) {
    const decoded = decodePercent(path);
    if (decoded === path) break;
    path = decoded;
  }
  return path;
}

/** Sequences that are not valid UTF-8 stay as they are. */
function decodePercent(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (sequence) => {
    try {
      return decodeURIComponent(sequence);
    } catch {
      return sequence;
    }
  });
}

/** True or false when both readings agree. */
export function agree(strict: boolean, loose: boolean): Truth {
  return strict === loose ? strict : undefined;
}
