/**
 * The clients of a login session that want to know when it ends
 * (https://openid.net/specs/openid-connect-backchannel-1_0.html#section-2.3).
 *
 * @module
 */
import type { Put } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { Client } from "../records/client_record.ts";
import { type SessionClient, sessionClientKey } from "../records/session_record.ts";

/** The record that the client took part in the session; none for a client without `backchannel_logout_uri`. */
export function toSessionClient(
  as: AuthorizationServer,
  client: Client,
  { session, user }: { readonly session: string; readonly user: string },
): readonly Put[] {
  if (!as.openid || client.backchannel_logout_uri === undefined) return [];
  const value: SessionClient = { client_id: client.id, user };
  // As long as the session can live at most: a user may have signed in at a provider long before it began.
  const expires = as.now() + as.sessionLifetime * 1000;
  return [{ key: sessionClientKey(session, client.id), value, expires }];
}
