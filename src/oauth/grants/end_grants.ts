/**
 * Takes back what a user allowed: one grant, all of a client, or all.
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";
import { removeBelow } from "../remove_below.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import { type Key, listAll, type Store, timeOf, waitForRemoval } from "../../store/store.ts";
import { consentsPrefix } from "../records/authorization_record.ts";
import {
  type EndedGrants,
  endedGrantsKey,
  type Grant,
  grantKey,
  userGrantsPrefix,
} from "../records/grant_record.ts";
import { grantKeys } from "../users/user_grants.ts";

/** Clients in one record. When there are more, what was allowed to any client before the oldest time is refused. */
const MAX_CLIENTS = 50;
/** Longer than any code or ID token is valid. */
const RETENTION_MS = 30 * 86_400_000;

/**
 * Takes back a grant: all its tokens end, and the client has to ask again for what it may do. What it has not redeemed yet is
 * refused. Without a check of the version: a refresh at the same time finds no grant, or its tokens end too.
 * @returns `false` when the user has no such grant
 */
export async function endUserGrant(store: Store, user: string, id: string): Promise<boolean> {
  const grant = (await store.get<Grant>(grantKey(id)))?.value;
  if (!grant) await waitForRemoval(store, grantKey(id));
  if (grant?.user !== user) return false;
  await removeBelow(store, consentsPrefix(user, grant.client_id));
  await markGrantsEnded(store, user, grant.client_id);
  await store.commit({ remove: grantKeys(user, id) });
  return true;
}

/**
 * Takes back all that the user allowed a client, also what the client has not redeemed yet: its tokens end, and it has to ask
 * again.
 * @param client @default every client
 * @returns `false` when the user allowed it nothing
 */
export async function endUserGrants(store: Store, user: string, client?: string): Promise<boolean> {
  return client === undefined ? await endAll(store, user) : await endOfClient(store, user, client);
}

async function endAll(store: Store, user: string): Promise<boolean> {
  const hadConsents = await removeBelow(store, ["consent", user]);
  await markGrantsEnded(store, user);
  const hadGrants = await removeBelow(store, userGrantsPrefix(user), (key) => grantKeys(user, idOf(key)));
  return hadConsents || hadGrants;
}

async function endOfClient(store: Store, user: string, client: string): Promise<boolean> {
  const grants = userGrantsPrefix(user);
  const consents = consentsPrefix(user, client);
  const isOfClient = async (key: Key) =>
    (await store.get<Grant>(grantKey(idOf(key))))?.value.client_id === client;
  // The name of a client comes from a form: only of one that has access is anything stored.
  if (!await hasRecord(store, consents) && !await hasRecord(store, grants, isOfClient)) {
    await waitForRemoval(store, grantKey(user));
    return false;
  }
  // They are few, and go with the mark: without them a call after an interruption would find no access.
  const remembered = await Array.fromAsync(listAll(store, consents));
  await markGrantsEnded(store, user, client, remembered.map(({ key }) => key));
  await removeBelow(store, grants, async (key) => await isOfClient(key) ? grantKeys(user, idOf(key)) : []);
  return true;
}

function idOf(key: Key): string {
  return String(key.at(-1));
}

async function hasRecord(
  store: Store,
  prefix: Key,
  isWanted: (key: Key) => Promise<boolean> = () => Promise.resolve(true),
): Promise<boolean> {
  for await (const { key } of listAll(store, prefix)) if (await isWanted(key)) return true;
  return false;
}

/**
 * Refuses what the user allowed until now. Call it before the grants are removed, so that a grant that starts at the same time
 * is refused, or is one of those that are removed; and after the consents are, so that a request that finds one began before.
 * @param client the only client that is concerned. @default all
 * @param remove consents that the same commit removes
 */
export async function markGrantsEnded(
  store: Store,
  user: string,
  client?: string,
  remove: readonly Key[] = [],
): Promise<void> {
  const key = endedGrantsKey(user);
  await retryLostRaces(async () => {
    const now = timeOf(store);
    const entry = await store.get<EndedGrants>(key);
    const value = addEnded(entry?.value, now, client);
    return await store.commit({
      check: [{ key, version: entry?.version ?? null }],
      set: [{ key, value, expires: now + RETENTION_MS }],
      remove,
    }) || LOST_RACE;
  });
}

function addEnded(ended: EndedGrants | undefined, now: number, client: string | undefined): EndedGrants {
  if (client === undefined) return { before: now, clients: [] };
  const { before = 0, clients: known = [] } = ended ?? {};
  const digest = secretDigest(client);
  const clients = [...known.filter(([each]) => each !== digest), [digest, now] as const];
  const dropped = clients.splice(0, Math.max(0, clients.length - MAX_CLIENTS));
  return { before: dropped.at(-1)?.[1] ?? before, clients };
}
