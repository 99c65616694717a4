/**
 * One attempt to sign in, and what guessing costs the guesser. Counted are wrong passwords of one browser that signed in
 * before, of one network for one account, and of one network; never those of an account as a whole, which would let
 * strangers lock its owner out. Nothing is counted together while the address is unknown: there the queue of slow hashes
 * is the limit, and a password that was right lately does not wait in it.
 *
 * @module
 */
import { networkOf } from "../../http/network/network.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthenticatedUser, AuthorizationServer } from "../authorization_server.ts";
import { findDevice } from "./device_cookie.ts";
import { type Claimant, TURNED_AWAY } from "./password_queue.ts";
import type { Series } from "./throttle.ts";
import { canonicalUsername, checkPassword, keepProfile } from "./user.ts";

/** Wrong passwords of a browser that signed in to the account before. */
export const DEVICE_LIMIT = { free: 10, longest: 900 } as const;
/** Wrong passwords for one account from unknown addresses after which a wrong one hears 429; a right one is let in. */
const UNKNOWN_FREE = 10;
/** Seconds after which an attempt that was turned away may come again. */
const RETRY_AFTER = 2;

export interface LoginOutcome {
  /** Who signed in; absent when the password was wrong or not looked at. */
  readonly user?: AuthenticatedUser;
  /** Seconds to wait before the next attempt; 0 when there is no need. */
  readonly wait: number;
}

/** Tries the form of a login, with `username` and `password` in it. */
export async function attemptLogin(
  as: AuthorizationServer,
  form: ReadonlyMap<string, string>,
  request: Request,
  context: RequestContext,
): Promise<LoginOutcome> {
  const account = canonicalUsername(form.get("username")!);
  const network = networkOf(context);
  const device = await findDevice(as, request, account);
  const ofDevice: readonly Series[] = device === undefined
    ? []
    : [{ kind: "login_device", of: device, ...DEVICE_LIMIT }];
  const trusted = device !== undefined && await as.throttle.begin(ofDevice) === 0;
  const counted = trusted ? undefined : network;
  const wait = counted === undefined ? 0 : await as.loginLedger.begin(account, counted);
  if (wait > 0) return { wait };
  const user = await identify(as, form, request, { account, network, trusted });
  // It stays counted: a password that was right lately was compared with before the queue.
  if (user === TURNED_AWAY) return { wait: RETRY_AFTER };
  if (user) {
    as.wrongGuesses.forget(`login ${account}`);
    if (trusted) await as.throttle.succeeded(ofDevice);
    if (counted !== undefined) await as.loginLedger.succeeded(account, counted);
    return { user, wait: 0 };
  }
  const isTooMany = !trusted && network === undefined &&
    as.wrongGuesses.add(`login ${account}`) >= UNKNOWN_FREE;
  return { wait: isTooMany ? RETRY_AFTER : 0 };
}

async function identify(
  as: AuthorizationServer,
  form: ReadonlyMap<string, string>,
  request: Request,
  claimant: Claimant,
): Promise<AuthenticatedUser | undefined | typeof TURNED_AWAY> {
  if (!as.authenticateUser) {
    return await checkPassword(as, form.get("username")!, form.get("password")!, claimant);
  }
  const user = await as.authenticateUser(form, request);
  if (user) await keepProfile(as.store, user);
  return user;
}
