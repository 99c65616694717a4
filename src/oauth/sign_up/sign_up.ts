/**
 * `/login/sign-up`: creates an account. Everyone may sign up, with an address that is then verified, or who has an
 * invitation. `/login/invitation` takes the link of an invitation.
 *
 * @module
 */
import { readForm } from "../../http/body/form.ts";
import { isSameOrigin } from "../../http/network/origin.ts";
import { networkOf } from "../../http/network/network.ts";
import type { Fields } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import { ignoreUnavailable } from "../../store/retry.ts";
import type { Entry } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { INVALID_REDIRECT, parseRedirect } from "../endpoints/login_redirect.ts";
import { requestEmailVerification } from "../mail/email_verification.ts";
import {
  endLinkCookie,
  isShownLink,
  type LinkToken,
  moveToCookie,
  readLinkCookie,
  toLinkAction,
} from "../mail/link_token.ts";
import { countMail } from "../mail/mail_limit.ts";
import { chooseLanguage } from "../pages/language.ts";
import { refuse, refuseForeignForm, showPage } from "../pages/page.ts";
import { type Invitation, usernameKey } from "../records/user_record.ts";
import { completeLogin } from "../users/complete_login.ts";
import { NOT_VERIFIED } from "../users/password_queue.ts";
import { canonicalUsername } from "../users/username.ts";
import { createAccount } from "./account.ts";
import { checkSignUpForm, readSignUpForm, type SignUpForm } from "./form.ts";
import { findInvitation, INVITATION_LINK } from "./invitation.ts";
import { beginSignUp } from "./pending_sign_up.ts";
import type { SignUpRefusedView, SignUpView } from "./views.ts";

const MAX_FORM_BYTES = 16 * 1024;
/** The record of a sign-up and the cookies of providers have room for it. */
const MAX_REDIRECT_CHARACTERS = 2000;
/** Forms with valid fields from one network: each says whether a user name is taken. */
const NETWORK_LIMIT = { freeAttempts: 20, maxWaitSeconds: 1800 } as const;
const UNKNOWN_NETWORK_LIMIT = { freeAttempts: 200, maxWaitSeconds: 60 } as const;
const NOTHING_ENTERED = { username: "", name: "", email: "", password: "" };

/** Takes the link of an invitation: 303 to the form, with the token in a cookie. */
export async function openInvitation(as: AuthorizationServer, request: Request): Promise<Response> {
  return moveToCookie(as, request, INVITATION_LINK, "/login/sign-up") ??
    await showRefusal(as, request, "ended", 400);
}

/** `GET /login/sign-up?redirect=…`: 200 with the form, 403 without the invitation that is needed. */
export async function showSignUp(as: AuthorizationServer, request: Request): Promise<Response> {
  const redirect = readRedirect(as, request);
  if (redirect === undefined) return await refuseRedirect(as, request);
  const token = readLinkCookie(as, request, INVITATION_LINK);
  const invitation = await findInvitation(as.store, token);
  if (!mayShow(as, invitation)) return await showRefusal(as, request, "not_invited", 403);
  return await showForm(as, request, { redirect, invitation, token });
}

/**
 * `POST /login/sign-up?redirect=…`: with an invitation an account and a session, and as after a login 302 to `redirect` or
 * 200; else 200 after a mail was sent. 400 for a field that breaks a rule, 409 for a user name that is taken, 429 after
 * too many attempts, 403 without the invitation that is needed and for a form that another site sent.
 */
export async function signUp(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  if (!isSameOrigin(request, as.origin)) return await refuseForeignForm(as, request);
  const redirect = readRedirect(as, request);
  if (redirect === undefined) return await refuseRedirect(as, request);
  const token = readLinkCookie(as, request, INVITATION_LINK);
  const invitation = await findInvitation(as.store, token);
  const mode = as.signUp.passwords;
  if (mode === "closed" || mode === "invitation" && !invitation) {
    return await showRefusal(as, request, token ? "ended" : "not_invited", 403);
  }
  const { values } = await readForm(request, MAX_FORM_BYTES);
  const form = readSignUpForm(values, invitation?.value.email);
  const show = (code: NonNullable<SignUpView["problem"]>["code"], status: number, seconds?: number) =>
    showForm(as, request, { redirect, invitation, token, form }, {
      status,
      problem: { code, ...(seconds !== undefined && { seconds }) },
    });
  if (!isShownLink(request, invitation && token)) return await show("other_link", 409);
  const invalid = await checkSignUpForm(as, form, !invitation);
  if (invalid !== undefined) return await show(invalid, 400);
  const network = networkOf(context);
  const limit = network === undefined ? UNKNOWN_NETWORK_LIMIT : NETWORK_LIMIT;
  const wait = await as.throttle.begin([{ kind: "sign_up", subject: network ?? "unknown", ...limit }]) ||
    (invitation ? 0 : await countMail(as, context, form.email));
  if (wait > 0) return await show("too_many_attempts", 429, wait);
  const account = canonicalUsername(form.username);
  if (await as.store.get(usernameKey(account))) return await show("username_taken", 409);
  const password = await as.passwordQueue.run(
    { account, network, trusted: false },
    () => as.passwords.hash(form.password, as.passwordIterations),
  );
  if (password === NOT_VERIFIED) return await show("busy", 429, 2);
  const { username, name, email } = form;
  const language = chooseLanguage(request, undefined, as.pages.defaultLanguage);
  if (!invitation) {
    const fields = await beginSignUp(as, context, { username, name, email, password, redirect }, language);
    return await showPage(as, request, { name: "sign_up_sent", email }, { fields, formAction: "'none'" });
  }
  const { id, role, mailed = false } = invitation.value;
  const given = { username, name, email, password, role };
  const permit = () => findInvitation(as.store, token);
  let outcome = await createAccount(as, { ...given, isVerified: mailed }, permit);
  // Somebody else verified the address: the account has it unverified.
  if ("problem" in outcome && outcome.problem === "email_taken") {
    outcome = await createAccount(as, { ...given, isVerified: false }, permit);
  }
  if ("problem" in outcome) {
    if (outcome.problem === "username_taken") return await show("username_taken", 409);
    return await showRefusal(as, request, "ended", 400, [endLinkCookie(as, INVITATION_LINK)]);
  }
  const { user } = outcome;
  as.observe({ type: "user_registered", user: user.id, invitation: id, ip: context.ip });
  if (as.sendMail && email !== "" && user.email_verified === undefined) {
    // The account is made; its page sends the mail again.
    await requestEmailVerification(as, context, { user, email, language }).catch(ignoreUnavailable);
  }
  return await completeLogin(as, request, context, user, { account, began: as.now() }, redirect, [
    endLinkCookie(as, INVITATION_LINK),
  ]);
}

/** Whether there is anything to choose on the page. */
function mayShow({ signUp: { passwords, providers } }: AuthorizationServer, invitation: unknown): boolean {
  return [passwords, providers].some((mode) =>
    mode === "open" || mode === "invitation" && invitation !== undefined
  );
}

async function showForm(
  as: AuthorizationServer,
  request: Request,
  { redirect, invitation, token, form = NOTHING_ENTERED }: {
    readonly redirect: string;
    readonly invitation: Entry<Invitation> | undefined;
    readonly token: LinkToken | undefined;
    readonly form?: SignUpForm;
  },
  { status = 200, problem }: { readonly status?: number; readonly problem?: SignUpView["problem"] } = {},
): Promise<Response> {
  const query = redirect === "" ? "" : "?redirect=" + encodeURIComponent(redirect);
  const { passwords, providers } = as.signUp;
  const allows = (mode: typeof passwords) => mode === "open" || mode === "invitation" && !!invitation;
  const { username, name, email } = form;
  const fixedEmail = invitation?.value.email;
  const view: SignUpView = {
    name: "sign_up",
    action: toLinkAction(`${as.base}/login/sign-up${query}`, invitation && token),
    hasPassword: allows(passwords),
    requiresEmail: !invitation,
    ...(fixedEmail !== undefined && { fixedEmail }),
    entered: { username, name: name === username ? "" : name, email },
    minPasswordLength: as.passwordPolicy.minLength,
    providers: allows(providers)
      ? (await as.providers.list()).map(({ id, name }) => ({
        id,
        name,
        url: `${as.base}/login/${id}${query}`,
      }))
      : [],
    signIn: `${as.base}/login${query}`,
    ...(problem && { problem }),
  };
  return await showPage(as, request, view, { status, formAction: "'self'" });
}

/** The page that says why no account is created. */
export async function showRefusal(
  as: AuthorizationServer,
  request: Request,
  reason: SignUpRefusedView["reason"],
  status: number,
  fields: Fields = [],
): Promise<Response> {
  const view: SignUpRefusedView = {
    name: "sign_up_refused",
    reason,
    signIn: as.base + "/login",
    ...(as.signUp.passwords === "open" && { signUp: as.base + "/login/sign-up" }),
  };
  return await showPage(as, request, view, { status, fields, formAction: "'none'" });
}

function readRedirect(as: AuthorizationServer, request: Request): string | undefined {
  const redirect = parseRedirect(as, request);
  return redirect !== undefined && redirect.length <= MAX_REDIRECT_CHARACTERS ? redirect : undefined;
}

async function refuseRedirect(as: AuthorizationServer, request: Request): Promise<Response> {
  return await refuse(as, request, { code: "invalid_redirect", status: 400, text: INVALID_REDIRECT });
}
