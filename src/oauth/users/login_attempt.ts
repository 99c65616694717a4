/**
 * One login attempt and its limits. Wrong passwords are counted for a browser that signed in before, for one account from
 * one network, and for one network. They are never counted for an account as a whole: strangers could lock out its owner.
 * While the client address is unknown nothing is counted; the password queue is the limit, and a password that was
 * verified recently does not wait in it.
 *
 * @module
 */
import { networkOf } from "../../http/network/network.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthenticatedUser, AuthorizationServer } from "../authorization_server.ts";
import type { User } from "../records/user_record.ts";
import { findDeviceId } from "./device_cookie.ts";
import { NOT_VERIFIED, type PasswordAttempt } from "./password_queue.ts";
import type { AttemptSeries } from "./throttle/throttle.ts";
import { canonicalUsername, checkPassword, saveProfile } from "./user.ts";

/** For a browser that signed in to the account before. */
export const DEVICE_LIMIT = { freeAttempts: 10, maxWaitSeconds: 900 } as const;
/** Wrong passwords for one account from unknown addresses before 429. The right password succeeds nevertheless. */
const MAX_UNKNOWN_ADDRESS_FAILURES = 10;
/** After an attempt without a verified password: see {@linkcode NOT_VERIFIED}. */
const RETRY_AFTER_SECONDS = 2;

/** Of a user of this server also the hash that was verified. */
type VerifiedUser = AuthenticatedUser & Partial<Pick<User, "password">>;

export interface LoginOutcome {
  /** Absent when the password was wrong or was not verified. */
  readonly user?: VerifiedUser;
  /** Seconds to wait before the next attempt, or 0. */
  readonly wait: number;
}

/** Signs in with the form fields `username` and `password`. */
export async function attemptLogin(
  as: AuthorizationServer,
  form: ReadonlyMap<string, string>,
  request: Request,
  context: RequestContext,
): Promise<LoginOutcome> {
  const account = canonicalUsername(form.get("username")!);
  const network = networkOf(context);
  const device = await findDeviceId(as, request, account);
  const deviceSeries: readonly AttemptSeries[] = device === undefined
    ? []
    : [{ kind: "login_device", subject: device, ...DEVICE_LIMIT }];
  const trusted = device !== undefined && await as.throttle.begin(deviceSeries) === 0;
  const countedNetwork = trusted ? undefined : network;
  const wait = countedNetwork === undefined ? 0 : await as.loginThrottle.begin(account, countedNetwork);
  if (wait > 0) return { wait };
  const user = await identify(as, form, request, { account, network, trusted });
  // The attempt stays counted: recently verified passwords succeed before the queue.
  if (user === NOT_VERIFIED) return { wait: RETRY_AFTER_SECONDS };
  if (user) {
    as.wrongGuesses.forget(`login ${account}`);
    if (trusted) await as.throttle.succeeded(deviceSeries);
    if (countedNetwork !== undefined) await as.loginThrottle.succeeded(account, countedNetwork);
    return { user, wait: 0 };
  }
  const isTooMany = !trusted && network === undefined &&
    as.wrongGuesses.add(`login ${account}`) >= MAX_UNKNOWN_ADDRESS_FAILURES;
  return { wait: isTooMany ? RETRY_AFTER_SECONDS : 0 };
}

async function identify(
  as: AuthorizationServer,
  form: ReadonlyMap<string, string>,
  request: Request,
  attempt: PasswordAttempt,
): Promise<VerifiedUser | undefined | typeof NOT_VERIFIED> {
  if (!as.authenticateUser) {
    return await checkPassword(as, form.get("username")!, form.get("password")!, attempt);
  }
  const user = await as.authenticateUser(form, request);
  return user && await saveProfile(as.store, user, as.now()) ? user : undefined;
}
