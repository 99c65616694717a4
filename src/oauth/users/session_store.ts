/**
 * The store as a session may change it: its commits are done only while the session has not ended. All that the forms of a
 * user change goes through it, because the session may end after the request has read it.
 *
 * @module
 */
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import type { Commit, GetOptions, Key, ListOptions, Store } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { OAuthError } from "../error.ts";
import { type SignedIn, toSessionCheck } from "./session.ts";

/** The session ended while its request was handled. */
export class SessionEndedError extends OAuthError {
  constructor() {
    super("access_denied", "The session ended during this request. Sign in again", { isEnded: true });
  }
}

/**
 * The store, with commits that check the session, too. They reject with {@linkcode SessionEndedError} when it has ended, and
 * are retried when another request has only written that it was used.
 */
export function toSessionStore(as: AuthorizationServer, { session, version }: SignedIn): Store {
  const { store } = as;
  let known = version;

  function commit(changes: Commit): Promise<boolean> {
    return retryLostRaces(async () => {
      const login = await toSessionCheck(as, session, known);
      if (!login) throw new SessionEndedError();
      known = login.version ?? undefined;
      const check = [...changes.check ?? [], { key: login.key, version: login.version }];
      if (await store.commit({ ...changes, check })) return true;
      const present = await store.get(login.key);
      if (!present) throw new SessionEndedError();
      if (present.version === known) return false;
      known = present.version;
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
