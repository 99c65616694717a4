/**
 * API keys, for clients that send `x-api-key`: a secret for one workspace and some scopes.
 *
 * @module
 */
import { checkNames, type Names } from "../options/option_check.ts";
import { randomId, randomSecret, secretDigest } from "../crypto/secret.ts";
import type { Principal } from "../http/principal.ts";
import { LOST_RACE, retryLostRaces } from "../store/retry.ts";
import {
  CACHED,
  compareAndSet,
  type Entry,
  listAll,
  putIfAbsent,
  type Store,
  timeOf,
  waitForRemoval,
} from "../store/store.ts";
import { type ApiKey, apiKeyKey } from "./records.ts";

export const API_KEY_PREFIX = "trivet_key_";

/** A new API key. */
export interface ApiKeyRequest {
  readonly name: string;
  /** @default "default" */
  readonly workspace?: string | undefined;
  /** @default skills:read and skills:write */
  readonly scopes?: readonly string[] | undefined;
}

const NAMES: Names<ApiKeyRequest> = { name: "string", workspace: "string", scopes: "string[]" };

/**
 * Creates a key. The secret is returned only here; the store keeps its digest.
 * @throws {TypeError} naming an option that does not exist
 */
export async function createApiKey(
  store: Store,
  request: ApiKeyRequest,
): Promise<{ key: ApiKey; secret: string }> {
  checkNames("createApiKey", request, NAMES);
  const { name, workspace = "default", scopes = ["skills:read", "skills:write"] } = request;
  const secret = randomSecret(API_KEY_PREFIX);
  const key: ApiKey = { id: randomId("key_"), name, workspace, scopes, created: timeOf(store) };
  await putIfAbsent(store, apiKeyKey(secretDigest(secret)), key);
  return { key, secret };
}

/** The principal of a key; `undefined` when the key is unknown. */
export async function verifyApiKey(store: Store, secret: string): Promise<Principal | undefined> {
  const read = () => store.get<ApiKey>(apiKeyKey(secretDigest(secret)), CACHED);
  const entry = await read();
  if (!entry) return undefined;
  const { id, workspace, scopes } = entry.value;
  // A key that has lost a scope is no longer what the caller was authorized by.
  const isStillValid = async () => {
    const current = (await read())?.value.scopes;
    return current !== undefined && scopes.every((scope) => current.includes(scope));
  };
  return { client: id, workspace, scopes: new Set(scopes), isStillValid };
}

/** All keys. */
export async function* listApiKeys(store: Store): AsyncGenerator<ApiKey> {
  for await (const { value } of listAll<ApiKey>(store, ["api_key"])) yield value;
}

/** The key with this id; `undefined` when there is none. */
export async function findApiKey(store: Store, id: string): Promise<ApiKey | undefined> {
  return (await findEntry(store, id))?.value;
}

/** What `updateApiKey` changes; what is left out stays. */
export interface ApiKeyChanges {
  readonly name?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
}

/** Changes the name or the scopes of a key. Its secret stays. @returns `undefined` when there is no key with this id */
export async function updateApiKey(
  store: Store,
  id: string,
  { name, scopes }: ApiKeyChanges,
): Promise<ApiKey | undefined> {
  return await retryLostRaces(async () => {
    const entry = await findEntry(store, id);
    if (!entry) return undefined;
    const value: ApiKey = {
      ...entry.value,
      ...(name !== undefined && { name }),
      ...(scopes !== undefined && { scopes }),
    };
    return await compareAndSet(store, entry.key, entry.version, value) ? value : LOST_RACE;
  });
}

/** Removes a key by its id; `false` when there is none. */
export async function removeApiKey(store: Store, id: string): Promise<boolean> {
  const entry = await findEntry(store, id);
  if (!entry) {
    await waitForRemoval(store, apiKeyKey(id));
    return false;
  }
  // Without a check of the version: a key that changes at the same time is removed all the same.
  return await store.commit({ remove: [entry.key] });
}

async function findEntry(store: Store, id: string): Promise<Entry<ApiKey> | undefined> {
  for await (const entry of listAll<ApiKey>(store, ["api_key"])) if (entry.value.id === id) return entry;
  return undefined;
}
