/**
 * Redirect URIs (https://www.rfc-editor.org/rfc/rfc6749#section-3.1.2): which may be registered, and which a request may
 * use. They are compared as text and can be registered only in the spelling of the URL standard.
 *
 * @module
 */
import { isLoopbackHost } from "../../http/network/loopback.ts";
import type { Client } from "../records/client_record.ts";

/** Scheme, host, port and rest of an http(s) URI without user info, backslash, fragment and spaces. */
const PLAIN = /^(https?):\/\/([a-z0-9.-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?((?:[/?][!$-;=?-Z_a-z~%[\]]*)?)$/;

/**
 * Schemes of code editors and agents that receive codes at `SCHEME://…` addresses, though RFC 8252 section 7.1 asks for a
 * reversed domain name. Allowed unless `redirectSchemes` names others.
 */
export const EDITOR_SCHEMES: readonly string[] = [
  "claude",
  "cursor",
  "kiro",
  "trae",
  "vscode",
  "vscode-insiders",
  "vscodium",
  "windsurf",
  "zed",
];

/** What is wrong with a redirect URI. `scheme`: only its private-use scheme is not allowed. */
export interface RedirectUriProblem {
  readonly kind: "scheme" | "uri";
  /** The rule that it breaks, after "must". */
  readonly rule: string;
}

/** RFC 3986 appendix A: the characters of a URI without those that begin a fragment. */
const URI_CHARACTERS = /^(?:[A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/;
const NO_APPLICATION =
  /^(javascript|data|vbscript|file|filesystem|blob|about|view-source|ws|wss|ftp|mailto):$/;

/** The rule that a redirect URI to be registered breaks; `undefined` when it breaks none. */
export function findRedirectUriProblem(
  uri: string,
  schemes: readonly string[] = EDITOR_SCHEMES,
): RedirectUriProblem | undefined {
  const problem = (rule: string): RedirectUriProblem => ({ kind: "uri", rule });
  const url = URL.parse(uri);
  if (url === null) return problem("be an absolute URI");
  if (uri.includes("#")) return problem("not have a fragment (RFC 6749 section 3.1.2)");
  if (!URI_CHARACTERS.test(uri)) return problem("contain only URI characters (RFC 3986)");
  if (url.username !== "" || url.password !== "") return problem("not have a user name or password");
  if (NO_APPLICATION.test(url.protocol)) return problem(`not use the scheme ${url.protocol}`);
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname)) {
    return problem("use https, or http on a loopback host");
  }
  // Parsers read other spellings differently, so the redirect could go to another host than the one compared.
  if (!isAsParsed(uri, url)) return problem(`be in the spelling of the URL standard: ${url.href}`);
  if (/^https?:$/.test(url.protocol) || url.protocol.includes(".")) return undefined;
  if (schemes.includes(url.protocol.slice(0, -1))) return undefined;
  return {
    kind: "scheme",
    rule: `use https, http on a loopback host, a private-use scheme with a dot (RFC 8252 section 7.1)${
      schemes.length > 0 ? `, or one of the schemes ${schemes.join(", ")}` : ""
    }`,
  };
}

/** Whether parsing changes nothing but adding the path "/". */
function isAsParsed(uri: string, { href, host, pathname }: URL): boolean {
  return href === uri || pathname === "/" && href.replace(`//${host}/`, `//${host}`) === uri;
}

/** Checks a redirect URI for registration. @throws {TypeError} naming the rule that it breaks */
export function checkRedirectUri(uri: string, schemes?: readonly string[]): string {
  const problem = findRedirectUriProblem(uri, schemes);
  if (problem) throw new TypeError(`Cannot register redirect URI "${uri}": it must ${problem.rule}`);
  return uri;
}

/** Checks a domain for registration: a host with or without a port, or an origin. @throws {TypeError} */
export function checkDomain(domain: string): string {
  const match = PLAIN.exec(toOrigin(domain));
  const isPlain = match?.[4] === "" && URL.parse(toOrigin(domain))?.hostname === match[2];
  if (!isPlain || match[1] === "http" && !isLoopbackHost(match[2]!)) {
    throw new TypeError(
      `Cannot register domain "${domain}": it must be a lower-case host such as "app.example.com", or an https origin`,
    );
  }
  return domain;
}

/** Checks a scheme of `redirectSchemes`. @throws {TypeError} for an invalid one, or one that is not of applications */
export function checkRedirectScheme(scheme: string): string {
  if (!/^[a-z][a-z0-9+.-]*$/.test(scheme) || /^https?$/.test(scheme) || NO_APPLICATION.test(scheme + ":")) {
    throw new TypeError(
      `Invalid options: "oauth.redirectSchemes" must contain application schemes such as "cursor", not "${scheme}"`,
    );
  }
  return scheme;
}

/**
 * The redirect URI to use: the requested one when it is the client's, or the only registered one when none
 * was requested (RFC 6749 §3.1.2.3). `undefined` means that nothing may be redirected to.
 */
export function findRedirectUri(client: Client, requested: string | undefined): string | undefined {
  const registered = client.redirect_uris ?? [];
  if (requested === undefined) return registered.length === 1 && !client.domain ? registered[0] : undefined;
  if (registered.includes(requested) || accepted.get(client) === requested) return requested;
  const isAllowed = registered.some((uri) => sameLoopback(uri, requested)) ||
    client.domain !== undefined && isOnDomain(client.domain, requested);
  if (isAllowed) accepted.set(client, requested);
  return isAllowed ? requested : undefined;
}

/** The last URI of each client record that matched by rule: the token request checks the same one again. */
const accepted = new WeakMap<Client, string>();

// RFC 8252 §7.3: the port of a loopback URI is chosen at run time. All other parts must be equal.
function sameLoopback(registered: string, requested: string): boolean {
  const a = parseLoopback(registered);
  const b = parseLoopback(requested);
  return a !== undefined && b !== undefined && a.host === b.host && a.rest === b.rest;
}

function parseLoopback(uri: string): { host: string; rest: string } | undefined {
  const [, scheme, host, port, rest] = PLAIN.exec(uri) ?? [];
  if (scheme !== "http" || !isLoopbackHost(host!) || !isPort(port)) return undefined;
  // RFC 9110 section 4.2.3: an empty path equals "/".
  return { host: host!, rest: rest!.startsWith("/") ? rest! : "/" + rest! };
}

function isOnDomain(domain: string, requested: string): boolean {
  const [, scheme, host, port, rest] = PLAIN.exec(requested) ?? [];
  const [, ownScheme, ownHost, ownPort] = PLAIN.exec(toOrigin(domain)) ?? [];
  if (scheme === undefined || host !== ownHost || !isPort(port) || hasDotSegment(rest!)) return false;
  // For development: http, on any port, but only on loopback.
  if (isLoopbackHost(host!)) return ownScheme === scheme || !domain.includes("://");
  return scheme === "https" && ownScheme === "https" && (port ?? ":443") === (ownPort ?? ":443");
}

function toOrigin(domain: string): string {
  return domain.includes("://") ? domain : "https://" + domain;
}

function isPort(port: string | undefined): boolean {
  return port === undefined || Number(port.slice(1)) <= 65535;
}

const DOT = /\.|%2e/i;

/** Whether a segment is `.` or `..` in any spelling: the server of the client could resolve it to another path. */
function hasDotSegment(rest: string): boolean {
  if (!DOT.test(rest)) return false;
  return rest.split("?")[0]!.split("/").some((segment) => {
    const plain = segment.replace(/%2e/gi, ".").split(";")[0];
    return plain === "." || plain === "..";
  });
}
