/**
 * The store as a session may change it: its commits are done only while the session has not ended and the account is not
 * locked. All that the forms of a user change goes through it, because both may happen after the request has read them.
 *
 * @module
 */
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import type { Check, Commit, GetOptions, Key, ListOptions, Store } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { findOwner } from "../sign_in/account_record.ts";
import { SessionEndedError, type SignedIn, toSessionCheck } from "./session.ts";

/**
 * The store, with commits that check the session and the account, too. They reject with {@linkcode SessionEndedError} when
 * the session has ended or the account is locked, and are retried when another request has only changed one of them.
 */
export function toSessionStore(
  as: AuthorizationServer,
  { session, version, user, account }: SignedIn,
): Store {
  const { store } = as;
  let known = version;
  let owner: Check = account;

  function commit(changes: Commit): Promise<boolean> {
    return retryLostRaces(async () => {
      const login = await toSessionCheck(as, session, known);
      if (!login) throw new SessionEndedError();
      known = login.version ?? undefined;
      const own = [login, owner].map(({ key, version }) => ({ key, version }));
      if (await store.commit({ ...changes, check: [...changes.check ?? [], ...own] })) return true;
      const [present, now] = await Promise.all([store.get(login.key), findOwner(store, user.id)]);
      if (!present || !now || now.value.locked !== undefined) throw new SessionEndedError();
      if (present.version === known && now.version === owner.version) return false;
      known = present.version;
      owner = now;
      return LOST_RACE;
    });
  }

  return {
    guarantees: store.guarantees,
    ...(store.now && { now: () => store.now!() }),
    get: <Value>(key: Key, options?: GetOptions) => store.get<Value>(key, options),
    list: <Value>(prefix: Key, options?: ListOptions) => store.list<Value>(prefix, options),
    commit,
    watch: (prefix) => store.watch(prefix),
    sweep: () => store.sweep(),
    close: () => store.close(),
  };
}
