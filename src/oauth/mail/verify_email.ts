/**
 * `/login/verify-email`: the link that proves an address. GET asks, POST verifies.
 *
 * @module
 */
import { isSameOrigin } from "../../http/network/origin.ts";
import type { Fields } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { chooseLanguage } from "../pages/language.ts";
import { refuseForeignForm, showPage } from "../pages/page.ts";
import { findEmailVerification, VERIFICATION_LINK, verifyEmail } from "./email_verification.ts";
import {
  endLinkCookie,
  isShownLink,
  type LinkToken,
  moveToCookie,
  readLinkCookie,
  toLinkAction,
} from "./link_token.ts";

/** 303 with the token in a cookie, then 200 with the question; 400 for a link that is no longer valid. */
export async function showVerifyEmail(as: AuthorizationServer, request: Request): Promise<Response> {
  const moved = moveToCookie(as, request, VERIFICATION_LINK);
  if (moved) return moved;
  return await showQuestion(as, request, readLinkCookie(as, request, VERIFICATION_LINK), 200);
}

async function showQuestion(
  as: AuthorizationServer,
  request: Request,
  token: LinkToken | undefined,
  status: number,
): Promise<Response> {
  const found = await findEmailVerification(as, token);
  if (!found) return await showRefused(as, request, "ended", []);
  const { user: { username }, email } = found;
  const action = toLinkAction(as.base + VERIFICATION_LINK.path, token);
  return await showPage(as, request, { name: "verify_email", action, username, email }, {
    status,
    formAction: "'self'",
  });
}

/** 200 with a verified address; 400 for a link that is no longer valid, 409 when another account verified the address. */
export async function submitVerifyEmail(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  if (!isSameOrigin(request, as.origin)) return await refuseForeignForm(as, request);
  const language = chooseLanguage(request, undefined, as.pages.defaultLanguage);
  const token = readLinkCookie(as, request, VERIFICATION_LINK);
  if (!isShownLink(request, token)) return await showQuestion(as, request, token, 409);
  const outcome = await verifyEmail(as, context, token, language);
  const end: Fields = [endLinkCookie(as, VERIFICATION_LINK)];
  if ("problem" in outcome) return await showRefused(as, request, outcome.problem, end);
  const view = { name: "email_verified", email: outcome.user.email, signIn: as.base + "/login" } as const;
  return await showPage(as, request, view, { fields: end, formAction: "'none'" });
}

async function showRefused(
  as: AuthorizationServer,
  request: Request,
  reason: "ended" | "in_use",
  fields: Fields,
): Promise<Response> {
  const view = { name: "link_refused", reason, next: as.base + "/login", isPasswordReset: false } as const;
  const status = reason === "ended" ? 400 : 409;
  return await showPage(as, request, view, { status, fields, formAction: "'none'" });
}
