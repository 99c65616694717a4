/**
 * A new id for a session that goes on, after a change that makes copies of the old id dangerous.
 *
 * @module
 */
import { randomSecret, secretDigest } from "../../crypto/secret.ts";
import type { Fields } from "../../http/response.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import {
  endedSessionKey,
  NOTICE_LIFETIME_MS,
  type Session,
  sessionKey,
  userSessionKey,
} from "../records/session_record.ts";
import { cookiesOf, type SignedIn, toRecords } from "./session.ts";
import type { ChangesBeside } from "./user_changes.ts";

/** A session under another id. */
export interface Renewal {
  /** Its new digest. */
  readonly session: string;
  /** `Set-Cookie` */
  readonly fields: Fields;
  /** For the commit that makes the old id dangerous: the old one is refused, and its clients are notified that it ended. */
  readonly changes: Required<ChangesBeside>;
}

/** A new id for the session of the request; `undefined` when it has ended meanwhile. */
export async function prepareRenewal(
  as: AuthorizationServer,
  request: Request,
  { session: before, user }: SignedIn,
): Promise<Renewal | undefined> {
  const entry = await as.store.get<Session>(sessionKey(before));
  if (!entry) return undefined;
  const secret = randomSecret("");
  const session = secretDigest(secret);
  const { key, value: { origin = before, ...value } } = entry;
  const notice = { key: endedSessionKey(origin), value: true, expires: as.now() + NOTICE_LIFETIME_MS };
  return {
    session,
    fields: cookiesOf(as, request, secret),
    changes: {
      set: [...toRecords(as, session, value), notice],
      remove: [key, userSessionKey(user.id, before)],
    },
  };
}
