/**
 * The records of the connections that users have to upstreams of the gateway. `../gateway/credentials/` writes them; they
 * are defined here, because they end with the user and are sealed anew when the secret of the server is rotated.
 *
 * @module
 */
import { randomId } from "../crypto/secret.ts";
import { type Commit, type Entry, type Key, listAll, type Store, timeOf } from "../store/store.ts";
import type { Renewable } from "./renewal.ts";

/** What secrets of these records are sealed for. */
export const CONNECTIONS_PURPOSE = "connections to upstreams";
/** How long a revocation is tried, in milliseconds. */
const REVOCATION_RETENTION_MS = 7 * 86_400_000;

/** A record with sealed secrets. */
export interface SealedRecord {
  /** The URL of the upstream, or of the redirect URI of a client: part of what the seal is bound to. */
  readonly url: string;
  /** JSON, bound to the first three parts of the key and to `url`. */
  readonly sealed: string;
}

/** What a user connected: tokens of an authorization server, or a secret that the user entered. */
export interface UpstreamConnection extends SealedRecord, Renewable {
  readonly kind: "oauth" | "secret" | "exchanged";
  readonly connected: number;
  /** The authorization server of the tokens. */
  readonly issuer?: string;
  /** The resource of the tokens (RFC 8707). */
  readonly resource?: string;
  readonly scope?: string;
  readonly hasRefreshToken: boolean;
  /** When the tokens were issued, in milliseconds. */
  readonly issued?: number;
  /** The digest of the token that was exchanged for this one, and of the configuration that it was exchanged with. */
  readonly source?: string;
  /** The operator allowed private addresses for this upstream. */
  readonly isPrivate?: true;
}

/** The registration of this server as a client of an authorization server (RFC 7591). */
export interface UpstreamClientRecord extends SealedRecord, Renewable {
  readonly registered: number;
}

/** An authorization that a user has begun. Ended by the answer, which comes to the same session. */
export interface UpstreamAttempt extends SealedRecord {
  readonly upstream: string;
  /** The digest of the session. */
  readonly session: string;
  readonly issuer: string;
  readonly resource: string;
  readonly redirect_uri: string;
  readonly scope?: string;
}

/** A connection that ended, and whose tokens are to be revoked. */
export type UpstreamRevocation = UpstreamConnection;

export const CONNECTIONS: Key = ["upstream_connection"];
export const userConnectionsPrefix = (user: string): Key => [...CONNECTIONS, user];
export const connectionKey = (user: string, upstream: string): Key => [
  ...userConnectionsPrefix(user),
  upstream,
];
export const UPSTREAM_CLIENTS: Key = ["upstream_client"];
export const upstreamClientKey = (issuer: string, redirect_uri: string): Key => [
  ...UPSTREAM_CLIENTS,
  issuer,
  redirect_uri,
];
export const userAttemptsPrefix = (user: string): Key => ["upstream_attempt", user];
export const attemptKey = (user: string, state: string): Key => [...userAttemptsPrefix(user), state];
export const REVOCATIONS: Key = ["upstream_revocation"];

/** The text to which the seal of a record is bound. A revocation has the one of its connection. */
export function sealBinding({ key, value }: Pick<Entry<SealedRecord>, "key" | "value">): string {
  return JSON.stringify([key[0] === REVOCATIONS[0] ? CONNECTIONS[0] : key[0], key[1], key[2], value.url]);
}

/**
 * Ends a connection in one commit, and leaves its tokens to be revoked.
 * @param isRevoked whether its tokens are revoked at their authorization server. @default true
 * @returns `false` when the connection changed meanwhile
 */
export function endConnection(
  store: Store,
  entry: Entry<UpstreamConnection>,
  isRevoked = true,
): Promise<boolean> {
  return store.commit(toConnectionEnd(store, entry, isRevoked));
}

function toConnectionEnd(
  store: Store,
  { key, version, value }: Entry<UpstreamConnection>,
  isRevoked: boolean,
): Required<Commit> {
  const [, user, upstream] = key as [string, string, string];
  const expires = timeOf(store) + REVOCATION_RETENTION_MS;
  const { refresh: _, ...rest } = value;
  const revocation = { key: [...REVOCATIONS, user, upstream, randomId("")], value: rest, expires };
  return {
    check: [{ key, version }],
    remove: [key],
    set: isRevoked && value.kind === "oauth" ? [revocation] : [],
  };
}

/** The ends of all connections of a user, for the commit that removes the user. */
export async function toUserConnectionEnds(store: Store, user: string): Promise<readonly Required<Commit>[]> {
  const entries = await Array.fromAsync(listAll<UpstreamConnection>(store, userConnectionsPrefix(user)));
  return entries.map((entry) => toConnectionEnd(store, entry, true));
}

/**
 * Ends the connections of all users to an upstream. The gateway revokes their tokens afterwards.
 * @param onEnded called with the user of each
 * @returns the number of connections
 */
export async function endUpstreamConnections(
  store: Store,
  name: string,
  onEnded: (user: string) => void = () => {},
): Promise<number> {
  let count = 0;
  for await (const listed of listAll<UpstreamConnection>(store, CONNECTIONS)) {
    const [, user, upstream] = listed.key as [string, string, string];
    if (upstream !== name) continue;
    let entry: Entry<UpstreamConnection> | undefined = listed;
    // After a lost race it is read again: a token that was renewed meanwhile is the one to revoke.
    while (entry && !await endConnection(store, entry)) entry = await store.get(listed.key);
    if (!entry) continue;
    onEnded(user);
    count++;
  }
  return count;
}

/** Ends all connections of a user who was removed. The gateway revokes their tokens afterwards. */
export async function endUserConnections(store: Store, user: string): Promise<void> {
  for await (const { key } of listAll(store, userConnectionsPrefix(user))) {
    for (;;) {
      const entry = await store.get<UpstreamConnection>(key);
      // After a lost race it is read again: a token that was renewed meanwhile is the one to revoke.
      if (!entry || await endConnection(store, entry)) break;
    }
  }
  for await (const { key } of listAll(store, userAttemptsPrefix(user))) await store.commit({ remove: [key] });
}
