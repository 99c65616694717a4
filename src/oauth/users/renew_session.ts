/**
 * A new id for a session that goes on, after a change that makes copies of the old id dangerous.
 *
 * @module
 */
import { randomSecret, secretDigest } from "../../crypto/secret.ts";
import type { Fields } from "../../http/response.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import {
  endedSessionKey,
  NOTICE_LIFETIME_MS,
  type Session,
  sessionKey,
  userSessionKey,
} from "../records/session_record.ts";
import { cookiesOf, type SignedIn, toRecords } from "./session.ts";

/**
 * Gives the session of the request a new id. The old one is refused, and its clients are notified that it ended.
 * @returns its new digest and the `Set-Cookie` fields; `undefined` when the session has ended meanwhile
 */
export async function renewSession(
  as: AuthorizationServer,
  request: Request,
  { session: before, user }: SignedIn,
): Promise<{ readonly session: string; readonly fields: Fields } | undefined> {
  const secret = randomSecret("");
  const session = secretDigest(secret);
  const done = await retryLostRaces(async () => {
    const entry = await as.store.get<Session>(sessionKey(before));
    if (!entry) return false;
    const { key, version, value: { origin = before, ...value } } = entry;
    const notice = { key: endedSessionKey(origin), value: true, expires: as.now() + NOTICE_LIFETIME_MS };
    return await as.store.commit({
      check: [{ key, version }],
      set: [...toRecords(as, session, value), notice],
      remove: [key, userSessionKey(user.id, before)],
    }) || LOST_RACE;
  });
  return done ? { session, fields: cookiesOf(as, request, secret) } : undefined;
}
