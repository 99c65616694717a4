/**
 * Browser sessions: who is signed in behind the cookie `session_id`. The cookie holds a secret; the store its
 * digest.
 *
 * @module
 */
import { randomSecret, secretDigest } from "../crypto/secret.ts";
import { readCookie, writeCookie } from "../http/cookie.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import { type Session, sessionKey, type User } from "./records.ts";
import { findUser } from "./user.ts";

const COOKIE = "session_id";

export interface SignedIn {
  /** The digest that names the session in the store. */
  readonly session: string;
  readonly user: User;
}

/** Who is signed in; `undefined` without a cookie, for an unknown or ended session, or a removed user. */
export async function findSession(as: AuthorizationServer, request: Request): Promise<SignedIn | undefined> {
  const secret = readCookie(request, COOKIE);
  if (!secret) return undefined;
  const digest = secretDigest(secret);
  const session = await as.store.get<Session>(sessionKey(digest));
  const user = session && await findUser(as.store, session.value.user);
  return user && { session: digest, user };
}

/** Starts a session under a new id, ends the one that the browser came with, and gives the `Set-Cookie` value. */
export async function startSession(as: AuthorizationServer, request: Request, user: User): Promise<string> {
  const secret = randomSecret("");
  const session: Session = { user: user.id, created: as.now() };
  const before = readCookie(request, COOKIE);
  await as.store.commit({
    set: [{
      key: sessionKey(secretDigest(secret)),
      value: session,
      expires: as.now() + as.sessionLifetime * 1000,
    }],
    // Whoever planted or saw the old id gains nothing (session fixation).
    ...(before && { remove: [sessionKey(secretDigest(before))] }),
  });
  return writeCookie(COOKIE, secret, { maxAge: as.sessionLifetime, secure: as.secure });
}

/** Ends the session, and gives the `Set-Cookie` value that removes the cookie. */
export async function endSession(as: AuthorizationServer, request: Request): Promise<string> {
  const secret = readCookie(request, COOKIE);
  if (secret) await as.store.commit({ remove: [sessionKey(secretDigest(secret))] });
  return writeCookie(COOKIE, "", { maxAge: 0, secure: as.secure });
}
