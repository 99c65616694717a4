/**
 * Administrators who can act now: one of them remains.
 *
 * @module
 */
import type { Entry, Key, Store } from "../../store/store.ts";
import type { Profile, User, UserRole } from "../records/user_record.ts";

/** Users that are read to find another administrator. */
const MAX_READ = 100_000;
const BATCH = 500;

/** Where users are, and the role of those who have none of their own. */
export interface AdminSearch {
  readonly store: Store;
  readonly defaultRole?: UserRole | undefined;
}

/** Whether the user is an administrator who is not locked. */
export function isActiveAdmin({ defaultRole }: AdminSearch, { role, locked }: User | Profile): boolean {
  return (role ?? defaultRole) === "admin" && locked === undefined;
}

/** An administrator beside the user with this id. A commit that takes the rights of that user checks its version. */
export async function findAdminBeside(search: AdminSearch, id: string): Promise<Entry | undefined> {
  let left = MAX_READ;
  for (const prefix of [["user"], ["profile"]] satisfies Key[]) {
    let after: Key | undefined;
    while (left > 0) {
      const entries = await search.store.list<User | Profile>(prefix, { limit: BATCH, after });
      const other = entries.find(({ value }) => value.id !== id && isActiveAdmin(search, value));
      if (other) return other;
      if (entries.length < BATCH) break;
      after = entries.at(-1)!.key;
      left -= entries.length;
    }
  }
  return undefined;
}
