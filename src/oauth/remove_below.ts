/**
 * Removes many records in commits of limited size.
 *
 * @module
 */
import { type Key, listAll, type Store } from "../store/store.ts";

/** Keys that one commit removes. */
const MAX_BATCH = 100;

/**
 * Removes each record below a prefix.
 * @param keysOf what is removed for it. @default the record alone
 * @returns whether it removed anything
 */
export async function removeBelow(
  store: Store,
  prefix: Key,
  keysOf: (key: Key) => readonly Key[] | Promise<readonly Key[]> = (key) => [key],
): Promise<boolean> {
  let keys: Key[] = [];
  let isFound = false;
  for await (const { key } of listAll(store, prefix)) {
    const removed = await keysOf(key);
    isFound ||= removed.length > 0;
    keys.push(...removed);
    if (keys.length < MAX_BATCH) continue;
    await removeAll(store, keys);
    keys = [];
  }
  await removeAll(store, keys);
  return isFound;
}

async function removeAll(store: Store, keys: readonly Key[]): Promise<void> {
  for (let at = 0; at < keys.length; at += MAX_BATCH) {
    await store.commit({ remove: keys.slice(at, at + MAX_BATCH) });
  }
}
