/**
 * What a server on this machine answers to web pages. Its issuer is on loopback, so every page that the user visits can
 * send it requests, also under a name of the page's own site (DNS rebinding): other hosts and origins get nothing but the
 * metadata that everybody may read (RFC 8414 section 3, RFC 9728 section 3), and no answer is for all origins.
 *
 * @module
 */
import { isWellKnown } from "../cors.ts";
import { createHostGuard, type HostGuardOptions, isLoopback } from "./origin.ts";
import { respondText } from "../response.ts";

export interface LoopbackGuardOptions extends HostGuardOptions {
  /** Paths of pages for people: a browser opens them from other sites, and they look at who posts themselves. */
  readonly pages: ReadonlySet<string>;
}

/** Two looks at each request, and no promise of its own: it is in the way of all of them. */
export interface LoopbackGuard {
  /** The answer to a request that may not come in; `undefined` for any other. */
  refuse(request: Request, path: string): Response | undefined;
  /** The response for the one origin that asked, in place of all. */
  finish(request: Request, path: string, response: Response): Response;
}

const METADATA =
  /\/\.well-known\/(?:oauth-authorization-server|oauth-protected-resource|openid-configuration|jwks\.json)(?:\/|$)/;
const ALLOW_ORIGIN = "access-control-allow-origin";

/** The guard of an issuer on loopback; `undefined` for any other. */
export function createLoopbackGuard(options: LoopbackGuardOptions): LoopbackGuard | undefined {
  if (!isLoopback(options.issuer)) return undefined;
  const { checkHost, checkOrigin } = createHostGuard(options);

  return {
    refuse(request, path) {
      const { headers } = request;
      // A browser tells one or the other: https://w3c.github.io/webappsec-fetch-metadata/.
      const isBrowser = headers.has("origin") || headers.has("sec-fetch-site");
      const problem = checkHost(request) ??
        (isBrowser && !options.pages.has(path) && !isMetadata(path)
          ? checkOrigin(request) ?? checkEmbedding(headers)
          : undefined);
      return problem === undefined ? undefined : respondText(403, problem);
    },
    finish(request, path, response) {
      const origin = request.headers.get("origin");
      // Nothing is for all origins unless one asked, or it is a document that caches share.
      return origin === null && !isWellKnown(path) || isMetadata(path) ? response : narrow(response, origin);
    },
  };
}

/** What everybody may read. */
function isMetadata(path: string): boolean {
  return isWellKnown(path) && METADATA.test(path);
}

/** The response for the one origin that asked, where it was for all. */
export function narrow(response: Response, origin: string | null): Response {
  if (response.headers.get(ALLOW_ORIGIN) !== "*") return response;
  if (origin === null) response.headers.delete(ALLOW_ORIGIN);
  else response.headers.set(ALLOW_ORIGIN, origin);
  response.headers.append("vary", "origin");
  return response;
}

/** A picture or a script of another site's page brings no Origin, and still tells that something is there. */
function checkEmbedding(headers: Headers): string | undefined {
  if (headers.get("sec-fetch-site") !== "cross-site" || headers.has("origin")) return undefined;
  return headers.get("sec-fetch-mode") === "navigate"
    ? undefined
    : "Pages of other sites may not embed this.";
}
