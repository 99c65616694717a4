/**
 * Changes all records below a prefix, while requests use and change them.
 *
 * @module
 */
import { LOST_RACE, retryLostRaces } from "./retry.ts";
import { compareAndSet, type Entry, type Key, listAll, type Store } from "./store.ts";

/**
 * Sets each record to what `change` makes of it. A record that changes meanwhile is read again.
 * @param change returns `undefined` when there is nothing to do
 * @returns the number of records that were set
 */
export async function changeAll<Value>(
  store: Store,
  prefix: Key,
  change: (entry: Entry<Value>) => Promise<Value | undefined>,
): Promise<number> {
  let count = 0;
  for await (const listed of listAll<Value>(store, prefix)) {
    let entry: Entry<Value> | undefined = listed;
    const isChanged = await retryLostRaces(async () => {
      const value: Value | undefined = entry && await change(entry);
      if (!entry || value === undefined) return false;
      if (await compareAndSet(store, entry.key, entry.version, value, entry.expires)) return true;
      entry = await store.get<Value>(entry.key);
      return LOST_RACE;
    });
    if (isChanged) count++;
  }
  return count;
}
