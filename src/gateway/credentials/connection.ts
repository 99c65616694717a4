/**
 * The connection of one user to one upstream, in the store.
 *
 * @module
 */
import {
  connectionKey,
  endConnection,
  type UpstreamConnection,
  userConnectionsPrefix,
} from "../../oauth/connection_records.ts";
import { findOwner } from "../../oauth/sign_in/account_record.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import type { Entry } from "../../store/store.ts";
import type { CredentialsContext, Upstream } from "./context.ts";
import { ConnectError } from "./connect_error.ts";

/** A user has at most as many connections as there are upstreams; earlier ones may be of upstreams that were removed. */
const MAX_LISTED = 1000;

/** Whether a record is of this upstream, and not of an earlier one with its name. */
export function isOf({ url, auth }: Upstream, value: UpstreamConnection): boolean {
  const kind = auth.type === "oauth" || auth.type === "secret" ? auth.type : "exchanged";
  return value.url === url && value.kind === kind;
}

/** The connection; `undefined` when there is none, or it is of an earlier upstream with this name. */
export async function findConnection(
  { store }: Pick<CredentialsContext, "store">,
  upstream: Upstream,
  user: string,
): Promise<Entry<UpstreamConnection> | undefined> {
  const entry = await store.get<UpstreamConnection>(connectionKey(user, upstream.name));
  return entry && isOf(upstream, entry.value) ? entry : undefined;
}

/** The connections of a user, by the name of the upstream. */
export async function listConnections(
  { store }: Pick<CredentialsContext, "store">,
  user: string,
): Promise<ReadonlyMap<string, UpstreamConnection>> {
  const entries = await store.list<UpstreamConnection>(userConnectionsPrefix(user), { limit: MAX_LISTED });
  return new Map(entries.map(({ key, value }) => [String(key[2]), value]));
}

/**
 * Writes the connection, if the user still exists. Tokens of another authorization server that it replaces are revoked;
 * those of the same one stay, because many servers end all tokens of a client and a user together.
 * @throws {ConnectError} access_denied when the user was removed meanwhile
 */
export async function saveConnection(
  { store }: Pick<CredentialsContext, "store">,
  upstream: Upstream,
  user: string,
  value: UpstreamConnection,
): Promise<void> {
  const key = connectionKey(user, upstream.name);
  await retryLostRaces(async () => {
    const [owner, before] = await Promise.all([findOwner(store, user), store.get<UpstreamConnection>(key)]);
    if (!owner) throw new ConnectError("access_denied", "The user was removed");
    if (before?.value.kind === "oauth" && before.value.issuer !== value.issuer) {
      await endConnection(store, before);
      return LOST_RACE;
    }
    const done = await store.commit({
      check: [{ key: owner.key, version: owner.version }, { key, version: before?.version ?? null }],
      set: [{ key, value }],
    });
    return done ? undefined : LOST_RACE;
  });
}

/**
 * Ends the connection and leaves its tokens to be revoked.
 * @returns whether there was one
 */
export async function removeConnection(
  { store }: Pick<CredentialsContext, "store">,
  user: string,
  name: string,
): Promise<boolean> {
  return await retryLostRaces(async () => {
    const entry = await store.get<UpstreamConnection>(connectionKey(user, name));
    if (!entry) return false;
    return await endConnection(store, entry) || LOST_RACE;
  });
}
