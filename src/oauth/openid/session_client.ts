/**
 * The clients of a login session that want to know when it ends
 * (https://openid.net/specs/openid-connect-backchannel-1_0.html#section-2.3).
 *
 * @module
 */
import type { Entry, Put, Store } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { Client } from "../records/client_record.ts";
import { type SessionClient, sessionClientKey, sessionClientsPrefix } from "../records/session_record.ts";

/** Clients of one session that are read, and whose records are changed, in one commit. */
export const MAX_CLIENTS = 100;

/** The record that the client took part in the session; none for a client without `backchannel_logout_uri`. */
export function toSessionClient(
  as: AuthorizationServer,
  client: Client,
  { origin, user }: { readonly origin: string; readonly user: string },
): readonly Put[] {
  if (!as.openid || client.backchannel_logout_uri === undefined) return [];
  const value: SessionClient = { client_id: client.id, user };
  return [{ key: sessionClientKey(origin, client.id), value, expires: expiryOf(as) }];
}

/** Up to {@linkcode MAX_CLIENTS} that took part in a session and in those that it continues. */
export async function listSessionClients(
  store: Store,
  origin: string,
): Promise<readonly Entry<SessionClient>[]> {
  return await store.list<SessionClient>(sessionClientsPrefix(origin), { limit: MAX_CLIENTS });
}

/** The records of up to {@linkcode MAX_CLIENTS} of its clients, for as long as a session that begins now and continues it. */
export async function extendSessionClients(
  as: AuthorizationServer,
  origin: string,
): Promise<readonly Put[]> {
  if (!as.openid) return [];
  const entries = await listSessionClients(as.store, origin);
  return entries.map(({ key, value }) => ({ key, value, expires: expiryOf(as) }));
}

/** As long as the session can live at most: a user may have signed in at a provider long before it began. */
function expiryOf({ now, sessionLifetime }: AuthorizationServer): number {
  return now() + sessionLifetime * 1000;
}
