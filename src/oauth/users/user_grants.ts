/**
 * What a user allowed applications: lists the grants. Every grant has an index record under its user,
 * written in the same commit. It lives longer than the grant, so that few refreshes write it again; a grant of an earlier
 * version gets its index record with the next refresh.
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";
import { type Key, listAll, type Put, type Store } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { Authorization, AuthorizationDetail } from "../records/authorization_record.ts";
import { type Client, clientDocumentKey, clientKey } from "../records/client_record.ts";
import { type Grant, grantKey, userGrantKey, userGrantsPrefix } from "../records/grant_record.ts";
import type { Mutable } from "../records/token_record.ts";

/** Grants that are listed. */
const MAX_LISTED = 1000;
/** Index records of one user that are read to find them: those of ended grants expire a while later. */
const MAX_READ = 10_000;

/** What a user allowed a client. Times are milliseconds since the epoch. */
export interface UserGrant {
  /** The id of the grant. It is no secret. */
  readonly grant: string;
  readonly client: string;
  /** As the client calls itself. @default its id */
  readonly client_name: string;
  /** Space-separated. */
  readonly scope: string;
  /** RFC 8707: absent means this server. */
  readonly resource?: readonly string[];
  /** RFC 9396 */
  readonly authorization_details?: readonly AuthorizationDetail[];
  readonly created: number;
  /** When the client last got a token for it. */
  readonly used: number;
}

/**
 * The index record of a grant that is about to be written until `expires`; `undefined` when the present one lives long
 * enough. Sets `listed` in the grant.
 */
export function toUserGrant(
  as: AuthorizationServer,
  id: string,
  grant: Mutable<Grant>,
  expires: number,
): Put | undefined {
  if (grant.listed !== undefined && grant.listed >= expires) return undefined;
  // Without a refresh token the grant is never written again.
  const later = grant.refresh ? as.now() + as.refreshTokenLifetime * 2000 : expires;
  grant.listed = Math.max(expires, Math.min(grant.until, later));
  return { key: userGrantKey(grant.user, id), value: true, expires: grant.listed };
}

/**
 * The records of a grant that waits for the client to redeem what no consent is remembered for, so that the user sees it and
 * can take it back. It has no tokens; `startGrant` replaces it. Authorization details, which may be long, are left out.
 * @param until when the client can no longer redeem it
 */
export function toPendingGrant(
  id: string,
  user: string,
  { client_id, scope, resource }: Authorization,
  created: number,
  until: number,
): readonly Put[] {
  const value: Grant = { client_id, user, scope, created, until, ...(resource && { resource }) };
  return [
    { key: grantKey(id), value, expires: until },
    { key: userGrantKey(user, id), value: true, expires: until },
  ];
}

/**
 * The grants of the user, last used first; up to 1000 of them.
 * @param configured clients that are not in the store, by id
 */
export async function listUserGrants(
  store: Store,
  user: string,
  configured: ReadonlyMap<string, Pick<Client, "name">> = new Map(),
): Promise<UserGrant[]> {
  const found: UserGrant[] = [];
  const names = new Map<string, Promise<string>>();
  let read = 0;
  for await (const { key } of listAll(store, userGrantsPrefix(user))) {
    if (found.length >= MAX_LISTED || ++read > MAX_READ) break;
    const id = String(key.at(-1));
    const grant = (await store.get<Grant>(grantKey(id)))?.value;
    if (!grant) continue;
    const { client_id: client, scope, resource, authorization_details, created, used = created } = grant;
    let name = names.get(client);
    if (!name) names.set(client, name = nameOf(store, client, configured));
    found.push({
      grant: id,
      client,
      client_name: await name,
      scope,
      ...(resource && { resource }),
      ...(authorization_details && { authorization_details }),
      created,
      used,
    });
  }
  return found.sort((a, b) => b.used - a.used);
}

/** The keys of a grant and its index record. */
export function grantKeys(user: string, id: string): readonly Key[] {
  return [grantKey(id), userGrantKey(user, id)];
}

async function nameOf(
  store: Store,
  id: string,
  configured: ReadonlyMap<string, Pick<Client, "name">>,
): Promise<string> {
  const known = configured.get(id);
  if (known) return known.name;
  if (!id.startsWith("https://")) return (await store.get<Client>(clientKey(id)))?.value.name ?? id;
  const document = await store.get<{ readonly client?: Client }>(clientDocumentKey(secretDigest(id)));
  return document?.value.client?.name ?? id;
}
