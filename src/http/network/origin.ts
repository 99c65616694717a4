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

/** Whether the issuer is a server of this machine. */
export function isLoopback(issuer: string): boolean {
  return LOOPBACK.has(new URL(issuer).hostname);
}

/** Tests of a request: what is wrong with who sent it, and what the operator sets to let it pass. */
export interface HostGuard {
  checkHost(request: Request): string | undefined;
  checkOrigin(request: Request): string | undefined;
  /** Both. */
  check(request: Request): string | undefined;
}

/**
 * Tests of `Host` and `Origin`, made once. A loopback issuer goes by all its names, on any port: that is
 * what keeps a page of another site out (MCP, basic/transports, security warning).
 */
export function createHostGuard(
  { issuer, allowedHosts = [], allowedOrigins = [] }: HostGuardOptions,
): HostGuard {
  const own = new URL(issuer);
  const loopback = isLoopback(issuer);
  const hosts = new Set([own.host, ...allowedHosts]);
  const origins = new Set([own.origin, ...allowedOrigins]);
  const hostAllowed = (host: string): boolean =>
    hosts.has("*") || hosts.has(host) || loopback && LOOPBACK.has(host.replace(/:\d*$/, ""));
  const originAllowed = (origin: string): boolean => {
    if (origins.has("*") || origins.has(origin)) return true;
    const url = URL.parse(origin);
    return loopback && url !== null && LOOPBACK.has(url.hostname);
  };
  /** Nearly every request names the same. */
  let known: string | undefined;
  const checkHost = (request: Request): string | undefined => {
    const named = request.headers.get("host") ?? hostOf(request.url);
    if (named === known) return undefined;
    const host = named.toLowerCase();
    if (hostAllowed(host)) known = named;
    return named === known ? undefined : describe("Host", host, "--allow-host", "allowedHosts");
  };
  const checkOrigin = (request: Request): string | undefined => {
    const origin = request.headers.get("origin");
    if (origin === null || originAllowed(origin)) return undefined;
    return describe("Origin", origin, "--allow-origin", "allowedOrigins");
  };
  return { checkHost, checkOrigin, check: (request) => checkHost(request) ?? checkOrigin(request) };
}

function describe(field: string, value: string, flag: string, option: string): string {
  const seen = value.replace(/[^\x21-\x7e]/g, "?").slice(0, 200);
  return `${field} ${seen} may not call this server. Its operator allows it with ${flag} ${seen} (option ${option})`;
}

function hostOf(url: string): string {
  const start = url.indexOf("//") + 2;
  const end = url.indexOf("/", start);
  return url.slice(start, end < 0 ? undefined : end);
}
