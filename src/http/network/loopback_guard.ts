/**
 * Protects a server whose issuer is on loopback. Every web page that the user visits can send requests to it, also under a
 * host name of the page's site (DNS rebinding). So requests of other hosts and origins get only the public metadata (RFC
 * 8414 section 3, RFC 9728 section 3), and no response allows all origins.
 *
 * @module
 */
import { isWellKnown } from "../cors/well_known.ts";
import { isLoopbackUrl } from "./loopback.ts";
import { createHostGuard, type HostGuardOptions } from "./origin.ts";
import { respondText } from "../response.ts";

export interface LoopbackGuardOptions extends HostGuardOptions {
  /** Paths of pages for users: browsers open them from links on other sites, and they check the origin of forms themselves. */
  readonly pages: Pick<ReadonlySet<string>, "has">;
}

/** Synchronous, because it runs for every request. */
export interface LoopbackGuard {
  /** The 403 response for a request that is not allowed; `undefined` for an allowed request. */
  refuse(request: Request, path: string): Response | undefined;
  /** The response, allowed for the requesting origin only instead of all. */
  finish(request: Request, path: string, response: Response): Response;
}

const METADATA =
  /\/\.well-known\/(?:oauth-authorization-server|oauth-protected-resource|openid-configuration|jwks\.json)(?:\/|$)/;
const ALLOW_ORIGIN = "access-control-allow-origin";

/** The guard for an issuer on loopback; `undefined` for any other issuer. */
export function createLoopbackGuard(options: LoopbackGuardOptions): LoopbackGuard | undefined {
  if (!isLoopbackUrl(options.issuer)) return undefined;
  const { checkHost, checkOrigin } = createHostGuard(options);

  return {
    refuse(request, path) {
      const { headers } = request;
      // A browser sends at least one of these (https://w3c.github.io/webappsec-fetch-metadata/).
      const isBrowser = headers.has("origin") || headers.has("sec-fetch-site");
      const problem = checkHost(request) ??
        (isBrowser && !options.pages.has(path) && !isMetadata(path)
          ? checkOrigin(headers.get("origin")) ?? checkEmbedding(headers)
          : undefined);
      return problem === undefined ? undefined : respondText(403, problem);
    },
    finish(request, path, response) {
      const origin = request.headers.get("origin");
      // Only responses to a request with an Origin, and documents that shared caches keep, allow all origins.
      return origin === null && !isWellKnown(path) || isMetadata(path) ? response : narrow(response, origin);
    },
  };
}

/** Whether the path is one of public metadata. */
function isMetadata(path: string): boolean {
  return isWellKnown(path) && METADATA.test(path);
}

/** Replaces permission for all origins by permission for the requesting origin. */
function narrow(response: Response, origin: string | null): Response {
  if (response.headers.get(ALLOW_ORIGIN) !== "*") return response;
  if (origin === null) response.headers.delete(ALLOW_ORIGIN);
  else response.headers.set(ALLOW_ORIGIN, origin);
  response.headers.append("vary", "origin");
  return response;
}

/** An image or script element of another site sends no Origin, but its load event would reveal that the path exists. */
function checkEmbedding(headers: Headers): string | undefined {
  if (headers.get("sec-fetch-site") !== "cross-site" || headers.has("origin")) return undefined;
  return headers.get("sec-fetch-mode") === "navigate"
    ? undefined
    : "Cross-site embedding not allowed: open this URL directly";
}
