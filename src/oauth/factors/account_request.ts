/**
 * What every request for `/account/factors` needs: a session, for changes a recent login, and for forms that this site sent
 * them.
 *
 * @module
 */
import { readForm } from "../../http/body/form.ts";
import { isSameOrigin } from "../../http/network/origin.ts";
import { NO_STORE, respond } from "../../http/response.ts";
import { pathOf } from "../../http/router.ts";
import type { Store } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { redirectToLogin } from "../endpoints/login_redirect.ts";
import { refuse, refuseForeignForm } from "../pages/page.ts";
import { needsRecentLogin, redirectToRecentLogin } from "../users/recent_login.ts";
import { findSession, type SignedIn } from "../users/session.ts";
import { toSessionStore } from "../users/session_store.ts";

/** The page with the list, after the path of the issuer. */
export const FACTORS_PATH = "/account/factors";

const MAX_FORM_BYTES = 16 * 1024;

/** The session; a redirect to the login page without one, or when it must be recent and is not. */
export async function openFactors(
  as: AuthorizationServer,
  request: Request,
  { mustBeRecent }: { readonly mustBeRecent: boolean },
): Promise<SignedIn | Response> {
  const signedIn = await findSession(as, request);
  const path = request.method === "GET" ? pathOf(request.url).slice(as.base.length) : FACTORS_PATH;
  if (!signedIn) return redirectToLogin(as, as.base + path, "");
  return mustBeRecent && await needsRecentLogin(as, signedIn) ? redirectToRecentLogin(as, path) : signedIn;
}

/** A form of the user who is signed in. */
export interface FactorForm {
  readonly signedIn: SignedIn;
  readonly values: ReadonlyMap<string, string>;
  /** For all that the form changes: nothing is changed once the session has ended. */
  readonly store: Store;
}

/** The session and the fields of a form; a response when it is refused. */
export async function openFactorForm(
  as: AuthorizationServer,
  request: Request,
  options: { readonly mustBeRecent: boolean },
): Promise<FactorForm | Response> {
  if (!isSameOrigin(request, as.origin)) return await refuseForeignForm(as, request);
  // Before the session: a client that holds the body back must not keep the powers of a session that ends meanwhile.
  const { values, repeated } = await readForm(request, MAX_FORM_BYTES);
  const signedIn = await openFactors(as, request, options);
  if (signedIn instanceof Response) return signedIn;
  if (repeated.length === 0) return { signedIn, values, store: toSessionStore(as, signedIn) };
  const text = "Send each form field once.";
  return await refuse(as, request, { code: "missing_fields", status: 400, text });
}

/** 303 to the list. */
export function redirectToFactors({ base }: AuthorizationServer): Response {
  return respond(303, null, [["location", base + FACTORS_PATH], NO_STORE]);
}
