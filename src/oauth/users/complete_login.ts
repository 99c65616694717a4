/**
 * What follows when a user has proved who they are, whatever the way: starts the session and sends the browser to where it
 * came from.
 *
 * @module
 */
import { type Fields, NO_STORE, respond, respondText } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthenticatedUser, AuthorizationServer } from "../authorization_server.ts";
import { showPage, wantsPage } from "../pages/page.ts";
import { createDeviceCookie } from "./device_cookie.ts";
import { startSession } from "./session.ts";

/** How a user proved who they are. What they proved it with is in `acr` and `amr` of the {@linkcode AuthenticatedUser}. */
export interface LoginMethod {
  /** The identity provider; absent for a proof that this server checked. */
  readonly provider?: string;
  /** When the user did so at the provider, in milliseconds since the epoch; 0 if it does not say. @default now */
  readonly authenticated?: number;
  /** The canonical user name whose password was right: the browser gets its device cookie (`device_cookie.ts`). */
  readonly account?: string;
  /** Before the first factor was checked, in milliseconds since the epoch: see `verified` of `startSession`. @default now */
  readonly began?: number;
}

/**
 * The response after a login: a redirect to `redirect`, or 200 without one: a page for browsers, else plain text. The session has a new id.
 * @param redirect a path of this server as `parseRedirect` gives it, or `""`
 * @param fields further header fields, such as the end of a cookie
 */
export async function completeLogin(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  user: AuthenticatedUser,
  { provider, authenticated, account, began }: LoginMethod,
  redirect: string,
  fields: Fields = [],
): Promise<Response> {
  const all: Fields = [
    ...await startSession(as, request, user, authenticated, context, began),
    ...account === undefined ? [] : [["set-cookie", await createDeviceCookie(as, request, account)] as const],
    ...fields,
    NO_STORE,
  ];
  as.observe({
    type: "login_succeeded",
    user: user.id,
    ip: context.ip,
    ...(provider !== undefined && { provider }),
  });
  if (redirect === "") {
    if (!wantsPage(request)) return respondText(200, `Welcome, ${user.name}. You are signed in.`, all);
    const view = { name: "signed_in", user: user.name, signOut: as.base + "/logout" } as const;
    return await showPage(as, request, view, { fields: all, formAction: "'none'" });
  }
  return respond(as.securityProfile === undefined ? 302 : 303, null, [["location", redirect], ...all]);
}
