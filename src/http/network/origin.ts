/**
 * Checks the origin of a request: against forms posted from other sites (CSRF), and against pages that reach a local
 * server through a host name of their own (DNS rebinding).
 *
 * @module
 */
import { isLoopbackHost } from "./loopback.ts";

/**
 * Whether a state-changing request comes from this origin. A client that sends neither `Sec-Fetch-Site` nor `Origin`, such
 * as curl, is not a browser, so it does not attach a user's cookies by itself.
 */
export function isSameOrigin(request: Request, origin: string): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin" || site === "none";
  const sender = request.headers.get("origin");
  return sender === null || sender === origin || sender === new URL(request.url).origin;
}

/** What the refusal of a form of another site says: the origin that sent it, and the option that says which is this server's. */
export function describeForeignForm(request: Request, origin: string): string {
  const sender = request.headers.get("origin");
  const seen = sender === null ? "a page of another site" : printable(sender);
  return `Cross-site request refused: sent by ${seen}, but the option issuer says that this server is ${origin}. Open the page there.`;
}

/** The hosts and origins allowed beside the issuer's own. `*` allows all. */
export interface HostGuardOptions {
  readonly issuer: string;
  readonly allowedHosts?: readonly string[] | undefined;
  readonly allowedOrigins?: readonly string[] | undefined;
}

/** Checks of a request: the error text, which names the setting that would allow it, or `undefined`. */
export interface HostGuard {
  /** Whether the issuer is on loopback. */
  readonly isLocal: boolean;
  checkHost(request: Request): string | undefined;
  /** @param origin the header field; `null` without it, which is allowed */
  checkOrigin(origin: string | null): string | undefined;
}

/**
 * Creates the checks of `Host` and `Origin` (MCP, basic/transports, security warning). An issuer on loopback may be called
 * by any loopback host name on any port.
 */
export function createHostGuard(
  { issuer, allowedHosts = [], allowedOrigins = [] }: HostGuardOptions,
): HostGuard {
  const own = new URL(issuer);
  const isLocal = isLoopbackHost(own.hostname);
  const hosts = new Set([own.host, ...allowedHosts]);
  const origins = new Set([own.origin, ...allowedOrigins]);
  const hostAllowed = (host: string): boolean =>
    hosts.has("*") || hosts.has(host) || isLocal && isLoopbackHost(host.replace(/:\d*$/, ""));
  const originAllowed = (origin: string): boolean =>
    origins.has("*") || origins.has(origin) || isLocal && isLoopbackHost(URL.parse(origin)?.hostname ?? "");
  /** The last allowed host: nearly every request has the same. */
  let known: string | undefined;
  const checkHost = (request: Request): string | undefined => {
    const named = request.headers.get("host") ?? hostOf(request.url);
    if (named === known) return undefined;
    const host = named.toLowerCase();
    if (!hostAllowed(host)) return describe("Host", host, "--allow-host", "allowedHosts");
    known = named;
    return undefined;
  };
  const checkOrigin = (origin: string | null): string | undefined => {
    if (origin === null || originAllowed(origin)) return undefined;
    return describe("Origin", origin, "--allow-origin", "allowedOrigins");
  };
  return { isLocal, checkHost, checkOrigin };
}

/** The host and port of an absolute URL with a path. */
function hostOf(url: string): string {
  const start = url.indexOf("//") + 2;
  return url.slice(start, url.indexOf("/", start));
}

function describe(field: string, value: string, flag: string, option: string): string {
  const seen = printable(value);
  return `${field} not allowed: ${seen}. The operator allows it with ${flag} ${seen} (option ${option})`;
}

function printable(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, "?").slice(0, 200);
}
