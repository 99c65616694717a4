/**
 * The messages that wait in the store for the stream of HTTP+SSE. They count as stored bytes of the caller from their request
 * until the client has read them.
 *
 * @module
 */
import { randomId } from "../../crypto/secret.ts";
import { toAddress } from "../../http/network/network.ts";
import type { Entry, Key, Store } from "../../store/store.ts";
import { retryWhileUnavailable } from "../../store/retry.ts";
import type { Session } from "../session/session.ts";
import { type Caller, RECORD_BYTES, type StorageAllowance } from "../session/storage_limits.ts";
import { watchedKey } from "../session/wakeups.ts";

/** How long a message waits in the store for its stream. */
const MESSAGE_RETENTION_MS = 5 * 60_000;
/** Messages that are read from the queue at once. */
const PAGE_MESSAGES = 100;
/** With more bytes of a session, the queue looks for messages whose stream another instance has. */
const MAX_UNCHECKED_BYTES = 1024 * 1024;

/** A message that this instance stored. */
interface Stored {
  readonly key: Key;
  readonly bytes: number;
  readonly caller: Caller;
  readonly expires: number;
  /** Whether its commit has finished. */
  isWritten: boolean;
}

export interface SseQueueOptions {
  readonly store: Store;
  readonly storage: StorageAllowance;
  readonly now: () => number;
}

export class SseQueue {
  readonly #options: SseQueueOptions;
  /** By session, those with the latest messages last. */
  readonly #stored = new Map<string, Stored[]>();
  #order = 0;

  constructor(options: SseQueueOptions) {
    this.#options = options;
  }

  /**
   * Takes the bytes of a message that may be added later. @returns them
   * @throws {LimitError} at the caller's storage limit
   */
  async reserve(session: Session, json: string, caller: Caller): Promise<number> {
    const bytes = bytesOf(json);
    if (!await this.#tryTake(session, bytes, caller)) {
      this.#options.storage.take(caller, bytes, MESSAGE_RETENTION_MS);
    }
    return bytes;
  }

  /** Gives bytes back that were reserved. */
  release(bytes: number, caller: Caller): void {
    this.#options.storage.giveBack(caller, bytes, MESSAGE_RETENTION_MS);
  }

  /** Adds a message; `false` at the caller's storage limit. @param reserved bytes that the message takes over when added */
  async add(session: Session, json: string, { principal, runtime }: Caller, reserved = 0): Promise<boolean> {
    const { store, now } = this.#options;
    const caller: Caller = { principal, runtime: runtime && toAddress(runtime) };
    const bytes = bytesOf(json);
    if (bytes > reserved && !await this.#tryTake(session, bytes - reserved, caller)) return false;
    if (bytes < reserved) this.release(reserved - bytes, caller);
    const key = [...queueKey(session), now(), this.#order++, randomId("")];
    const stored: Stored = { key, bytes, caller, expires: now() + MESSAGE_RETENTION_MS, isWritten: false };
    const all = this.#stored.get(session.id) ?? [];
    all.push(stored);
    this.#stored.delete(session.id);
    this.#stored.set(session.id, all);
    try {
      await retryWhileUnavailable(() =>
        store.commit({ set: [{ key, value: json, expires: stored.expires }] })
      );
    } catch (error) {
      this.#giveBack(session, [stored]);
      throw error;
    }
    stored.isWritten = true;
    return true;
  }

  /** The messages that wait longest. */
  read(session: Session): Promise<Entry<string>[]> {
    return this.#options.store.list<string>(queueKey(session), { limit: PAGE_MESSAGES });
  }

  /** Removes messages from the store. Their bytes still count: see {@linkcode free}. */
  async remove(keys: readonly Key[]): Promise<void> {
    await this.#options.store.commit({ remove: keys });
  }

  /** Gives back the bytes of messages that the client has read. */
  free(session: Session, keys: readonly Key[]): void {
    const ids = new Set(keys.map((key) => key.at(-1)));
    this.#giveBack(session, this.#stored.get(session.id)?.filter(({ key }) => ids.has(key.at(-1)!)) ?? []);
  }

  async #tryTake(session: Session, bytes: number, caller: Caller): Promise<boolean> {
    const { storage } = this.#options;
    this.#giveBackExpired(session);
    const own = this.#stored.get(session.id) ?? [];
    const waiting = own.reduce((sum, { bytes }) => sum + bytes, 0);
    if (waiting <= MAX_UNCHECKED_BYTES && storage.tryTake(caller, bytes, MESSAGE_RETENTION_MS)) return true;
    await this.#giveBackRemoved(session, own.filter(({ isWritten }) => isWritten));
    return storage.tryTake(caller, bytes, MESSAGE_RETENTION_MS);
  }

  #giveBackExpired(session: Session): void {
    const now = this.#options.now();
    for (const [id, all] of this.#stored) {
      if (all.at(-1)!.expires > now) break;
      this.#giveBack({ id }, all);
    }
    const own = this.#stored.get(session.id) ?? [];
    if (own.length > 0 && own[0]!.expires <= now) {
      this.#giveBack(session, own.filter(({ expires }) => expires <= now));
    }
  }

  /** Another instance that has the stream does not tell which messages it sent, only that they are gone, oldest first. */
  async #giveBackRemoved(session: Session, own: readonly Stored[]): Promise<void> {
    const isStored = async (index: number): Promise<boolean> =>
      await this.#options.store.get(own[index]!.key) !== undefined;
    // Those of a client that does not read are all there.
    if (own.length === 0 || await isStored(0)) return;
    let removed = 1;
    for (let end = own.length; removed < end;) {
      const middle = (removed + end) >> 1;
      if (await isStored(middle)) end = middle;
      else removed = middle + 1;
    }
    this.#giveBack(session, own.slice(0, removed));
  }

  #giveBack({ id }: Pick<Session, "id">, gone: readonly Stored[]): void {
    const all = this.#stored.get(id);
    if (!all) return;
    const set = new Set(gone);
    const rest = all.filter((stored) => {
      if (set.has(stored)) this.release(stored.bytes, stored.caller);
      return !set.has(stored);
    });
    all.splice(0, all.length, ...rest);
    if (all.length === 0) this.#stored.delete(id);
  }
}

function bytesOf(json: string): number {
  return json.length + RECORD_BYTES;
}

function queueKey({ id }: Session): Key {
  return watchedKey("event", id, "sse");
}
