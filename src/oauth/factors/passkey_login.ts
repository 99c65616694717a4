/**
 * `POST /login/passkey`: signs in with a passkey alone, which verified its user.
 *
 * @module
 */
import { readForm } from "../../http/body/form.ts";
import { isSameOrigin } from "../../http/network/origin.ts";
import { NO_STORE, respond, respondText } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { INVALID_REDIRECT, parseRedirect } from "../endpoints/login_redirect.ts";
import { refuse, refuseForeignForm, wantsPage } from "../pages/page.ts";
import { completeLogin } from "../users/complete_login.ts";
import { findUser } from "../users/user.ts";
import { provedByPasskey } from "./second_step.ts";
import { verifyPasskey } from "./verify_passkey.ts";

const MAX_FORM_BYTES = 16 * 1024;

/**
 * With `credential`, the JSON of a WebAuthn assertion: the redirect of the login. For a refused one browsers go back to the
 * login page, and programs get 401.
 */
export async function loginByPasskey(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  if (!isSameOrigin(request, as.origin)) return await refuseForeignForm(as, request);
  const redirect = parseRedirect(as, request);
  if (redirect === undefined) {
    return await refuse(as, request, { code: "invalid_redirect", status: 400, text: INVALID_REDIRECT });
  }
  const { values, repeated } = await readForm(request, MAX_FORM_BYTES);
  const credential = values.get("credential");
  if (!credential || repeated.length > 0) {
    const text = "credential is missing or repeated.";
    return await refuse(as, request, { code: "missing_fields", status: 400, text });
  }
  const began = as.now();
  const proof = await verifyPasskey(as, request, credential, undefined);
  const user = proof && await findUser(as.store, proof.user);
  if (user) {
    const method = { factor: "passkey", began } as const;
    return await completeLogin(as, request, context, provedByPasskey(as, user), method, redirect);
  }
  as.observe({ type: "passkey_refused", ip: context.ip });
  if (!wantsPage(request)) return respondText(401, "The passkey could not be verified.", [NO_STORE]);
  const query = redirect === "" ? "" : "&redirect=" + encodeURIComponent(redirect);
  return respond(303, null, [["location", `${as.base}/login?passkey=refused${query}`], NO_STORE]);
}
