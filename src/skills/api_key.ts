/**
 * API keys, for clients that send `x-api-key`: a secret for one workspace and some scopes.
 *
 * @module
 */
import { randomId, randomSecret, secretDigest } from "../crypto/secret.ts";
import type { Principal } from "../http/principal.ts";
import { CACHED, listAll, putIfAbsent, type Store } from "../store/store.ts";
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

/** Creates a key. The secret is returned only here; the store keeps its digest. */
export async function createApiKey(
  store: Store,
  { name, workspace = "default", scopes = ["skills:read", "skills:write"] }: ApiKeyRequest,
): Promise<{ key: ApiKey; secret: string }> {
  const secret = randomSecret(API_KEY_PREFIX);
  const key: ApiKey = { id: randomId("key_"), name, workspace, scopes, created: Date.now() };
  await putIfAbsent(store, apiKeyKey(secretDigest(secret)), key);
  return { key, secret };
}

/** The principal of a key; `undefined` when the key is unknown. */
export async function verifyApiKey(store: Store, secret: string): Promise<Principal | undefined> {
  const read = () => store.get<ApiKey>(apiKeyKey(secretDigest(secret)), CACHED);
  const entry = await read();
  if (!entry) return undefined;
  const { id, workspace, scopes } = entry.value;
  const isStillValid = async () => await read() !== undefined;
  return { client: id, workspace, scopes: new Set(scopes), isStillValid };
}

/** All keys. */
export async function* listApiKeys(store: Store): AsyncGenerator<ApiKey> {
  for await (const { value } of listAll<ApiKey>(store, ["api_key"])) yield value;
}

/** Removes a key by its id; `false` when there is none. */
export async function removeApiKey(store: Store, id: string): Promise<boolean> {
  for await (const { key, value, version } of listAll<ApiKey>(store, ["api_key"])) {
    if (value.id === id) return await store.commit({ check: [{ key, version }], remove: [key] });
  }
  return false;
}
