/**
 * `/login/sign-up/confirm`: the link of a sign-up. GET asks, POST creates the account.
 *
 * @module
 */
import { readForm } from "../../http/body/form.ts";
import { networkOf } from "../../http/network/network.ts";
import { isSameOrigin } from "../../http/network/origin.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import {
  endLinkCookie,
  isShownLink,
  type LinkToken,
  moveToCookie,
  readLinkCookie,
  toLinkAction,
} from "../mail/link_token.ts";
import { refuseForeignForm, showPage } from "../pages/page.ts";
import type { PendingSignUp } from "../records/user_record.ts";
import { completeLogin } from "../users/complete_login.ts";
import { NOT_VERIFIED } from "../users/password_queue.ts";
import { canonicalUsername } from "../users/username.ts";
import { createAccount } from "./account.ts";
import { endBrowserCookie, findSignUp, isOfBrowser, SIGN_UP_LINK } from "./pending_sign_up.ts";
import { showRefusal } from "./sign_up.ts";
import type { SignUpConfirmView } from "./views.ts";

/** Passwords that may be tried for one link. */
const PASSWORD_LIMIT = { freeAttempts: 5, maxWaitSeconds: 900 } as const;
const MAX_FORM_BYTES = 16 * 1024;

/** 303 with the token in a cookie, then 200 with the question; 400 for a link that is no longer valid. */
export async function showConfirmation(as: AuthorizationServer, request: Request): Promise<Response> {
  const moved = moveToCookie(as, request, SIGN_UP_LINK);
  if (moved) return moved;
  const token = readLinkCookie(as, request, SIGN_UP_LINK);
  const pending = await findSignUp(as, token);
  if (!pending) return await showRefusal(as, request, "ended", 400);
  return await showQuestion(as, request, token, pending.value);
}

/**
 * Creates the account, with a verified address, and signs the user in. A browser that did not sign up must send the
 * password as well: otherwise an attacker could sign up with the address of a person who then confirms it for them.
 * 400 for a link that is no longer valid, 401 for a wrong password, 409 when name or address were taken since, 429 after
 * too many passwords.
 */
export async function confirmSignUp(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  if (!isSameOrigin(request, as.origin)) return await refuseForeignForm(as, request);
  const { values } = await readForm(request, MAX_FORM_BYTES);
  const token = readLinkCookie(as, request, SIGN_UP_LINK);
  const pending = await findSignUp(as, token);
  const end = [endLinkCookie(as, SIGN_UP_LINK), endBrowserCookie(as)];
  if (!token || !pending) return await showRefusal(as, request, "ended", 400, end);
  if (!isShownLink(request, token)) return await showQuestion(as, request, token, pending.value, 409);
  const { username, name, email, password, redirect } = pending.value;
  const account = canonicalUsername(username);
  if (!isOfBrowser(as, request, pending.value)) {
    const wait = await as.throttle.begin([{
      kind: "sign_up_confirm",
      subject: token.digest,
      ...PASSWORD_LIMIT,
    }]);
    if (wait > 0) {
      const problem = { code: "too_many_attempts", seconds: wait } as const;
      return await showQuestion(as, request, token, pending.value, 429, problem);
    }
    const verified = await as.passwordQueue.run(
      { account, network: networkOf(context), trusted: false },
      () => as.passwords.verify(values.get("password") ?? "", password, as.passwordIterations),
    );
    if (verified === NOT_VERIFIED) {
      return await showQuestion(as, request, token, pending.value, 429, {
        code: "too_many_attempts",
        seconds: 2,
      });
    }
    if (!verified.valid) {
      return await showQuestion(as, request, token, pending.value, 401, { code: "wrong_password" });
    }
  }
  const outcome = await createAccount(
    as,
    { username, name, email, password, isVerified: true },
    () => findSignUp(as, token),
  );
  if ("problem" in outcome) {
    return await showRefusal(as, request, outcome.problem, outcome.problem === "ended" ? 400 : 409, end);
  }
  const { user } = outcome;
  as.observe({ type: "user_registered", user: user.id, ip: context.ip });
  as.observe({ type: "email_verified", user: user.id });
  return await completeLogin(as, request, context, user, { account, began: as.now() }, redirect, end);
}

async function showQuestion(
  as: AuthorizationServer,
  request: Request,
  token: LinkToken | undefined,
  pending: PendingSignUp,
  status: number = 200,
  problem?: SignUpConfirmView["problem"],
): Promise<Response> {
  const view: SignUpConfirmView = {
    name: "sign_up_confirm",
    action: toLinkAction(as.base + SIGN_UP_LINK.path, token),
    username: pending.username,
    email: pending.email,
    needsPassword: !isOfBrowser(as, request, pending),
    ...(problem && { problem }),
  };
  return await showPage(as, request, view, { status, formAction: "'self'" });
}
