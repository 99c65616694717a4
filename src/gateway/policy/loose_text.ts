/**
 * Two readings of a text: as it is, and as a program may understand it that ignores case, decodes percent-encoding, drops
 * invisible characters or resolves `..`. Where the two readings disagree, a comparison is unknown.
 *
 * @module
 */

/** A comparison: `undefined` when it is unknown. */
export type Truth = boolean | undefined;

/** Longer texts are not compared; nor are those that are longer in compatibility forms: one character may become 18. */
const MAX_COMPARED_CHARACTERS = 65_536;

/** Rounds of percent-decoding. */
const MAX_DECODINGS = 3;

/** URLs in URLs that are read by themselves. */
const MAX_NESTED_URLS = 3;

/** Characters that programs drop or cut at: controls, formats, lone surrogates, and what is invisible where it is unknown. */
const DROPPED = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

export function isComparable(text: string): boolean {
  return text.length <= MAX_COMPARED_CHARACTERS && lengthOf(text) <= MAX_COMPARED_CHARACTERS;
}

const lengthOf = rememberLast((text) => text.normalize("NFKC").length);

/** The text without case, compatibility forms, invisible characters, and white space at its ends. */
export const toLoose: (text: string) => string = rememberLast((text) => dropAndFold(text).trim());

function dropAndFold(text: string): string {
  return foldCase(text.normalize("NFKC").replace(DROPPED, "").normalize("NFKC"));
}

/**
 * Full case folding (Unicode, 3.13). Lower case alone leaves letters apart that have one upper case, such as σ and ς;
 * the first step is for ẞ, which is its own upper case.
 */
function foldCase(text: string): string {
  const folded = text.toLowerCase().toUpperCase().toLowerCase();
  // Lower case chooses between the sigmas by what follows. Turkish programs read İ as i.
  return folded.replaceAll("ς", "σ").replaceAll("i\u0307", "i").normalize("NFKC");
}

/**
 * As {@linkcode toLoose}, for a path or a URL: percent-decoded, with `/` as the only separator, and `..` resolved. A URL in a
 * URL has two readings, since its `..` may lead out of it, or end at its own host.
 */
export const toLoosePaths: (text: string) => readonly string[] = rememberLast((text) => {
  const paths = readPaths(text, MAX_NESTED_URLS);
  // Programs that parse the URL of a file open its path, whatever its query and fragment are.
  const file = FILE.exec(decodeAll(toLoose(text)))?.[0];
  return file === undefined ? paths : [...paths, ...readPaths(file, MAX_NESTED_URLS)];
});

/** The URL of a file, also in another URL, before its query or fragment. */
const FILE = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/]*\/+)?\s*file:[^?#]*(?=[?#])/;

function readPaths(text: string, depth: number): readonly string[] {
  const path = readPath(text);
  const plain = withSlashes(decodeAll(toLoose(text)));
  const [outer] = depth > 0 ? NESTED.exec(plain) ?? [] : [];
  if (outer === undefined) return [path];
  const before = readPath(outer);
  const within = readPaths(plain.slice(outer.length), depth - 1);
  return [path, ...within.map((each) => before + collapseSlashes(each))];
}

function readPath(text: string): string {
  // Decoding and dropping characters can make a URL of a text that was none, such as ht\ttps%3A//host:443/.
  const plain = decodeAll(toCanonicalUrl(toLoose(decodeAll(toCanonicalUrl(text)))));
  // Windows drops dots and spaces at the end of a name. Tried once for each run of them: a run may be as long as the text.
  return resolve(
    toLoose(plain).replaceAll("\\", "/"),
    (name) => name.replace(/(?<![. ])[. ]+$/, "") || name,
  );
}

/** The text as it is, but for `..`, which programs that ignore nothing resolve too. */
export const withoutDots: (text: string) => string = rememberLast((text) =>
  /(?:^|\/)\.\.(?:\/|$)/.test(text) ? resolve(text, (name) => name) : text
);

function resolve(path: string, toName: (segment: string) => string): string {
  const [, scheme = "", rest = ""] = /^([a-z][a-z0-9+.-]*:\/\/)?(.*)$/is.exec(path)!;
  const isAbsolute = rest.startsWith("/");
  const kept: string[] = [];
  for (const segment of rest.split("/")) {
    const name = segment === "." || segment === ".." ? segment : toName(segment);
    if (name === "" || name === ".") continue;
    if (name === ".." && kept.length > 0 && kept.at(-1) !== "..") kept.pop();
    else if (name !== ".." || !isAbsolute) kept.push(name);
  }
  const end = /(?:^|\/)\.{0,2}$/.test(rest) && kept.length > 0 ? "/" : "";
  return scheme + (isAbsolute ? "/" : "") + kept.join("/") + end;
}

/**
 * The readings of a pattern that are compared with {@linkcode toLoosePaths} of a text: `.` and `..` in it stay, and slashes
 * are one, but for those of a scheme. Which slashes are those is not certain where a pattern begins with a star, or is for a
 * part of the text.
 * @param isWhole whether it is for the beginning of the text or all of it: then it is decoded too
 */
export function toLoosePatterns(pattern: string, isWhole: boolean): readonly string[] {
  const readings = new Set<string>();
  const spelled = [pattern, toCanonicalPattern(pattern), ...toCanonicalHosts(pattern)];
  for (const each of isWhole ? [...spelled, ...spelled.map(decodeAll)] : spelled) {
    const path = (dropAndFold(each) || each).replaceAll("\\", "/");
    readings.add(path);
    // One of slashes alone would be in every path.
    if (!/[^/*]/.test(path)) continue;
    const [, scheme = "", rest = ""] = /^([^:/]*:\/\/)?(.*)$/s.exec(path)!;
    readings.add(scheme + collapseSlashes(rest));
    readings.add(collapseSlashes(path));
    readings.add(scheme + resolveDots(collapseSlashes(rest)));
    readings.add(resolveDots(collapseSlashes(path)));
  }
  return [...readings];
}

function collapseSlashes(path: string): string {
  return path.replace(/\/{2,}/g, "/");
}

/** A star can stand for more than one segment, and `..` after it for any place. */
function resolveDots(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split("/")) {
    const last = kept.at(-1);
    const isNamed = last !== undefined && last !== "" && last !== ".." && !/[*:]/.test(last);
    if (segment === ".." && isNamed) kept.pop();
    else if (segment !== "." || kept.length === 0) kept.push(segment);
  }
  return kept.join("/");
}

/** A star before the path can stand for more than a host. */
function toCanonicalPattern(pattern: string): string {
  return /^[^*]+:\/\/[^*/\\?#]+(?:[/\\?#]|$)/.test(pattern) ? toCanonicalUrl(pattern) : pattern;
}

/** What stands for a star while a host is read as that of a URL. */
const STAR = "0star0";

/** A pattern in which each host is written as {@linkcode toCanonicalUrl} writes it, also beside stars. */
function toCanonicalHosts(pattern: string): readonly string[] {
  const read = pattern.replace(
    /([a-z][a-z0-9+.-]*|\*):\/\/([^/\\?#]+)/gi,
    (_, scheme: string, authority: string) => {
      // A URL without a port is at the default port, which is one of any port.
      const host = authority.replace(/:\d*\*[\d*]*$/, "*").split(".")
        // Part of a label in Punycode says nothing about the others.
        .map((label) => /\*.*[^\0-\x7f]|[^\0-\x7f].*\*/.test(label) ? "*" : label).join(".");
      const known = scheme !== "*" ? scheme : host.endsWith(":80") ? "http" : "https";
      const url = normalizeUrl(`${known}://${host.replaceAll("*", STAR)}`).replace(/\/$/, "");
      return scheme + url.slice(known.length).replaceAll(STAR, "*");
    },
  );
  // A URL without a path has the path "/".
  return /:\/\/[^/\\?#]+$/.test(read) ? [read, `${read}/`] : [read];
}

/** The beginning of the loose path of all texts that begin so. */
export const toLooseBeginning: (text: string) => string = rememberLast((text) => {
  // A host that is cut off could continue in any way.
  return readPath(text.replace(/:\/\/[^/\\?#]*$/, "://")).replace(/\/+$/, "");
});

/** What is before a URL in a URL, such as upstream://files/file:///etc/passwd. */
const NESTED = /^[a-z][a-z0-9+.-]*:\/\/[^/]*\/+(?=[a-z][a-z0-9+.-]*:\/\/)/i;

/** A URL without user name, password and default port, and with the host that a browser would use; so the URL in it. */
function toCanonicalUrl(given: string): string {
  const text = withSlashes(given);
  // Such as upstream://files/file://localhost/etc/passwd. What follows the host is resolved as a part of the whole.
  const [whole = "", outer = "", inner = ""] =
    /^([a-z][a-z0-9+.-]*:\/\/[^/]*\/+)([a-z][a-z0-9+.-]*:\/\/[^/\\?#]*)/i.exec(text) ?? [];
  return normalizeUrl(outer + normalizeUrl(inner).replace(/\/$/, "") + text.slice(whole.length));
}

/** Programs find the host of https:host and of https:/host too, and the path of file:path; also after white space. */
function withSlashes(text: string): string {
  const [whole, outer = "", scheme = "", slashes = ""] =
    /^([a-z][a-z0-9+.-]*:\/\/[^/]*\/+)?\s*(https?|wss?|ftp|file):([/\\]*)/i.exec(text) ?? [];
  if (whole === undefined) return text;
  const isFile = scheme.toLowerCase() === "file";
  // The third slash begins the path of a file.
  const read = isFile ? slashes.length < 2 ? "///" : `//${slashes.slice(2)}` : "//";
  return `${outer}${scheme}:${read}${text.slice(whole.length)}`;
}

function normalizeUrl(text: string): string {
  if (kindOfPlace(text) !== "url") return text;
  const url = URL.parse(text);
  return url ? `${url.protocol}//${url.host}${url.pathname}${url.search}${url.hash}` : text;
}

/**
 * Whether programs differ in where `..` leads. What some decode, drop or take for a slash, others read as one segment:
 * `/a/b%2Fc/../..` and `/a/b\c/../..` are `/` to these and `/a` to those, and `/a//..` is `/` or `/a/`. Servers of Java drop
 * what follows ";" in a segment.
 */
export const isAmbiguousPath: (text: string) => boolean = rememberLast((text) => {
  const loose = decodeAll(toLoose(decodeAll(text))).replaceAll("\\", "/");
  if (!/(?:^|\/)\.\.(?:[/;]|$)/.test(loose)) return false;
  const path = text.replace(/^[a-z][a-z0-9+.-]*:\/\/\/?/i, "");
  return /[%\\;]|\/\//.test(path) || text.toLowerCase() !== loose;
});

/** Several conditions compare the same text one after the other. */
export function rememberLast<Made>(make: (text: string) => Made): (text: string) => Made {
  let last: { readonly text: string; readonly made: Made } | undefined;
  return (text) => {
    if (text !== last?.text) last = { text, made: make(text) };
    return last.made;
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

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Most programs decode the rest of a sequence too when a part of it is not valid UTF-8. */
function decodePercent(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (sequence) => {
    // One character: the decoder would take most of the time of a text that is encoded twice.
    if (sequence.length === 3 && sequence < "%8") return String.fromCharCode(parseInt(sequence.slice(1), 16));
    const bytes = sequence.slice(1).split("%").map((each) => parseInt(each, 16));
    return utf8.decode(Uint8Array.from(bytes));
  });
}

/** True or false when all readings agree. */
export function agree(strict: boolean, loose: readonly boolean[]): Truth {
  return loose.every((each) => each === strict) ? strict : undefined;
}
