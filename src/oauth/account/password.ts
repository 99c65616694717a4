/**
 * `/account/password`: a user changes the password, with the present one, or sets the first one. All other sessions end, and
 * this one goes on under a new id.
 *
 * @module
 */
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { showPage } from "../pages/page.ts";
import type { User } from "../records/user_record.ts";
import { attemptLogin } from "../users/login_attempt.ts";
import { checkNewPassword } from "../users/password_policy.ts";
import { prepareRenewal } from "../users/renew_session.ts";
import { SessionEndedError } from "../users/session.ts";
import { replacePassword } from "../users/user_changes.ts";
import { endUserSessions } from "../users/user_sessions.ts";
import { notFound, openForm, readDone, redirectDone } from "./account_form.ts";
import { type Account, openAccount } from "./account_user.ts";
import type { AccountPasswordView } from "./account_views.ts";

type Problem = NonNullable<AccountPasswordView["problem"]>;

const PATH = "/account/password";

/** `GET`: 200 after a recent login, else 303 to the login page; 404 for a user who has no password here. */
export async function showPassword(as: AuthorizationServer, request: Request): Promise<Response> {
  const account = await openAccount(as, request, { isRecent: true });
  if (account instanceof Response) return account;
  if (!account.mayHavePassword) return await notFound(as, request);
  return await passwordPage(as, request, account, {
    isDone: readDone(request, account, ["password"]) !== undefined,
  });
}

/**
 * `POST` with `password` (unless the user has none), `new_password` and `new_password_again`: 303 to the page. 400 for a
 * password that is wrong or breaks a rule. Wrong ones count as failed logins (`../users/login_attempt.ts`), with 429.
 */
export async function changePassword(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  const form = await openForm(as, request, { isRecent: true });
  if (form instanceof Response) return form;
  const { account, values, store } = form;
  const { own, signedIn } = account;
  if (!own || !account.mayHavePassword) return await notFound(as, request);
  const password = values.get("new_password") ?? "";
  const invalid = await findProblem(as, account, own, values);
  if (invalid) return await passwordPage(as, request, account, { problem: invalid });
  const before = await verifyPresent(as, request, context, account, own, values.get("password"));
  if (typeof before !== "string") return await passwordPage(as, request, account, { problem: before });
  const hash = await as.passwords.hash(password, as.passwordIterations);
  // First, so that an interruption leaves either the old password or no other session.
  await endUserSessions(as.store, own.id, { except: signedIn.session });
  const renewal = await prepareRenewal(as, request, signedIn);
  if (!renewal) throw new SessionEndedError();
  const { session, fields, changes } = renewal;
  // What was verified is no longer the password: it was reset meanwhile, and the reset stays.
  if (!await replacePassword(store, own.id, before, hash, changes)) {
    return await passwordPage(as, request, account, { problem: { code: "wrong_password" } });
  }
  as.observe({ type: "password_changed", user: own.id, ip: context.ip });
  await notifyOwner(as, request, context, own);
  // Those that began with the old password meanwhile.
  await endUserSessions(as.store, own.id, { except: session });
  return redirectDone(as, PATH, "password", session, fields);
}

/** What is wrong with the new password. */
async function findProblem(
  as: AuthorizationServer,
  { hasPassword }: Account,
  own: User,
  values: ReadonlyMap<string, string>,
): Promise<Problem | undefined> {
  const password = values.get("new_password") ?? "";
  if (hasPassword && !values.get("password")) return { code: "wrong_password" };
  if (password !== (values.get("new_password_again") ?? "")) return { code: "different" };
  const code = await checkNewPassword(as.passwordPolicy, password, own);
  return code && { code };
}

/** The hash of the present password, or what is wrong with it. It is verified last, because that takes a slow hash. */
async function verifyPresent(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  { hasPassword }: Account,
  { username, password: hash }: User,
  password: string | undefined,
): Promise<string | Problem> {
  if (!hasPassword) return hash;
  const form = new Map([["username", username], ["password", password!]]);
  const { user, wait } = await attemptLogin(as, form, request, context);
  if (user) return user.password ?? hash;
  as.observe({ type: "login_failed", username, ip: context.ip });
  return wait > 0 ? { code: "too_many_attempts", seconds: wait } : { code: "wrong_password" };
}

/** A notice to the verified address. */
async function notifyOwner(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  own: User,
): Promise<void> {
  if (!as.sendMail || own.email === "" || own.email_verified === undefined) return;
  (await import("../mail/notice.ts")).sendNotice(as, request, context, "password_changed", own);
}

async function passwordPage(
  as: AuthorizationServer,
  request: Request,
  { own, hasPassword }: Account,
  { problem, isDone = false }: { readonly problem?: Problem; readonly isDone?: boolean },
): Promise<Response> {
  return await showPage(as, request, {
    name: "account_password",
    account: `${as.base}/account`,
    action: as.base + PATH,
    hidden: {},
    hasPassword,
    username: own!.username,
    minLength: as.passwordPolicy.minLength,
    isDone,
    ...(problem && { problem }),
  }, {
    status: problem === undefined ? 200 : problem.code === "too_many_attempts" ? 429 : 400,
    formAction: "'self'",
  });
}
