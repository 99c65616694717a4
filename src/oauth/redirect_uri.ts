/**
 * Redirect URIs (https://www.rfc-editor.org/rfc/rfc6749#section-3.1.2): which may be registered, and whether a
 * request's is one of the client's. Texts are compared as they came, never after a parser has mended them.
 *
 * @module
 */
import type { Client } from "./records.ts";

/** scheme, authority and rest of an http(s) URI in plain spelling: no userinfo, backslash, fragment, blank. */
const PLAIN = /^(https?):\/\/([a-z0-9.-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?((?:[/?][!$-;=?-Z_a-z~%[\]]*)?)$/;
const LOOPBACK = new Set(["127.0.0.1", "[::1]", "localhost"]);

/** A redirect URI that is to be registered. @throws {TypeError} naming the rule that it breaks */
export function checkRedirectUri(uri: string): string {
  const url = URL.parse(uri);
  const problem = url === null
    ? "be an absolute URI"
    : uri.includes("#")
    ? "have no fragment (RFC 6749 section 3.1.2)"
    : !/^[\x21-\x7e]+$/.test(uri)
    ? "be printable ASCII"
    : url.username !== "" || url.password !== ""
    ? "have no user name or password"
    : url.protocol === "http:" && !LOOPBACK.has(url.hostname)
    ? "be https, or http on loopback"
    : /^(javascript|data|vbscript|file|blob|about):$/.test(url.protocol)
    ? "lead to an application"
    // RFC 8252 §7.1: a private-use scheme is a reversed domain name, so it has a dot.
    : !/^https?:$/.test(url.protocol) && !url.protocol.includes(".")
    ? "be https, http on loopback, or of a private-use scheme with a dot"
    : undefined;
  if (problem) throw new TypeError(`Cannot register redirect URI "${uri}": it must ${problem}`);
  return uri;
}

/** A domain that is to be registered: a host with or without a port, or an origin. @throws {TypeError} */
export function checkDomain(domain: string): string {
  const match = PLAIN.exec(toOrigin(domain));
  if (!match || match[4] !== "" || match[1] === "http" && !LOOPBACK.has(match[2]!)) {
    throw new TypeError(
      `Cannot register domain "${domain}": it must be a lower-case host such as "app.example.com", or an https origin`,
    );
  }
  return domain;
}

/**
 * The redirect URI to use: the requested one when it is the client's, or the only registered one when none
 * was requested (RFC 6749 §3.1.2.3). `undefined` means that nothing may be redirected to.
 */
export function findRedirectUri(client: Client, requested: string | undefined): string | undefined {
  const registered = client.redirect_uris ?? [];
  if (requested === undefined) return registered.length === 1 && !client.domain ? registered[0] : undefined;
  if (registered.some((uri) => uri === requested || sameLoopback(uri, requested))) return requested;
  return client.domain !== undefined && isOnDomain(client.domain, requested) ? requested : undefined;
}

// RFC 8252 §7.3: the port of a loopback URI is chosen at run time; all else is exact.
function sameLoopback(registered: string, requested: string): boolean {
  const a = parseLoopback(registered);
  const b = parseLoopback(requested);
  return a !== undefined && b !== undefined && a.host === b.host && a.rest === b.rest;
}

function parseLoopback(uri: string): { host: string; rest: string } | undefined {
  const [, scheme, host, port, rest] = PLAIN.exec(uri) ?? [];
  if (scheme !== "http" || !LOOPBACK.has(host!) || !isPort(port)) return undefined;
  return { host: host!, rest: rest! };
}

function isOnDomain(domain: string, requested: string): boolean {
  const [, scheme, host, port, rest] = PLAIN.exec(requested) ?? [];
  const [, ownScheme, ownHost, ownPort] = PLAIN.exec(toOrigin(domain)) ?? [];
  if (scheme === undefined || host !== ownHost || !isPort(port) || hasDotSegment(rest!)) return false;
  // For development: http, on any port, but only on loopback.
  if (LOOPBACK.has(host!)) return ownScheme === scheme || !domain.includes("://");
  return scheme === "https" && ownScheme === "https" && (port ?? ":443") === (ownPort ?? ":443");
}

function toOrigin(domain: string): string {
  return domain.includes("://") ? domain : "https://" + domain;
}

function isPort(port: string | undefined): boolean {
  return port === undefined || Number(port.slice(1)) <= 65535;
}

/** `.` and `..` in any spelling: a server behind may take them as another path than was checked. */
function hasDotSegment(rest: string): boolean {
  return rest.split("?")[0]!.split("/").some((segment) => {
    const plain = segment.replace(/%2e/gi, ".").split(";")[0];
    return plain === "." || plain === "..";
  });
}
