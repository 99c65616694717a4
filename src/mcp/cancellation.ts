/**
 * `notifications/cancelled` of sessions (https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation):
 * it may come to another instance than the one that runs the call, so it goes through the store.
 *
 * @module
 */
import type { Method } from "../jsonrpc/dispatch.ts";
import type { Id } from "../jsonrpc/message.ts";
import type { Key, Store } from "../store/store.ts";
import type { Call } from "./call.ts";
import { requireObject } from "./schema/params.ts";
import { type Session, SESSION_ENDED, streamKey } from "./session/session.ts";
import { RECORD_BYTES, type StorageAllowance } from "./session/storage_limits.ts";
import { type Wakeups, watchedKey } from "./session/wakeups.ts";

/** Milliseconds for which a cancellation waits for a call that has not yet listened. */
const LIFETIME = 60_000;

export class Cancellations {
  readonly #store: Store;
  readonly #wakeups: Wakeups;
  readonly #now: () => number;
  readonly #storage: StorageAllowance;

  constructor(store: Store, wakeups: Wakeups, now: () => number, storage: StorageAllowance) {
    this.#storage = storage;
    this.#store = store;
    this.#wakeups = wakeups;
    this.#now = now;
  }

  /** Hears that a call is cancelled, or its session ended; gives the function that ends it. */
  listen(session: Session, id: Id, cancelled: () => void): () => void {
    const key = keyOf(session, id);
    const end = streamKey(session);
    const look = async (): Promise<void> => {
      if (await this.#store.get(key).catch(() => undefined)) cancelled();
    };
    // Nobody could hear the answer, or answer what the call asks.
    const lookAtEnd = async (): Promise<void> => {
      const entry = await this.#store.get(end).catch(() => undefined);
      if (entry?.value === SESSION_ENDED) cancelled();
    };
    const stops = [this.#wakeups.listen(key.slice(1), look), this.#wakeups.listen(end.slice(1), lookAtEnd)];
    look();
    lookAtEnd();
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** `notifications/cancelled`. Nobody hears whether there was such a call. */
  methods(): [string, Method<Call>][] {
    return [["notifications/cancelled", async (params, call) => {
      const { session, onCancelled } = call;
      const { requestId } = requireObject(params);
      if (typeof requestId !== "string" && typeof requestId !== "number") return;
      onCancelled?.(requestId);
      if (!session || String(requestId).length > 200) return;
      if (!this.#storage.tryTake(call, RECORD_BYTES, LIFETIME)) return;
      const key = keyOf(session, requestId);
      await this.#store.commit({ set: [{ key, value: true, expires: this.#now() + LIFETIME }] });
    }]];
  }
}

function keyOf({ id }: Session, request: Id): Key {
  return watchedKey("cancel", id, JSON.stringify(request));
}
