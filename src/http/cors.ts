/**
 * CORS for endpoints that pages of any origin may call with a token in the request: always `*`, never with credentials
 * such as cookies (https://fetch.spec.whatwg.org/#http-cors-protocol). Pages that use a session (login, consent) do not
 * allow it.
 *
 * @module
 */
import { respond } from "./response.ts";
import { pathOf } from "./router.ts";

/** Response header fields that scripts of other origins may read, beside the safelisted ones. */
const EXPOSED_HEADERS =
  "www-authenticate, request-id, mcp-session-id, mcp-protocol-version, retry-after, ratelimit, ratelimit-policy, dpop-nonce";

/** The response to a preflight request; `undefined` for any other request. */
export function answerPreflight(request: Request, methods: string): Response | undefined {
  if (request.method !== "OPTIONS" || !request.headers.has("access-control-request-method")) return undefined;
  return respond(204, null, [
    ["access-control-allow-origin", "*"],
    ["access-control-allow-methods", methods],
    // "*" does not cover Authorization, so the requested header fields are listed.
    ["access-control-allow-headers", request.headers.get("access-control-request-headers") ?? "*"],
    ["access-control-max-age", "86400"],
    ["vary", "access-control-request-headers"],
  ]);
}

/** Whether the path is a well-known URI (RFC 8615), which every origin may read. */
export function isWellKnown(path: string): boolean {
  return path.includes("/.well-known/");
}

/** Allows scripts of every origin to read the response, if the request is for a well-known URI. */
export function allowWellKnown(request: Request, response: Response): Response {
  return isWellKnown(pathOf(request.url)) ? allowEveryOrigin(request, response) : response;
}

/** Allows scripts of every origin to read the response, if the request has an Origin. */
export function allowEveryOrigin(request: Request, response: Response): Response {
  return request.headers.has("origin") ? allowOrigin(response, "*") : response;
}

/** Allows scripts of one origin to read the response; of `*`, those of every origin. */
export function allowOrigin(response: Response, origin: string): Response {
  const { headers } = response;
  headers.set("access-control-allow-origin", origin);
  headers.set("access-control-expose-headers", EXPOSED_HEADERS);
  if (origin !== "*") headers.append("vary", "origin");
  return response;
}
