/**
 * CORS for endpoints that pages of any origin may call with a token in the request: always `*`, never with credentials
 * such as cookies (https://fetch.spec.whatwg.org/#http-cors-protocol). Pages that use a session (login, consent) do not
 * allow it.
 *
 * @module
 */

/** Response header fields that scripts of other origins may read, beside the safelisted ones. */
const EXPOSED_HEADERS =
  "www-authenticate, request-id, mcp-session-id, mcp-protocol-version, retry-after, ratelimit, ratelimit-policy, dpop-nonce";

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
