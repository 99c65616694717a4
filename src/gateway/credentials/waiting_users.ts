/**
 * Users whose calls failed at this instance because they had not connected an upstream: reports when they have,
 * at any instance.
 *
 * @module
 */
import { connectionKey, CONNECTIONS } from "../../oauth/connection_records.ts";
import type { Key, Store } from "../../store/store.ts";

/** Called with the name of the upstream and the id of the user who connected it. */
export type OnConnected = (upstream: string, user: string) => void;

export interface WaitingUsers {
  add(upstream: string, user: string): void;
  close(): void;
}

/** Users who are remembered; the oldest ones are offered what they connected when their session ends. */
const MAX_WAITING = 10_000;

interface Waiting {
  readonly upstream: string;
  readonly user: string;
}

/** @param onFault receives an error of the store; the watch begins again with the next user */
export function createWaitingUsers(
  store: Store,
  onConnected: OnConnected,
  onFault: (error: unknown) => void,
): WaitingUsers {
  const waiting = new Map<string, Waiting>();
  let reader: ReadableStreamDefaultReader<readonly Key[]> | undefined;
  let isClosed = false;

  async function follow(stream: ReadableStreamDefaultReader<readonly Key[]>): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await stream.read();
        if (done || isClosed) return;
        // An error of the store must not end the watch for everyone who waits.
        for (const key of value) {
          await check(key).catch((error) => isClosed || onFault(error));
        }
      }
    } catch (error) {
      if (!isClosed) onFault(error);
    } finally {
      stream.cancel().catch(() => {});
      if (reader === stream) reader = undefined;
    }
  }

  /** A key without a user means that any connection may have changed. */
  async function check([, user, upstream]: Key): Promise<void> {
    const name = JSON.stringify([upstream, user]);
    const one = waiting.get(name);
    const changed = upstream === undefined ? [...waiting.values()] : one ? [one] : [];
    for (const each of changed) {
      if (!await store.get(connectionKey(each.user, each.upstream))) continue;
      waiting.delete(JSON.stringify([each.upstream, each.user]));
      onConnected(each.upstream, each.user);
    }
  }

  return {
    add(upstream, user) {
      if (isClosed) return;
      const name = JSON.stringify([upstream, user]);
      waiting.delete(name);
      waiting.set(name, { upstream, user });
      if (waiting.size > MAX_WAITING) waiting.delete(waiting.keys().next().value!);
      if (reader) return;
      reader = store.watch(CONNECTIONS).getReader();
      void follow(reader);
    },
    close() {
      isClosed = true;
      reader?.cancel().catch(() => {});
    },
  };
}
