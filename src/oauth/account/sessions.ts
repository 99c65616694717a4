/**
 * `/account/sessions`: where the user is signed in. Ends one session, or all but this one.
 *
 * @module
 */
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { showPage } from "../pages/page.ts";
import {
  endUserSession,
  endUserSessions,
  listUserSessions,
  type UserSession,
} from "../users/user_sessions.ts";
import { notFound, openForm, readDone, redirectDone } from "./account_form.ts";
import { openAccount } from "./account_user.ts";
import type { SessionView } from "./account_views.ts";
import { describeAgent } from "./user_agent.ts";

const PATH = "/account/sessions";
/** Sessions that are shown: those last used. */
const MAX_SHOWN = 100;

/** `GET`: 200 with the list. */
export async function showSessions(as: AuthorizationServer, request: Request): Promise<Response> {
  const account = await openAccount(as, request);
  if (account instanceof Response) return account;
  const sessions = await listUserSessions(as.store, account.id);
  const isThis = ({ digest }: UserSession) => digest === account.signedIn.session;
  const done = readDone(request, account, ["session", "sessions"]);
  const ordered = [...sessions.filter(isThis), ...sessions.filter((each) => !isThis(each))];
  return await showPage(as, request, {
    name: "account_sessions",
    account: `${as.base}/account`,
    sessions: ordered.slice(0, MAX_SHOWN).map((each) => toView(as, each, isThis(each))),
    ...(ordered.length > 1 && { endOthers: { action: as.base + PATH, hidden: { end: "others" } } }),
    ...(done && { done }),
  }, { formAction: "'self'" });
}

/**
 * `POST` with the id of a session as `session`, or `end=others`: 303 to the list. 404 for a session that does not exist or is
 * another user's.
 */
export async function endSessions(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  const form = await openForm(as, request);
  if (form instanceof Response) return form;
  const { account, values, store } = form;
  const { id, signedIn } = account;
  const isOthers = values.get("end") === "others";
  if (isOthers) await endUserSessions(store, id, { except: signedIn.session });
  else if (!await endUserSession(store, id, values.get("session") ?? "")) {
    return await notFound(as, request);
  }
  as.observe({ type: "session_ended", user: id, ip: context.ip });
  return redirectDone(as, PATH, isOthers ? "sessions" : "session", signedIn.session);
}

function toView(
  { base }: AuthorizationServer,
  { id, created, seen, address, agent }: UserSession,
  isThis: boolean,
): SessionView {
  return {
    isThis,
    created,
    used: seen,
    ...(address !== undefined && { address }),
    ...describeAgent(agent),
    ...(!isThis && { end: { action: base + PATH, hidden: { session: id } } }),
  };
}
