/**
 * Who may have sent this: guards against forms posted from other sites (CSRF) and pages that reach a local
 * server through a name of their own (DNS rebinding).
 *
 * @module
 */

/**
 * Whether a state-changing browser request comes from this very origin. A caller that sends neither
 * `Sec-Fetch-Site` nor `Origin`, such as curl, is no browser and carries nobody's cookies by accident.
 */
export function isSameOrigin(request: Request, origin: string): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin" || site === "none";
  const sender = request.headers.get("origin");
  return sender === null || sender === origin || sender === new URL(request.url).origin;
}

/** Which hosts and origins may call, beside the issuer's own. `*` stands for all. */
export interface HostGuardOptions {
  readonly issuer: string;
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
}

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * A test of `Host` and `Origin`, made once. A loopback issuer goes by all its names, on any port: that is
 * what keeps a page of another site out (MCP, basic/transports, security warning).
 */
export function createHostGuard({ issuer, allowedHosts = [], allowedOrigins = [] }: HostGuardOptions): (
  request: Request,
) => boolean {
  const own = new URL(issuer);
  const loopback = LOOPBACK.has(own.hostname);
  const hosts = new Set([own.host, ...allowedHosts]);
  const origins = new Set([own.origin, ...allowedOrigins]);
  const hostAllowed = (host: string): boolean =>
    hosts.has("*") || hosts.has(host) || loopback && LOOPBACK.has(host.replace(/:\d*$/, ""));
  const originAllowed = (origin: string): boolean => {
    if (origins.has("*") || origins.has(origin)) return true;
    const url = URL.parse(origin);
    return loopback && url !== null && LOOPBACK.has(url.hostname);
  };
  return (request) => {
    const host = request.headers.get("host") ?? hostOf(request.url);
    if (!hostAllowed(host.toLowerCase())) return false;
    const origin = request.headers.get("origin");
    return origin === null || originAllowed(origin);
  };
}

function hostOf(url: string): string {
  const start = url.indexOf("//") + 2;
  const end = url.indexOf("/", start);
  return url.slice(start, end < 0 ? undefined : end);
}
