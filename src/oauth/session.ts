/**
 * Browser sessions: who is signed in behind the cookie `session_id`. The cookie holds a secret; the store its
 * digest. A session ends when it was not used for a while, and at the latest some time after the login.
 *
 * @module
 */
import { randomSecret, secretDigest } from "../crypto/secret.ts";
import { readCookie, writeCookie } from "../http/cookie.ts";
import type { Fields } from "../http/response.ts";
import { compareAndSet } from "../store/store.ts";
import type { AuthenticatedUser, AuthorizationServer } from "./authorization_server.ts";
import { type Authentication, type Profile, type Session, sessionKey } from "./records.ts";
import { findUser } from "./user.ts";

const COOKIE = "session_id";
/** On https, the name that no other host can set: RFC 6265bis §4.1.3.2. */
const HOST_COOKIE = "__Host-session_id";

export interface SignedIn {
  /** The digest that names the session in the store. */
  readonly session: string;
  readonly user: Profile;
  readonly authentication: Authentication;
  /** When they signed in, in milliseconds since the epoch. */
  readonly since: number;
}

/** Who is signed in; `undefined` without a cookie, for an unknown or ended session, or a removed user. */
export async function findSession(as: AuthorizationServer, request: Request): Promise<SignedIn | undefined> {
  const secret = readSessionCookie(as, request);
  if (!secret) return undefined;
  const digest = secretDigest(secret);
  const entry = await as.store.get<Session>(sessionKey(digest));
  const user = entry && await findUser(as.store, entry.value.user);
  if (!user) return undefined;
  const session = entry.value;
  // Used often, it is written seldom. Losing the race costs nothing: somebody else did it.
  if (as.now() - session.seen > as.sessionIdleLifetime * 100) {
    const seen = { ...session, seen: as.now() };
    await compareAndSet(as.store, entry.key, entry.version, seen, endOf(as, seen));
  }
  const authentication = { auth_time: Math.floor(session.created / 1000), acr: session.acr };
  return { session: digest, user, authentication, since: session.created };
}

/** Starts a session under a new id, ends the one that the browser came with, and gives the `Set-Cookie` fields. */
export async function startSession(
  as: AuthorizationServer,
  request: Request,
  { id, acr = "password" }: AuthenticatedUser,
): Promise<Fields> {
  const secret = randomSecret("");
  const session: Session = { user: id, created: as.now(), seen: as.now(), acr };
  const before = readSessionCookie(as, request);
  await as.store.commit({
    set: [{ key: sessionKey(secretDigest(secret)), value: session, expires: endOf(as, session) }],
    // Whoever planted or saw the old id gains nothing (session fixation).
    ...(before && { remove: [sessionKey(secretDigest(before))] }),
  });
  return cookieFields(as, secret, as.sessionLifetime);
}

/** Ends the session, and gives the `Set-Cookie` fields that remove the cookie. */
export async function endSession(as: AuthorizationServer, request: Request): Promise<Fields> {
  const secret = readSessionCookie(as, request);
  if (secret) await as.store.commit({ remove: [sessionKey(secretDigest(secret))] });
  return cookieFields(as, "", 0);
}

function endOf(as: AuthorizationServer, { created, seen }: Session): number {
  return Math.min(created + as.sessionLifetime * 1000, seen + as.sessionIdleLifetime * 1000);
}

/**
 * The plain name is for programs. A browser on https sends `Sec-Fetch-Site`, and is believed only the name that a
 * neighbouring host cannot plant (cookie tossing).
 */
function readSessionCookie({ secure }: AuthorizationServer, request: Request): string | undefined {
  const own = secure ? readCookie(request, HOST_COOKIE) : undefined;
  if (own !== undefined || secure && request.headers.has("sec-fetch-site")) return own;
  return readCookie(request, COOKIE);
}

function cookieFields({ secure }: AuthorizationServer, value: string, maxAge: number): Fields {
  const names = secure ? [COOKIE, HOST_COOKIE] : [COOKIE];
  return names.map((name) => ["set-cookie", writeCookie(name, value, { maxAge, secure })] as const);
}
