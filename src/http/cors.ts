/**
 * The Fetch standard's CORS protocol for endpoints that browsers of any origin may call with a token in the
 * request and no cookies: always `*`, never credentials (https://fetch.spec.whatwg.org/#http-cors-protocol).
 * Pages that act on a session (login, consent) never get it.
 *
 * @module
 */
import { respond } from "./response.ts";
import { pathOf } from "./router.ts";

/** Fields that scripts of other origins may read beside the safelisted ones. */
const EXPOSED = "www-authenticate, request-id, mcp-session-id, mcp-protocol-version, retry-after, dpop-nonce";

/** The answer to a preflight request, or `undefined` when this is none. */
export function answerPreflight(request: Request, methods: string): Response | undefined {
  if (request.method !== "OPTIONS" || !request.headers.has("access-control-request-method")) return undefined;
  return respond(204, null, [
    ["access-control-allow-origin", "*"],
    ["access-control-allow-methods", methods],
    // "*" does not cover Authorization, so what was asked for is named.
    ["access-control-allow-headers", request.headers.get("access-control-request-headers") ?? "*"],
    ["access-control-max-age", "86400"],
    ["vary", "access-control-request-headers"],
  ]);
}

/** Whether everybody may read what is at this address, or that nothing is (RFC 8615). */
export function isWellKnown(path: string): boolean {
  return path.includes("/.well-known/");
}

/** Lets scripts of every origin read the response, where it is about a well-known address. */
export function allowWellKnown(request: Request, response: Response): Response {
  return isWellKnown(pathOf(request.url)) ? allowEveryOrigin(request, response) : response;
}

/** Lets scripts of every origin read the response, when one asked. */
export function allowEveryOrigin(request: Request, response: Response): Response {
  if (request.headers.has("origin")) {
    response.headers.set("access-control-allow-origin", "*");
    response.headers.set("access-control-expose-headers", EXPOSED);
  }
  return response;
}
