/**
 * Errors of requests that browsers make: a page for the user. An OAuth error is one that must not be sent to a redirect URI
 * (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1).
 *
 * @module
 */
import { BodyError } from "../../http/body/body_error.ts";
import { allowWellKnown } from "../../http/cors/well_known.ts";
import { RateLimitError } from "../../http/rate_limit.ts";
import {
  jsonFields,
  NO_STORE_FIELDS,
  respondJson,
  respondText,
  SERVER_FAILED,
  STORE_UNAVAILABLE,
} from "../../http/response.ts";
import { pathOf } from "../../http/router.ts";
import { StoreUnavailableError } from "../../store/store.ts";
import { OAuthError } from "../error.ts";
import type { ErrorCode } from "../pages/basic_views.ts";
import { refuse, showPage, wantsPage } from "../pages/page.ts";
import type { PageServer } from "../pages/page_server.ts";

/** Codes with a page of their own. */
const PAGES: Readonly<Record<string, ErrorCode>> = {
  temporarily_unavailable: "temporarily_unavailable",
  server_error: "server_error",
  // The request that was pushed, or that waited for a login, is no longer stored.
  invalid_request_uri: "request_ended",
};

/** The page that shows the error to the user. It links and redirects nowhere. */
export async function showErrorPage(
  server: PageServer,
  request: Request,
  error: OAuthError,
): Promise<Response> {
  const { code, message, fields } = error;
  // 401 asks a program for credentials in a header field (RFC 9110 §15.5.2), which a page cannot send.
  const status = code === "invalid_client" && error.status === 401 ? 400 : error.status;
  return await showPage(server, request, {
    name: "error",
    code: error.isEnded ? "request_ended" : PAGES[code] ?? "invalid_request",
    status,
    error: { code, description: message },
  }, { status, fields, formAction: "'none'" });
}

/** Any error of an endpoint for people. Other errors than those of OAuth are plain text for a program. */
export async function respondWithPage(
  server: PageServer,
  request: Request,
  error: unknown,
): Promise<Response> {
  if (error instanceof OAuthError) return await showErrorPage(server, request, error);
  if (error instanceof BodyError) {
    return await refuse(server, request, { code: "bad_body", status: error.status, text: error.message });
  }
  const isLimited = error instanceof RateLimitError;
  if (isLimited || error instanceof StoreUnavailableError) {
    if (!isLimited) server.observe({ type: "store_unavailable", where: "oauth", error });
    return await refuse(server, request, {
      code: "temporarily_unavailable",
      status: isLimited ? 429 : 503,
      text: isLimited ? `${error.message}.` : STORE_UNAVAILABLE,
      fields: [retryAfter(error)],
    });
  }
  server.observe({ type: "fault", where: "oauth", error });
  return await refuse(server, request, { code: "server_error", status: 500, text: SERVER_FAILED });
}

/** RFC 9110 §10.2.3, in seconds. */
export function retryAfter(
  { retryAfter }: StoreUnavailableError | RateLimitError,
): readonly [string, string] {
  return ["retry-after", String(retryAfter)];
}

/** No route: a page for a browser, else plain text. */
export function refuseRoute(
  server: PageServer,
  status: 404 | 405,
  request: Request,
  allow: string,
): Response | Promise<Response> {
  if (!wantsPage(request)) return refuseText(status, request, allow);
  return refuse(server, request, {
    code: status === 404 ? "not_found" : "method_not_allowed",
    status,
    text: "",
    ...(status === 405 && { fields: [["allow", allow]] }),
  });
}

function refuseText(status: 404 | 405, request: Request, allow: string): Response {
  // CORS: a script that requests metadata must be able to read the 404.
  if (status === 404) return allowWellKnown(request, respondText(404, "Not found."));
  if (pathOf(request.url).endsWith("/oauth/token")) {
    const error_description = "Method not allowed. Use POST with application/x-www-form-urlencoded";
    return respondJson(405, { error: "invalid_request", error_description }, [
      ...jsonFields(...NO_STORE_FIELDS),
      ["allow", allow],
    ]);
  }
  return respondText(405, `Method not allowed. Allowed: ${allow}.`, [["allow", allow]]);
}
