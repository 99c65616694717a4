/**
 * Whether the client, user and grant of a token still exist. Every path that reads a code, an access token or a refresh
 * token checks this, so that removing one of the three ends all that was issued for it, at once. A locked user counts as
 * absent; in a layered store the lock may take a second.
 *
 * @module
 */
import { CACHED, type Entry } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { Authorization } from "../records/authorization_record.ts";
import { type Client, clientKey } from "../records/client_record.ts";
import { type Grant, grantKey, type Revocations } from "../records/grant_record.ts";
import { revocationsKey } from "../records/token_record.ts";
import { isGivenTo, type Profile, profileKey, userKey } from "../records/user_record.ts";
import { isRevoked, type SignedToken } from "./revocations.ts";
import { limitToRole } from "../users/user_role.ts";

/** The client, user and grant that a credential depends on. */
export type Dependent =
  & Pick<Authorization, "client_id">
  & { readonly [Name in "user" | "grant"]?: string | undefined }
  & { readonly client_since?: number | undefined };

/** What a credential allows now. */
export interface Live {
  /** The part of its scope that the role of its user allows. */
  readonly scope: string;
  /** The user who granted it; `undefined` when a client acts for itself. */
  readonly owner: Profile | undefined;
}

/**
 * What a credential allows now; `undefined` when its client, user or grant no longer exists, the signed token was revoked,
 * or none of its scope is left. Reads may come from a cache, because a removal waits until cached copies are gone. Every
 * request with a token comes here, so all reads start at once, and there is no promise for what need not be read.
 */
export function findLive(
  as: AuthorizationServer,
  credential: Dependent & Pick<Authorization, "scope"> & { readonly issued?: number | undefined },
  signed?: SignedToken,
): Live | undefined | Promise<Live | undefined> {
  const { client_id, client_since, user, grant, scope, issued } = credential;
  const client = hasClient(as, client_id, client_since, endOfIssue(issued, signed));
  if (client === false) return undefined;
  const dependsOnClient = user === undefined && grant === undefined && signed === undefined;
  return client === true && dependsOnClient
    ? { scope, owner: undefined }
    : readLive(as, credential, signed, client);
}

async function readLive(
  as: AuthorizationServer,
  { client_id, user, grant, scope, issued }: Parameters<typeof findLive>[1],
  signed: SignedToken | undefined,
  client: true | Promise<boolean>,
): Promise<Live | undefined> {
  // The revoked tokens in a grant must not come from a cache, which may be behind.
  const reading = grant === undefined
    ? undefined
    : as.store.get<Grant>(grantKey(grant), signed ? undefined : CACHED);
  const listing = signed && !reading ? as.store.get<Revocations>(revocationsKey(client_id)) : undefined;
  const finding = user === undefined ? undefined : findLiveUser(as, user, endOfIssue(issued, signed));
  let root: Entry<Grant> | undefined;
  let list: Entry<Revocations> | undefined;
  let owner: Profile | undefined;
  let isKnown = true;
  if (client !== true || listing) {
    [root, list, owner, isKnown] = await Promise.all([reading, listing, finding, client]);
  } else if (reading && finding) [root, owner] = await Promise.all([reading, finding]);
  else if (reading) root = await reading;
  else if (finding) owner = await finding;
  if (!isKnown) return undefined;
  if (user !== undefined && !owner) return undefined;
  if (signed && isRevoked(root?.value.revoked ?? list?.value, signed)) return undefined;
  const allowed = owner ? limitToRole(as, owner, scope) : scope;
  if (owner && allowed === "") return undefined;
  if (grant !== undefined) {
    if (!root) return undefined;
    // A token from token exchange also depends on the client of the grant.
    const { value } = root;
    const { client_id: id, client_since, created } = value;
    if (id !== client_id && !await hasClient(as, id, client_since, created)) return undefined;
  }
  return { scope: allowed, owner };
}

/** The latest time at which it may have been issued: a JWT says the second. */
function endOfIssue(issued: number | undefined, signed: SignedToken | undefined): number | undefined {
  return signed && issued !== undefined ? issued + 999 : issued;
}

/** When the client was registered, for the records that depend on it: a new registration of the id is another client. */
export function clientSince(as: AuthorizationServer, client: Client): number | undefined {
  return client.source === "document" || as.configured.has(client.id) ? undefined : client.created;
}

/**
 * Whether a record belongs to this registration of the client.
 * @param given when it was made; `undefined`, where that is not known, counts as after the registration
 */
export function isOfClient(
  as: AuthorizationServer,
  { client_id, client_since }: Dependent,
  client: Client,
  given: number | undefined,
): boolean | Promise<boolean> {
  if (client_id !== client.id) return false;
  // What a client of the store was given before it was configured, too, ends with its record.
  if (as.configured.has(client.id)) return hasClient(as, client_id, client_since, given);
  return isSince(client_since, clientSince(as, client), given);
}

/**
 * The user with this id, from the store or from `authenticateUser`; `undefined` when there is none, or it is locked.
 * @param given when what depends on the user was given: before a removal of the user it was given to another one
 */
export function findLiveUser(
  { store, authenticateUser }: AuthorizationServer,
  id: string,
  given: number | undefined,
): Promise<Profile | undefined> {
  const [likely, other] = authenticateUser ? [profileKey, userKey] : [userKey, profileKey];
  return store.get<Profile>(likely(id), CACHED).then((entry) =>
    entry
      ? unlocked(entry.value, given)
      : store.get<Profile>(other(id), CACHED).then((entry) => unlocked(entry?.value, given))
  );
}

function unlocked(user: Profile | undefined, given: number | undefined): Profile | undefined {
  return user && user.locked === undefined && isGivenTo(user, given) ? user : undefined;
}

/** Whether the client exists. Configured clients and those with a metadata document are not in the store. */
function hasClient(
  as: AuthorizationServer,
  id: string,
  since: number | undefined,
  given: number | undefined,
): boolean | Promise<boolean> {
  if (as.configured.has(id) && since === undefined) return true;
  if (id.startsWith("https://")) return as.clientMetadataDocuments();
  return as.store.get<Client>(clientKey(id), CACHED).then(
    (entry) => entry !== undefined && isSince(since, entry.value.created, given),
  );
}

/**
 * A record without the time is one of a configured client, or of an earlier version: it belongs to a registration that was
 * there when it was made.
 */
function isSince(
  recorded: number | undefined,
  actual: number | undefined,
  given: number = Infinity,
): boolean {
  return actual === undefined || (recorded === undefined ? given >= actual : recorded === actual);
}
