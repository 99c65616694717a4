/**
 * Login sessions. The cookie holds a secret, the store its digest. A session ends after a time without use, and a fixed
 * time after the login.
 *
 * Cookies do not distinguish ports (RFC 6265 section 8.5): a server on another port of the same host gets `session_id`,
 * too. In a browser the value of `session_id` is therefore random and without use. The secret is in a second cookie: on
 * https one with the prefix `__Host-`, on http one that is limited to the paths that read it. A program, which sends no
 * `Sec-Fetch-Site`, has the secret in `session_id`.
 *
 * @module
 */
import { randomId, randomSecret, secretDigest } from "../../crypto/secret.ts";
import { readCookie, toHostCookieName, writeCookie } from "../../http/cookie.ts";
import { loadOnDemand } from "../../http/load_on_demand.ts";
import type { Fields } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import type { Check, Put } from "../../store/store.ts";
import type { AuthenticatedUser, AuthorizationServer } from "../authorization_server.ts";
import { OAuthError } from "../error.ts";
import { extendSessionClients } from "../openid/session_client.ts";
import type { Authentication } from "../records/authorization_record.ts";
import {
  endedSessionKey,
  NOTICE_LIFETIME_MS,
  type Session,
  type SessionIndex,
  sessionKey,
  signedOutKey,
  userSessionKey,
} from "../records/session_record.ts";
import { isGivenTo, passwordResetKey, type Profile } from "../records/user_record.ts";
import { findOwner } from "../sign_in/account_record.ts";
import type { LoginMethod } from "./login_method.ts";

const COOKIE = "session_id";
/** On http, on loopback: limited to these paths, so that redirect URIs on other ports do not get it. */
const PATH_COOKIE = "session_key";
const PATH_COOKIE_PATHS = ["/oauth/authorize", "/device", "/login", "/logout", "/account"];

const notifyEndedSessions = loadOnDemand(async () =>
  (await import("../openid/backchannel_logout.ts")).notifyEndedSessions
);

/** Characters of `User-Agent` that are stored. */
const MAX_AGENT_CHARACTERS = 200;

export interface SignedIn {
  /** The digest of the secret: the key of the session in the store. */
  readonly session: string;
  /** Names the session to clients and consent pages: it stays when the same user signs in again in this browser. */
  readonly origin: string;
  readonly user: Profile;
  readonly authentication: Authentication;
  /** Classes that the login is good enough for, beside its own. */
  readonly satisfies: readonly string[];
  /** When the user proved who they are, in milliseconds since the epoch; 0 when a provider does not say it. */
  readonly since: number;
  /** The version of the session; absent when the request wrote it. */
  readonly version: string | undefined;
  /** The record of the account, as it was read. */
  readonly account: Check;
  /** When the session was about to be read: what the user allows by the request counts as allowed then. */
  readonly read: number;
}

/**
 * The session of the request; `undefined` without a cookie, after its end, or when the user was removed.
 * @throws {RateLimitError} when the user is over a limit
 */
export async function findSession(as: AuthorizationServer, request: Request): Promise<SignedIn | undefined> {
  const secret = readSessionCookie(as, request);
  if (!secret) return undefined;
  const digest = secretDigest(secret);
  const read = as.now();
  const entry = await as.store.get<Session>(sessionKey(digest));
  const account = entry && await findOwner(as.store, entry.value.user);
  if (!account || account.value.locked !== undefined) return undefined;
  const user: Profile = account.value;
  if (!isGivenTo(user, entry.value.created)) return undefined;
  await as.limitUser?.(request, user.id);
  const session = entry.value;
  const isWritten = read - session.seen > as.sessionIdleLifetime * 100;
  // Written at most once in a tenth of the idle lifetime. After a lost race another request has written it.
  if (isWritten) {
    const { key, version } = entry;
    const seen = { id: randomId(""), ...session, seen: as.now() };
    await as.store.commit({ check: [{ key, version }], set: toRecords(as, digest, seen) });
  }
  const { origin = digest, created, acr, amr, satisfies = [], authenticated = created } = session;
  const auth_time = Math.floor((authenticated || created) / 1000);
  return {
    session: digest,
    origin,
    user,
    authentication: { auth_time, acr, ...(amr && { amr }) },
    satisfies,
    since: authenticated,
    version: isWritten ? undefined : entry.version,
    account,
    read,
  };
}

/**
 * The check that a session has not ended, for a commit; `undefined` when it has.
 * @param version as it was read. @default read now
 */
export async function toSessionCheck(
  { store }: AuthorizationServer,
  session: string,
  version?: string,
): Promise<Check | undefined> {
  const key = sessionKey(session);
  return version === undefined ? await store.get(key) : { key, version };
}

/** The session ended, or its account was locked, while its request was handled. */
export class SessionEndedError extends OAuthError {
  constructor() {
    super("access_denied", "The session ended during this request. Sign in again", { isEnded: true });
  }
}

/**
 * Starts a session under a new secret. It continues the one of the request if that is of the same user, so that consent
 * pages in other tabs can be answered, and ends one of another user, whose clients are notified.
 * @returns the `Set-Cookie` fields
 * @throws {OAuthError} access_denied when all sessions of the user were ended since the login began, or the one that steps up
 */
export async function startSession(
  as: AuthorizationServer,
  request: Request,
  { id: user, acr = "password", amr, satisfies }: AuthenticatedUser,
  { authenticated, began = as.now(), stepsUp, consume }: LoginMethod = {},
  context: RequestContext = {},
): Promise<Fields> {
  const secret = randomSecret("");
  const agent = request.headers.get("user-agent")?.slice(0, MAX_AGENT_CHARACTERS);
  const before = readSessionCookie(as, request);
  const digest = secretDigest(before ?? "");
  const signedOut = signedOutKey(user);
  let version: string | null = null;
  const isEnded = await retryLostRaces(async () => {
    const ended = before ? await as.store.get<Session>(sessionKey(digest)) : undefined;
    if (stepsUp !== undefined && (!ended || stepsUp !== digest)) throw new SessionEndedError();
    const origin = ended?.value.origin ?? digest;
    const isContinued = ended?.value.user === user;
    const session: Session = {
      id: randomId(""),
      ...(isContinued && { origin }),
      user,
      created: as.now(),
      seen: as.now(),
      acr,
      ...(amr && { amr }),
      ...(satisfies && { satisfies }),
      ...(authenticated !== undefined && { authenticated }),
      ...(context.ip !== undefined && { address: context.ip }),
      ...(agent && { agent }),
    };
    const used = await consume?.();
    const set = [...toRecords(as, secretDigest(secret), session), ...used?.set ?? []];
    // Prevents session fixation: a secret from before the login is useless.
    const remove = ended ? [ended.key, userSessionKey(ended.value.user, digest)] : [];
    remove.push(...used?.remove ?? []);
    if (isContinued) set.push(...await extendSessionClients(as, origin));
    else if (ended && as.openid) {
      set.push({ key: endedSessionKey(origin), value: true, expires: as.now() + NOTICE_LIFETIME_MS });
    }
    // The user knows the password: a link to reset it may be in the wrong hands by now.
    if (as.sendMail) remove.push(passwordResetKey(user));
    const check = [{ key: signedOut, version }, ...used?.check ?? []];
    if (ended) check.push({ key: ended.key, version: ended.version });
    if (await as.store.commit({ check, set, remove })) return ended !== undefined && !isContinued;
    // Read only when the commit fails: few users end all their sessions and sign in again within minutes.
    const entry = await as.store.get<number>(signedOut);
    if (entry && entry.value >= began) {
      throw new OAuthError(
        "access_denied",
        "All sessions of this user were ended during this login. Sign in again",
      );
    }
    version = entry?.version ?? null;
    return LOST_RACE;
  });
  if (isEnded && as.openid) await notifyEndedSessions(as, context);
  return cookiesOf(as, request, secret);
}

/**
 * Ends the session of the request.
 * @param user whose session it is, if that is known
 * @returns the `Set-Cookie` fields that remove its cookies
 */
export async function endSession(as: AuthorizationServer, request: Request, user?: string): Promise<Fields> {
  const secret = readSessionCookie(as, request);
  if (secret) {
    const digest = secretDigest(secret);
    const index = user === undefined ? [] : [userSessionKey(user, digest)];
    await as.store.commit({ remove: [sessionKey(digest), ...index] });
  }
  return cookieFields(as, request, "", "", 0);
}

/** The `Set-Cookie` fields of a session with this secret. */
export function cookiesOf(as: AuthorizationServer, request: Request, secret: string): Fields {
  const isBrowser = request.headers.has("sec-fetch-site");
  return cookieFields(as, request, isBrowser ? randomSecret("") : secret, secret, as.sessionLifetime);
}

/** The session and its index record, which expire together. */
export function toRecords(as: AuthorizationServer, digest: string, session: Session): readonly Put[] {
  const expires = expiryOf(as, session);
  const index: SessionIndex = session.origin ?? true;
  return [
    { key: sessionKey(digest), value: session, expires },
    { key: userSessionKey(session.user, digest), value: index, expires },
  ];
}

function expiryOf(as: AuthorizationServer, { created, seen }: Session): number {
  return Math.min(created + as.sessionLifetime * 1000, seen + as.sessionIdleLifetime * 1000);
}

/**
 * The secret. `session_id` is for programs: a browser on https, which sends `Sec-Fetch-Site`, must send the cookie that
 * other hosts cannot set (cookie tossing).
 */
function readSessionCookie(as: AuthorizationServer, request: Request): string | undefined {
  const { secure } = as;
  const own = readCookie(request, secure ? toHostCookieName(as, COOKIE) : PATH_COOKIE);
  if (own !== undefined || secure && request.headers.has("sec-fetch-site")) return own;
  return readCookie(request, COOKIE);
}

/** @param plain the value of `session_id`, which every port of this host gets */
function cookieFields(
  as: AuthorizationServer,
  request: Request,
  plain: string,
  secret: string,
  maxAge: number,
): Fields {
  const { secure, base, openid } = as;
  const fields = [writeCookie(COOKIE, plain, { maxAge, secure })];
  if (secure) fields.push(writeCookie(toHostCookieName(as, COOKIE), secret, { maxAge, secure }));
  else if (plain !== secret || readCookie(request, PATH_COOKIE) !== undefined) {
    // Removed for a program, because a cookie of an earlier login would be read before `session_id`.
    const own = plain === secret ? { value: "", maxAge: 0 } : { value: secret, maxAge };
    for (const path of openid ? [...PATH_COOKIE_PATHS, "/oauth/logout"] : PATH_COOKIE_PATHS) {
      fields.push(writeCookie(PATH_COOKIE, own.value, { maxAge: own.maxAge, secure, path: base + path }));
    }
  }
  return fields.map((field) => ["set-cookie", field] as const);
}
