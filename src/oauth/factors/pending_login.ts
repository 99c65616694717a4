/**
 * A login that waits for its second step: the user proved one factor and has no session yet. Only the browser with its
 * cookie can finish it, within ten minutes and five tries.
 *
 * @module
 */
import { randomSecret, secretDigest } from "../../crypto/secret.ts";
import { readCookie, toHostCookieName, writeCookie } from "../../http/cookie.ts";
import { type Fields, NO_STORE, respond } from "../../http/response.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import { type Commit, compareAndSet, type Key } from "../../store/store.ts";
import type { AuthenticatedUser, AuthorizationServer } from "../authorization_server.ts";
import type { LoginMethod } from "../users/login_method.ts";

/** Written after the first step; ended by the second, by too many tries, or by its lifetime. */
export interface PendingLogin {
  readonly user: string;
  readonly acr?: string;
  readonly amr?: readonly string[];
  readonly method: LoginMethod;
  /** When the first step was done, in milliseconds since the epoch. */
  readonly began: number;
  /** Codes and passkeys that were tried. */
  readonly tries: number;
}

/** A pending login and its key. */
export interface FoundPendingLogin extends PendingLogin {
  readonly digest: string;
}

const LIFETIME_SECONDS = 600;
const MAX_TRIES = 5;

const pendingLoginKey = (digest: string): Key => ["pending_login", digest];

/** Stores the login until its second step. @returns a redirect to that step */
export async function beginSecondStep(
  as: AuthorizationServer,
  user: AuthenticatedUser,
  method: LoginMethod,
  redirect: string,
  fields: Fields,
): Promise<Response> {
  const cookie = await beginPendingLogin(as, user, method);
  const query = redirect === "" ? "" : "?redirect=" + encodeURIComponent(redirect);
  return respond(as.securityProfile === undefined ? 302 : 303, null, [
    ["location", `${as.base}/login/factor${query}`],
    ...cookie,
    ...fields,
    NO_STORE,
  ]);
}

/** @returns the `Set-Cookie` field */
async function beginPendingLogin(
  as: AuthorizationServer,
  { id, acr, amr }: AuthenticatedUser,
  method: LoginMethod,
): Promise<Fields> {
  const secret = randomSecret("");
  const value: PendingLogin = {
    user: id,
    ...(acr !== undefined && { acr }),
    ...(amr && { amr }),
    method,
    // Before the first factor was checked, so that an end of all sessions since then counts.
    began: method.began ?? as.now(),
    tries: 0,
  };
  const expires = as.now() + LIFETIME_SECONDS * 1000;
  await as.store.commit({ set: [{ key: pendingLoginKey(secretDigest(secret)), value, expires }] });
  return [writeField(as, secret, LIFETIME_SECONDS)];
}

/** The login that waits in this browser; `undefined` when there is none. */
export async function findPendingLogin(
  as: AuthorizationServer,
  request: Request,
): Promise<FoundPendingLogin | undefined> {
  const secret = readCookie(request, nameOf(as));
  if (!secret) return undefined;
  const digest = secretDigest(secret);
  const entry = await as.store.get<PendingLogin>(pendingLoginKey(digest));
  return entry && { ...entry.value, digest };
}

/** Counts a try before it is made, so that concurrent ones count. `false` when there were too many. */
export function countTry(as: AuthorizationServer, { digest }: FoundPendingLogin): Promise<boolean> {
  return retryLostRaces(async () => {
    const entry = await as.store.get<PendingLogin>(pendingLoginKey(digest));
    if (!entry || entry.value.tries >= MAX_TRIES) return false;
    const value: PendingLogin = { ...entry.value, tries: entry.value.tries + 1 };
    return await compareAndSet(as.store, entry.key, entry.version, value, entry.expires) || LOST_RACE;
  });
}

/** What ends the login, for a commit. `undefined` when another request has ended it: exactly one starts a session. */
export async function toPendingLoginEnd(
  as: AuthorizationServer,
  { digest }: FoundPendingLogin,
): Promise<Commit | undefined> {
  const entry = await as.store.get(pendingLoginKey(digest));
  return entry && { check: [{ key: entry.key, version: entry.version }], remove: [entry.key] };
}

/** The `Set-Cookie` field that removes the cookie. */
export function forgetPendingLogin(as: AuthorizationServer): Fields {
  return [writeField(as, "", 0)];
}

function nameOf(as: AuthorizationServer): string {
  return toHostCookieName(as, "pending_login");
}

/** On http the path keeps the cookie from other ports of this host; on https the prefix requires the path "/". */
function writeField(as: AuthorizationServer, value: string, maxAge: number): readonly [string, string] {
  const path = as.secure ? "/" : as.base + "/login";
  return ["set-cookie", writeCookie(nameOf(as), value, { maxAge, secure: as.secure, path })];
}
