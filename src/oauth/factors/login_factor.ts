/**
 * `/login/factor`, the second step of a login: GET shows the form, POST verifies a code or a passkey. With `step_up=1` it is
 * the second step of the session, for a client that needs more than the first (RFC 9470).
 *
 * @module
 */
import { parseForm, readForm } from "../../http/body/form.ts";
import { isSameOrigin } from "../../http/network/origin.ts";
import { type Fields, NO_STORE, respond, respondText } from "../../http/response.ts";
import { queryOf } from "../../http/router.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { INVALID_REDIRECT, parseRedirect } from "../endpoints/login_redirect.ts";
import { refuse, refuseForeignForm, showPage, wantsPage } from "../pages/page.ts";
import { findFactors } from "./factor_record.ts";
import type { SecondFactorView } from "./pages/factor_views.ts";
import { offerPasskeyFactor } from "./passkey_options.ts";
import { passkeyScriptUrl } from "./passkey_script.ts";
import { type FactorProof, findSecondStep, type SecondStep } from "./second_step.ts";
import { type CodeOutcome, verifyCode } from "./verify_code.ts";
import { verifyPasskey } from "./verify_passkey.ts";

const MAX_FORM_BYTES = 16 * 1024;
/** Its challenge was used up when it was verified: the user gets another one. */
const PASSKEY: FactorProof = { factor: "passkey", consume: () => Promise.resolve({}) };

/** 200 with the form; a redirect to the login page when no second step waits, 400 for an invalid redirect. */
export async function showLoginFactor(as: AuthorizationServer, request: Request): Promise<Response> {
  const redirect = parseRedirect(as, request);
  if (redirect === undefined) return await refuseRedirect(as, request);
  const step = await findSecondStep(as, request, isStepUp(request));
  if (!step) return restart(as, request, redirect);
  return await factorPage(as, request, step, redirect);
}

/**
 * `POST` with `code`, or with `credential`, the JSON of a WebAuthn assertion: the redirect of the login. 401 for a wrong
 * code, 429 after too many, 403 for a form that another site sent.
 */
export async function checkLoginFactor(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  if (!isSameOrigin(request, as.origin)) return await refuseForeignForm(as, request);
  const redirect = parseRedirect(as, request);
  if (redirect === undefined) return await refuseRedirect(as, request);
  const { values, repeated } = await readForm(request, MAX_FORM_BYTES);
  const code = values.get("code");
  const credential = values.get("credential");
  if (repeated.length > 0 || !code === !credential) {
    const text = "Send either code or credential, once.";
    return await refuse(as, request, { code: "missing_fields", status: 400, text });
  }
  const step = await findSecondStep(as, request, isStepUp(request));
  if (!step || !await step.countTry()) return restart(as, request, redirect);
  const { user, account } = step;
  const { proof, wait }: CodeOutcome = credential
    ? { ...await verifyPasskey(as, request, credential, user.id) && { proof: PASSKEY }, wait: 0 }
    : await verifyCode(as, request, context, { user: user.id, account, code: code! });
  const response = proof && await step.complete(context, proof, redirect);
  if (response) return response;
  // Another request has ended the step, unless it has used the code.
  if (await proof?.consume()) return restart(as, request, redirect);
  as.observe({ type: "second_factor_failed", user: user.id, ip: context.ip });
  const problem: SecondFactorView["problem"] = wait > 0
    ? { code: "too_many_attempts", seconds: wait }
    : { code: credential ? "passkey_failed" : "wrong_code" };
  return await factorPage(as, request, step, redirect, problem);
}

async function factorPage(
  as: AuthorizationServer,
  request: Request,
  { user }: SecondStep,
  redirect: string,
  problem?: SecondFactorView["problem"],
): Promise<Response> {
  const wait = problem?.seconds;
  const status = problem === undefined ? 200 : wait === undefined ? 401 : 429;
  if (problem && !wantsPage(request)) {
    const text = wait === undefined ? "Wrong or used code." : `Too many attempts. Try again in ${wait} s.`;
    const retry: Fields = wait === undefined ? [] : [["retry-after", String(wait)]];
    return respondText(status, text, [...retry, NO_STORE]);
  }
  const { totp, passkeys = [], recovery } = await findFactors(as, user.id);
  const action = `${as.base}/login/factor${queryFor(redirect, isStepUp(request))}`;
  const offered = passkeys.length === 0 ? undefined : await offerPasskeyFactor(as, request, action, passkeys);
  const view: SecondFactorView = {
    name: "second_factor",
    action,
    hasTotp: totp !== undefined,
    hasRecoveryCodes: recovery !== undefined && recovery.digests.length > 0,
    ...(offered && { passkey: offered.passkey }),
    user: user.name,
    signIn: `${as.base}/login${queryFor(redirect, false)}`,
    ...(problem && { problem }),
  };
  return await showPage(as, request, view, {
    status,
    fields: offered?.fields,
    ...(offered && { script: passkeyScriptUrl(as) }),
  });
}

function isStepUp({ url }: Request): boolean {
  return parseForm(queryOf(url)).values.get("step_up") === "1";
}

function queryFor(redirect: string, isStepUp: boolean): string {
  const query = [
    ...isStepUp ? ["step_up=1"] : [],
    ...redirect === "" ? [] : ["redirect=" + encodeURIComponent(redirect)],
  ];
  return query.length === 0 ? "" : "?" + query.join("&");
}

/** To the first step; a session that needs no second step goes on at once. */
function restart(as: AuthorizationServer, request: Request, redirect: string): Response {
  const isDone = isStepUp(request) && redirect !== "" && request.method === "GET";
  const location = isDone ? redirect : `${as.base}/login${queryFor(redirect, false)}`;
  return respond(303, null, [["location", location], NO_STORE]);
}

function refuseRedirect(as: AuthorizationServer, request: Request): Promise<Response> {
  return refuse(as, request, { code: "invalid_redirect", status: 400, text: INVALID_REDIRECT });
}
