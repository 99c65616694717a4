/**
 * `/login/reset`: the link of a password reset. GET moves the token out of the URL and asks for a password, POST sets it.
 *
 * @module
 */
import { readForm } from "../../http/body/form.ts";
import { isSameOrigin } from "../../http/network/origin.ts";
import type { Fields } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { chooseLanguage } from "../pages/language.ts";
import { refuseForeignForm, showPage } from "../pages/page.ts";
import type { User } from "../records/user_record.ts";
import {
  endLinkCookie,
  isShownLink,
  type LinkToken,
  moveToCookie,
  readLinkCookie,
  toLinkAction,
} from "./link_token.ts";
import { findPasswordReset, RESET_LINK, resetPassword } from "./password_reset.ts";
import type { ResetPasswordView } from "./views.ts";

const MAX_FORM_BYTES = 16 * 1024;
/** After a password that waited too long for its hash. */
const BUSY_SECONDS = 2;
/** Of a form with a problem; 400 for the others. */
const STATUSES: Readonly<Partial<Record<NonNullable<ResetPasswordView["problem"]>["code"], number>>> = {
  busy: 429,
  other_link: 409,
};

/** 303 with the token in a cookie, then 200 with the form; 400 for a link that is no longer valid. */
export async function showResetPassword(as: AuthorizationServer, request: Request): Promise<Response> {
  const moved = moveToCookie(as, request, RESET_LINK);
  if (moved) return moved;
  const token = readLinkCookie(as, request, RESET_LINK);
  const user = await findPasswordReset(as, token);
  return user ? await showForm(as, request, user, token) : await showEnded(as, request, []);
}

/**
 * `POST /login/reset` with `password`, and `end_grants=yes` to end what the user allowed applications: 200, and all sessions
 * of the user have ended. No session starts: the user signs in, with the second factor if there is one. 400 for a password
 * that breaks a rule, which leaves the link valid, and for a link that is no longer valid.
 */
export async function submitResetPassword(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  if (!isSameOrigin(request, as.origin)) return await refuseForeignForm(as, request);
  const { values } = await readForm(request, MAX_FORM_BYTES);
  const token = readLinkCookie(as, request, RESET_LINK);
  if (!isShownLink(request, token)) {
    const user = await findPasswordReset(as, token);
    return user
      ? await showForm(as, request, user, token, { code: "other_link" })
      : await showEnded(as, request, []);
  }
  const outcome = await resetPassword(as, context, token, {
    password: values.get("password") ?? "",
    endGrants: values.get("end_grants") === "yes",
    language: chooseLanguage(request, undefined, as.pages.defaultLanguage),
  });
  const end: Fields = [endLinkCookie(as, RESET_LINK)];
  if ("user" in outcome) {
    const view = { name: "reset_done", signIn: as.base + "/login" } as const;
    return await showPage(as, request, view, { fields: end, formAction: "'none'" });
  }
  const { problem } = outcome;
  const user = problem === "ended" ? undefined : await findPasswordReset(as, token);
  if (problem === "ended" || !user) return await showEnded(as, request, end);
  return await showForm(as, request, user, token, {
    code: problem,
    ...(problem === "busy" && { seconds: BUSY_SECONDS }),
  });
}

async function showForm(
  as: AuthorizationServer,
  request: Request,
  { username }: User,
  token: LinkToken | undefined,
  problem?: ResetPasswordView["problem"],
): Promise<Response> {
  const view: ResetPasswordView = {
    name: "reset_password",
    action: toLinkAction(as.base + RESET_LINK.path, token),
    username,
    minPasswordLength: as.passwordPolicy.minLength,
    ...(problem && { problem }),
  };
  return await showPage(as, request, view, {
    status: problem === undefined ? 200 : STATUSES[problem.code] ?? 400,
    formAction: "'self'",
  });
}

async function showEnded(as: AuthorizationServer, request: Request, fields: Fields): Promise<Response> {
  const next = as.base + "/login/forgot";
  const view = { name: "link_refused", reason: "ended", next, isPasswordReset: true } as const;
  return await showPage(as, request, view, { status: 400, fields, formAction: "'none'" });
}
