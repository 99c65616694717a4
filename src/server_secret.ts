/**
 * One random key per store, shared by all instances, for cursors and sealed values.
 *
 * @module
 */
import { randomBytes } from "./crypto/random_bytes.ts";
import { LOST_RACE, retryLostRaces } from "./store/retry.ts";
import { putIfAbsent, type Store } from "./store/store.ts";

const KEY = ["server_secret"];

/** A function that gives the 32 bytes. The first instance that needs them creates them; each remembers them. */
export function serverSecret(store: Store): () => Promise<Uint8Array> {
  let secret: Uint8Array | undefined;
  function load(): Promise<Uint8Array> {
    return retryLostRaces(async () => {
      const entry = await store.get<Uint8Array>(KEY);
      if (entry) return entry.value;
      const made = randomBytes(32);
      return await putIfAbsent(store, KEY, made) ? made : LOST_RACE;
    });
  }
  // The value is kept, not the promise: on Workers a promise of a finished request never settles.
  return async () => secret ??= await load();
}
