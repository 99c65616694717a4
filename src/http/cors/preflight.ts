/**
 * The response to a CORS preflight (https://fetch.spec.whatwg.org/#cors-preflight-request).
 *
 * @module
 */
import { respond } from "../response.ts";

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
