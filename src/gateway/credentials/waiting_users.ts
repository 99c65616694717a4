/**
 * Users whose calls failed at this instance because they had not connected an upstream: reports when they have,
 * at any instance.
 *
 * @module
 */
import { connectionKey, CONNECTIONS, type UpstreamConnection } from "../../oauth/connection_records.ts";
import type { Key, Store } from "../../store/store.ts";
import { unrefTimer } from "../../timer.ts";

/** Called with the name of the upstream and the id of the user who connected it. */
export type OnConnected = (upstream: string, user: string) => void;

export interface WaitingUsers {
  add(upstream: string, user: string, url?: string): void;
  close(): void;
}

/** Users who are remembered; the oldest ones are offered what they connected when their session ends. */
const MAX_WAITING = 10_000;

interface Waiting {
  readonly upstream: string;
  readonly user: string;
  /** A connection to another URL is of an earlier upstream with this name. */
  readonly url: string | undefined;
}

/**
 * After all were looked up there is a pause of so many times the duration: a store that is polled reports every commit as
 * one that may have connected anyone.
 */
const PAUSE_RATIO = 10;
const MAX_PAUSE_MS = 60_000;
/** The least pause after an error of the store. */
const OUTAGE_PAUSE_MS = 1000;

/** @param onFault receives an error of the store; the watch begins again with the next user */
export function createWaitingUsers(
  store: Store,
  onConnected: OnConnected,
  onFault: (error: unknown) => void,
): WaitingUsers {
  const waiting = new Map<string, Waiting>();
  /** Names of those to look up. */
  const changed = new Set<string>();
  /** Whether all must be looked up. */
  let isAnyChanged = false;
  let isChecking = false;
  /** By `performance.now()`. */
  let pauseEnds = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let reader: ReadableStreamDefaultReader<readonly Key[]> | undefined;
  let isClosed = false;

  async function follow(stream: ReadableStreamDefaultReader<readonly Key[]>): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await stream.read();
        if (done || isClosed) return;
        for (const key of value) note(key);
        void checkChanged();
      }
    } catch (error) {
      if (!isClosed) onFault(error);
    } finally {
      stream.cancel().catch(() => {});
      if (reader === stream) reader = undefined;
    }
  }

  /** A key without a user means that any connection may have changed. */
  function note([, user, upstream]: Key): void {
    const name = JSON.stringify([upstream, user]);
    if (upstream === undefined) isAnyChanged = true;
    else if (waiting.has(name)) changed.add(name);
  }

  async function checkChanged(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    while (!isClosed) {
      const [name] = changed;
      if (name !== undefined) {
        changed.delete(name);
        await tryCheck(name);
      } else if (isAnyChanged && !isPaused()) await checkAll();
      else break;
    }
    isChecking = false;
  }

  async function checkAll(): Promise<void> {
    isAnyChanged = false;
    let least = 0;
    const began = performance.now();
    for (const name of [...waiting.keys()]) {
      if (isClosed) return;
      if (await tryCheck(name)) continue;
      // The store is unavailable: all again after the pause.
      isAnyChanged = true;
      least = OUTAGE_PAUSE_MS;
      break;
    }
    const ended = performance.now();
    pauseEnds = ended + Math.min(Math.max(least, PAUSE_RATIO * (ended - began)), MAX_PAUSE_MS);
  }

  /** Whether it is too early to look up all again, which then follows later. */
  function isPaused(): boolean {
    const left = pauseEnds - performance.now();
    if (left <= 0) return false;
    if (timer === undefined) {
      timer = setTimeout(() => {
        timer = undefined;
        void checkChanged();
      }, left);
      unrefTimer(timer);
    }
    return true;
  }

  /** An error of the store must not end the watch for everyone who waits. @returns whether there was none */
  async function tryCheck(name: string): Promise<boolean> {
    try {
      const each = waiting.get(name);
      const entry = each && await store.get<UpstreamConnection>(connectionKey(each.user, each.upstream));
      if (!entry || each.url !== undefined && each.url !== entry.value.url) return true;
      waiting.delete(name);
      onConnected(each.upstream, each.user);
      return true;
    } catch (error) {
      if (!isClosed) onFault(error);
      return false;
    }
  }

  return {
    add(upstream, user, url) {
      if (isClosed) return;
      const name = JSON.stringify([upstream, user]);
      waiting.delete(name);
      waiting.set(name, { upstream, user, url });
      if (waiting.size > MAX_WAITING) waiting.delete(waiting.keys().next().value!);
      if (reader) return;
      reader = store.watch(CONNECTIONS).getReader();
      void follow(reader);
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      reader?.cancel().catch(() => {});
    },
  };
}
