/**
 * `notifications/cancelled` of sessions (https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation).
 * It may arrive at another instance than the one that runs the call, so it goes through the store.
 *
 * @module
 */
import { secretDigest } from "../crypto/secret.ts";
import { type Id, MAX_ID_CHARACTERS, type Params } from "../jsonrpc/message.ts";
import type { Entry, Key, Store } from "../store/store.ts";
import type { Call } from "./call.ts";
import { requireObject } from "./schema/params.ts";
import { type Session, SESSION_ENDED, streamKey } from "./session/session.ts";
import { retryWhileUnavailable } from "../store/retry.ts";
import { RECORD_BYTES, type StorageAllowance } from "./session/storage_limits.ts";
import { type Wakeups, watchedKey } from "./session/wakeups.ts";

/** How long a cancellation is kept for a call that does not listen yet. */
const CANCELLATION_RETENTION_MS = 60_000;
/** A longer id is stored as its digest: stores limit the length of keys. */
const MAX_KEY_ID_CHARACTERS = 200;

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

  /** Calls `onCancelled` when the request is cancelled or its session ends. Returns the function that ends it. */
  listen(session: Session, id: Id, onCancelled: () => void): () => void {
    const key = keyOf(session, id);
    const end = streamKey(session);
    let isOver = false;
    // The wakeup comes once: a read that fails must not lose it.
    const read = (key: Key): Promise<Entry | undefined> =>
      retryWhileUnavailable(async () => isOver ? undefined : await this.#store.get(key)).catch(() =>
        undefined
      );
    const checkCancelled = async (): Promise<void> => {
      if (await read(key) && !isOver) onCancelled();
    };
    // After the end of the session the client cannot get the response.
    const checkEnded = async (): Promise<void> => {
      if ((await read(end))?.value === SESSION_ENDED && !isOver) onCancelled();
    };
    const stops = [
      this.#wakeups.listen(key.slice(1), checkCancelled),
      this.#wakeups.listen(end.slice(1), checkEnded),
    ];
    checkCancelled();
    checkEnded();
    return () => {
      isOver = true;
      for (const stop of stops) stop();
    };
  }

  /** Handles `notifications/cancelled`. Unknown request ids are ignored. */
  async accept(params: Params, call: Call): Promise<void> {
    const { session, connection } = call;
    const { requestId } = requireObject(params);
    if (typeof requestId !== "string" && typeof requestId !== "number") return;
    connection.onCancelled?.(requestId);
    if (!session || String(requestId).length > MAX_ID_CHARACTERS) return;
    if (!this.#storage.tryTake(call, RECORD_BYTES, CANCELLATION_RETENTION_MS)) return;
    const key = keyOf(session, requestId);
    await this.#store.commit({
      set: [{ key, value: true, expires: this.#now() + CANCELLATION_RETENTION_MS }],
    });
  }
}

function keyOf({ id }: Session, request: Id): Key {
  const text = JSON.stringify(request);
  // "#" begins no JSON, so the key is not that of another id.
  const part = String(request).length > MAX_KEY_ID_CHARACTERS ? `#${secretDigest(text)}` : text;
  return watchedKey("cancel", id, part);
}
