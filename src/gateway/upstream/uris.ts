/**
 * The URIs of an upstream's resources as clients see them: `upstream://NAME/URI`, so that no upstream can take the place of
 * another one or of the server's own resources. The rest is the upstream's URI as it is, also in a template. Two schemes are
 * kept, since clients require them: `ui://REST` becomes `ui://NAME/REST` (MCP Apps), and `skill://REST` becomes
 * `skill://upstream.NAME/REST`. No skill of the server itself begins so: their names and ids have no dot.
 *
 * @module
 */

/** Maps the URIs of one upstream in both directions. */
export interface UriMap {
  /** The URI or URI template that clients see. */
  toPublic(uri: string): string;
  /** The upstream's URI; `undefined` for one of another server. */
  toOriginal(uri: string): string | undefined;
  /** The template of all URIs that clients see; `undefined` where the upstream keeps its URIs. */
  readonly all: string | undefined;
  /** As `all`, for the apps of its tools (`ui://`). */
  readonly apps: string | undefined;
  /** The template of the files of its skills. */
  readonly skills: string;
  /** What URIs of this upstream alone begin with. */
  readonly heads: readonly string[];
}

const SCHEME = "upstream://";
const UI = "ui://";
const SKILL = "skill://";
/** The first segment of the path of each skill of an upstream begins with this. */
export const SKILL_AUTHORITY = "upstream.";

/** The URIs of the upstream of this name. */
export function createUriMap(name: string): UriMap {
  const authority = toAuthority(name);
  const head = `${SCHEME}${authority}/`;
  const heads = [
    [UI, `${UI}${authority}/`],
    [SKILL, `${SKILL}${SKILL_AUTHORITY}${authority}/`],
    ["", head],
  ] as const;
  return {
    toPublic(uri) {
      const [scheme, head] = heads.find(([scheme]) => uri.startsWith(scheme))!;
      return head + uri.slice(scheme.length);
    },
    toOriginal(uri) {
      const found = heads.find(([, head]) => uri.startsWith(head));
      const rest = found && uri.slice(found[1].length);
      // With two public URIs, what a rule denies or what is held could be read by the other one.
      if (rest === undefined || found![0] === "" && hasOwnScheme(rest, /^(?:ui|skill):[/\\]{2}/i)) {
        return undefined;
      }
      return found![0] + rest;
    },
    all: `${head}{+uri}`,
    apps: `${UI}${authority}/{+uri}`,
    skills: `${SKILL}${SKILL_AUTHORITY}${authority}/{+path}`,
    heads: heads.map(([, head]) => head),
  };
}

/** Keeps the URIs, for an upstream without a prefix; but skills of the server itself come first at theirs. */
export function createKeptUris(name: string): UriMap {
  const { toPublic, toOriginal, skills } = createUriMap(name);
  return {
    toPublic: (uri) => uri.startsWith(SKILL) ? toPublic(uri) : uri,
    toOriginal: (uri) =>
      uri.startsWith(SKILL) ? toOriginal(uri) : hasOwnScheme(uri, /^skill:[/\\]{2}/i) ? undefined : uri,
    all: undefined,
    apps: undefined,
    skills,
    heads: [],
  };
}

/** Whether a kept URI, or one of a kept template, could be that of another upstream. @param heads of all upstreams */
export function isTaken(uriOrTemplate: string, heads: readonly string[]): boolean {
  const variable = uriOrTemplate.indexOf("{");
  const fixed = variable < 0 ? uriOrTemplate : uriOrTemplate.slice(0, variable);
  return heads.some((head) => fixed.startsWith(head) || variable >= 0 && head.startsWith(fixed));
}

/** Also in a spelling that an upstream may read as the scheme: URL parsers drop spaces before it, and tabs and newlines. */
function hasOwnScheme(uri: string, scheme: RegExp): boolean {
  const decoded = uri.replace(
    /%[0-9a-f]{2}/gi,
    (escape) => String.fromCharCode(parseInt(escape.slice(1), 16)),
  );
  return scheme.test(decoded.replace(/[\p{C}\p{Z}]+/gu, ""));
}

function toAuthority(name: string): string {
  return encodeURIComponent(name).replace(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
