/**
 * Whether what a token hangs on still exists: its client, its user and its grant. Every path that reads a token, code or
 * refresh token asks here, so that ending one of the three ends everything that was issued for it, at once.
 *
 * @module
 */
import { CACHED, type Entry } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import {
  type Authorization,
  type Client,
  clientKey,
  type Grant,
  grantKey,
  type Profile,
  profileKey,
  type Revocations,
  revocationsKey,
  userKey,
} from "../records.ts";
import { isRevoked, type SignedToken } from "./revocations.ts";
import { limitToRole } from "../users/user_role.ts";

/** Whom a credential was issued to, for, and under which grant. */
export type Dependent =
  & Pick<Authorization, "client_id">
  & { readonly [Name in "user" | "grant"]?: string | undefined }
  & { readonly client_since?: number | undefined };

/** What is left of a credential today. */
export interface Live {
  /** The part of its scope that the role of its user allows. */
  readonly scope: string;
  /** Who granted it; `undefined` where a client acts for itself. */
  readonly owner: Profile | undefined;
}

/**
 * What a credential comes to today. `undefined` when client, user or grant does not exist any more, a signed token was
 * revoked by itself, or nothing of its scope is left. Reads may come from the cache: a removal waits until its copies are
 * gone. All begin at once, and no promise is made for what need not be read: every request with a token passes here.
 */
export async function findLive(
  as: AuthorizationServer,
  { client_id, client_since, user, grant, scope }: Dependent & Pick<Authorization, "scope">,
  signed?: SignedToken,
): Promise<Live | undefined> {
  const client = hasClient(as, client_id, client_since);
  if (client === false) return undefined;
  let root: Entry<Grant> | undefined;
  let list: Entry<Revocations> | undefined;
  let owner: Profile | undefined;
  // Which tokens of a grant were revoked must be read as it is: a cache may be behind in that.
  const reading = grant === undefined
    ? undefined
    : as.store.get<Grant>(grantKey(grant), signed ? undefined : CACHED);
  if (client === true && reading && user !== undefined) {
    [root, owner] = await Promise.all([reading, findLiveUser(as, user)]);
  } else {
    let isKnown: boolean;
    [root, list, owner, isKnown] = await Promise.all([
      reading,
      signed && !reading ? as.store.get<Revocations>(revocationsKey(client_id)) : undefined,
      user === undefined ? undefined : findLiveUser(as, user),
      client,
    ]);
    if (!isKnown) return undefined;
  }
  if (user !== undefined && !owner) return undefined;
  if (signed && isRevoked(root?.value.revoked ?? list?.value, signed)) return undefined;
  const allowed = owner ? limitToRole(as, owner, scope) : scope;
  if (owner && allowed === "") return undefined;
  if (grant !== undefined) {
    if (!root) return undefined;
    // A token that came of an exchange hangs on the client whose token was traded as well.
    const { value } = root;
    if (value.client_id !== client_id && !await hasClient(as, value.client_id, value.client_since)) {
      return undefined;
    }
  }
  return { scope: allowed, owner };
}

/** What a record keeps of its client: one that is registered anew under the same id is another client. */
export function clientSince(as: AuthorizationServer, client: Client): number | undefined {
  return client.source === "document" || as.configured.has(client.id) ? undefined : client.created;
}

/** Whether a record was made for this very client. */
export function isOfClient(as: AuthorizationServer, record: Dependent, client: Client): boolean {
  return record.client_id === client.id && isSince(record.client_since, clientSince(as, client));
}

/** The user with this id, who signs in here or is known elsewhere; `undefined` when there is none. */
export function findLiveUser(
  { store, authenticateUser }: AuthorizationServer,
  id: string,
): Promise<Profile | undefined> {
  const [likely, other] = authenticateUser ? [profileKey, userKey] : [userKey, profileKey];
  return store.get<Profile>(likely(id), CACHED).then((entry) =>
    entry ? entry.value : store.get<Profile>(other(id), CACHED).then((entry) => entry?.value)
  );
}

/** Clients that are configured or described by a document are not in the store. */
function hasClient(
  as: AuthorizationServer,
  id: string,
  since: number | undefined,
): boolean | Promise<boolean> {
  if (as.configured.has(id)) return true;
  if (id.startsWith("https://")) return as.clientMetadataDocuments();
  return as.store.get<Client>(clientKey(id), CACHED).then(
    (entry) => entry !== undefined && isSince(since, entry.value.created),
  );
}

/** Records of before this was kept say nothing of it. */
function isSince(recorded: number | undefined, actual: number | undefined): boolean {
  return recorded === undefined || actual === undefined || recorded === actual;
}
