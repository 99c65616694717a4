/**
 * Shows a page: the data of a view in the language of the browser, as HTML of this server or of the operator's hook.
 *
 * @module
 */
import { acceptNames } from "../../http/body/media_type.ts";
import { loadOnDemand } from "../../http/load_on_demand.ts";
import { describeForeignForm } from "../../http/network/origin.ts";
import { type Fields, respondText } from "../../http/response.ts";
import type { ErrorCode } from "./basic_views.ts";
import type { PageServer, ShowOptions } from "./page_server.ts";
import type { View } from "./views.ts";

/** The page of the view: no script but the one named, no framing, no caching, no Referer. */
export const showPage: (
  server: PageServer,
  request: Request,
  view: View,
  options?: ShowOptions,
) => Promise<Response> = loadOnDemand(async () => (await import("./show_page.ts")).showPage);

/** Whether the request is of a browser that navigates: it names `text/html` in `Accept`. Programs get plain text. */
export function wantsPage(request: Request): boolean {
  return acceptNames(request.headers.get("accept"), "text/html");
}

/** An error: its page for a browser, this text for a program. */
export async function refuse(
  server: PageServer,
  request: Request,
  { code, status, text, fields, link }: {
    readonly code: ErrorCode;
    readonly status: number;
    readonly text: string;
    readonly fields?: Fields;
    readonly link?: string;
  },
): Promise<Response> {
  if (!wantsPage(request)) return respondText(status, text, fields);
  const view = { name: "error", code, status, ...(link !== undefined && { link }) } as const;
  return await showPage(server, request, view, { status, fields, formAction: "'none'" });
}

/** A form that another site sent (CSRF): 403, naming the origin that sent it. @param link where the user finds the form */
export async function refuseForeignForm(
  server: PageServer,
  request: Request,
  link?: string,
): Promise<Response> {
  const status = 403;
  const description = describeForeignForm(request, server.origin);
  if (!wantsPage(request)) return respondText(status, description);
  const error = { code: "invalid_request", description };
  const view = {
    name: "error",
    code: "cross_site",
    status,
    error,
    ...(link !== undefined && { link }),
  } as const;
  return await showPage(server, request, view, { status, formAction: "'none'" });
}
