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
  const toOrigin = (host: string): string => withoutDefaultPort(own.protocol + host);
  const hosts = new Set([own.host, ...allowedHosts].map(toOrigin));
  const origins = new Set([own.origin, ...allowedOrigins].map(withoutDefaultPort));
  /** The last allowed host: nearly every request has the same. */
  let known: string | undefined;
  const checkHost = (request: Request): string | undefined => {
    const { url } = request;
    // Between the slashes of an absolute http or https URL.
    const named = request.headers.get("host") ?? url.slice(url.indexOf("/") + 2, url.indexOf("/", 8));
    if (named === known) return undefined;
    const host = named.toLowerCase();
    const isAllowed = allowedHosts.includes("*") || hosts.has(toOrigin(host)) ||
      isLocal && isLoopbackHost(host.replace(/:\d*$/, ""));
    if (!isAllowed) return describe("Host", host);
    known = named;
    return undefined;
  };
  const checkOrigin = (origin: string | null): string | undefined => {
    const isAllowed = origin === null || origins.has("*") || origins.has(origin) ||
      isLocal && isLoopbackHost(URL.parse(origin)?.hostname ?? "");
    return isAllowed ? undefined : describe("Origin", origin);
  };
  return { isLocal, checkHost, checkOrigin };
}

/** RFC 9110 section 4.2.3: an empty port, and the default one, name the same origin as none. */
function withoutDefaultPort(origin: string): string {
  return origin.replace(/:(443)?$(?<=^https:.*)|:(80)?$(?<=^http:.*)/, "");
}

function describe(field: "Host" | "Origin", value: string): string {
  const seen = printable(value);
  return `${field} not allowed: ${seen}. ` +
    `The operator allows it with --allow-${field.toLowerCase()} ${seen} (option allowed${field}s)`;
}

function printable(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, "?").slice(0, 200);
}
