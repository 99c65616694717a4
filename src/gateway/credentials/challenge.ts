/**
 * Reads the challenge of an upstream: the field `WWW-Authenticate` (https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1) with
 * the parameters of RFC 6750 section 3 and RFC 9728 section 5.1.
 *
 * @module
 */

/** The parameters of a Bearer challenge. */
export interface Challenge {
  readonly error?: string;
  /** Scopes that the request needs. */
  readonly scopes: readonly string[];
  /** The URL of the metadata of the resource. */
  readonly resource_metadata?: string;
}

const MAX_CHARACTERS = 8192;
const MAX_SCOPES = 50;
const PART =
  /[\s,=]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:[ \t]*=[ \t]*(?:"((?:[^"\\]|\\[^])*)"|([^\s,"=]+)(?![=])))?/y;

/** The first Bearer challenge of the field; without parameters when there is none. */
export function parseChallenge(field: string | null): Challenge {
  const found = new Map<string, string>();
  const text = (field ?? "").slice(0, MAX_CHARACTERS);
  let isBearer = false;
  PART.lastIndex = 0;
  for (let part = PART.exec(text); part; part = PART.exec(text)) {
    const [, name, quoted, token] = part;
    const value = quoted?.replace(/\\([^])/g, "$1") ?? token;
    if (value === undefined) {
      // A scheme begins a challenge. Of several Bearer challenges the first counts.
      if (found.size > 0) break;
      isBearer = name!.toLowerCase() === "bearer";
    } else if (isBearer && !found.has(name!.toLowerCase())) found.set(name!.toLowerCase(), value);
  }
  const error = found.get("error");
  const resource_metadata = found.get("resource_metadata");
  return {
    scopes: parseScopes(found.get("scope")),
    ...(error !== undefined && { error }),
    ...(resource_metadata !== undefined && { resource_metadata }),
  };
}

/** The scopes of a space-separated list that are well-formed (RFC 6749 section 3.3), each once. */
export function parseScopes(scope: string | undefined): string[] {
  const named = (scope ?? "").split(" ").filter((each) => /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/.test(each));
  return [...new Set(named)].slice(0, MAX_SCOPES);
}
