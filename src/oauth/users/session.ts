/**
 * Browser sessions: who is signed in behind the cookie `session_id`. A cookie holds a secret; the store its digest. A
 * session ends when it was not used for a while, and at the latest some time after the login.
 *
 * Cookies know no ports (RFC 6265 section 8.5): what listens on another port of the same host gets `session_id` as well.
 * A browser's `session_id` is therefore worth nothing: its secret is in a second cookie, on https one with the prefix
 * `__Host-`, elsewhere one for the paths that read it alone. A program, which sends no `Sec-Fetch-Site`, has its secret
 * in `session_id` and keeps it to itself.
 *
 * @module
 */
import { randomSecret, secretDigest } from "../../crypto/secret.ts";
import { readCookie, writeCookie } from "../../http/cookie.ts";
import type { Fields } from "../../http/response.ts";
import { compareAndSet } from "../../store/store.ts";
import type { AuthenticatedUser, AuthorizationServer } from "../authorization_server.ts";
import { type Authentication, type Profile, type Session, sessionKey } from "../records.ts";
import { findUser } from "./user.ts";

const COOKIE = "session_id";
/** On https, the name that no other host can set: RFC 6265bis §4.1.3.2. */
const HOST_COOKIE = "__Host-session_id";
/** On http, which is on loopback: at these paths alone, so that no redirect URI on another port gets it. */
const PATH_COOKIE = "session_key";
const PATHS = ["/oauth/authorize", "/device", "/login", "/logout"];

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
  const isBrowser = request.headers.has("sec-fetch-site");
  return cookieFields(as, request, isBrowser ? randomSecret("") : secret, secret, as.sessionLifetime);
}

/** Ends the session, and gives the `Set-Cookie` fields that remove the cookie. */
export async function endSession(as: AuthorizationServer, request: Request): Promise<Fields> {
  const secret = readSessionCookie(as, request);
  if (secret) await as.store.commit({ remove: [sessionKey(secretDigest(secret))] });
  return cookieFields(as, request, "", "", 0);
}

function endOf(as: AuthorizationServer, { created, seen }: Session): number {
  return Math.min(created + as.sessionLifetime * 1000, seen + as.sessionIdleLifetime * 1000);
}

/**
 * The plain name is for programs. A browser on https sends `Sec-Fetch-Site`, and is believed only the name that a
 * neighbouring host cannot plant (cookie tossing).
 */
function readSessionCookie({ secure }: AuthorizationServer, request: Request): string | undefined {
  const own = readCookie(request, secure ? HOST_COOKIE : PATH_COOKIE);
  if (own !== undefined || secure && request.headers.has("sec-fetch-site")) return own;
  return readCookie(request, COOKIE);
}

/** @param plain what every port of this host gets */
function cookieFields(
  { secure, base }: AuthorizationServer,
  request: Request,
  plain: string,
  secret: string,
  maxAge: number,
): Fields {
  const fields = [writeCookie(COOKIE, plain, { maxAge, secure })];
  if (secure) fields.push(writeCookie(HOST_COOKIE, secret, { maxAge, secure }));
  else if (plain !== secret || readCookie(request, PATH_COOKIE) !== undefined) {
    // One that a browser has from before would count before the plain one.
    const own = plain === secret ? { value: "", maxAge: 0 } : { value: secret, maxAge };
    for (const path of PATHS) {
      fields.push(writeCookie(PATH_COOKIE, own.value, { maxAge: own.maxAge, secure, path: base + path }));
    }
  }
  return fields.map((field) => ["set-cookie", field] as const);
}
