/**
 * The lists of one session of an upstream, and when they are read: over each new connection, after the upstream said that
 * they changed, when they may have changed unannounced, and again after a failure.
 *
 * @module
 */
import type { Principal } from "../../../http/principal.ts";
import type { ConnectionInfo, ListName, McpClient } from "../../../mcp_client/client.ts";
import { later } from "../later.ts";
import { digestLists, fetchLists, findRetriable, LISTS, type RawLists } from "./upstream_lists.ts";

/** What the lists use of their upstream. */
export interface ListsHost {
  /** Milliseconds. */
  readonly timeout: number;
  readonly now: () => number;
  /** Makes what is offered of the lists, and then calls `accept` with equal ones that sessions share. */
  offer(digest: string, raw: RawLists, accept: (shared: RawLists) => void): Promise<void>;
  /** The upstream announced a change of lists, and they are as before: something else about them may have changed. */
  onAnnounced(lists: ReadonlySet<ListName>): void;
}

/** What the lists use of their session. */
export interface ListedSession {
  /** Set while connected. */
  readonly connected: McpClient | undefined;
  readonly info: ConnectionInfo;
  readonly caller: Principal | undefined;
  onListsRead(): void;
  onListsFailed(client: McpClient, error: unknown): Promise<void>;
}

/** Further notifications within this time are one refresh. */
const DEBOUNCE_MS = 100;
/** The least time between two refreshes of one session. */
const MIN_REFRESH_INTERVAL_MS = 1_000;
/** The interval doubles with each refresh after so many that each followed the one before as soon as possible. */
const FREQUENT_REFRESHES = 10;
const MAX_REFRESH_INTERVAL_MS = 30_000;
/** The least time before a list is read again that the upstream did not announce as changed. */
const MIN_UNANNOUNCED_INTERVAL_MS = 30_000;
/** The pause before a list that failed is read again doubles with each failure. */
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 300_000;

export class SessionLists {
  /** What the upstream listed; kept while it is not connected. */
  raw: RawLists | undefined;
  /** Identifies what is offered: set once that was made. */
  digest: string | undefined;
  /** The lists with this digest, which other sessions have too. */
  #shared: RawLists | undefined;
  readonly #session: ListedSession;
  readonly #host: ListsHost;
  #reading: Promise<void> = Promise.resolve();
  /** The lists to read next, and those of them that the upstream announced. */
  #stale = new Set<ListName>();
  #announced = new Set<ListName>();
  /** When the lists end whose changes the upstream does not announce. */
  readonly #ends = new Map<ListName, number>();
  #readAt = -Infinity;
  #interval = MIN_REFRESH_INTERVAL_MS;
  /** Refreshes without a pause. */
  #frequent = 0;
  #doubtedAt = -Infinity;
  #failures = 0;
  /** When the next read begins. */
  #due = Infinity;
  #stopTimer: (() => void) | undefined;

  constructor(session: ListedSession, host: ListsHost) {
    this.#session = session;
    this.#host = host;
  }

  /** Reads all lists, over a new connection. */
  readAll(): void {
    this.close();
    this.#announced.clear();
    this.#ends.clear();
    this.#failures = 0;
    this.#stale = new Set(LISTS);
    this.#read();
  }

  /** Resolves when the read that runs has ended. Never rejects. */
  settled(): Promise<void> {
    return this.#reading;
  }

  /** The upstream announced that they changed. */
  changed(lists: readonly ListName[]): void {
    for (const list of lists) this.#announced.add(list);
    this.#readLater(lists, DEBOUNCE_MS);
  }

  /** Reads those lists again that have ended. */
  refresh(): void {
    const now = this.#host.now();
    for (const [list, end] of this.#ends) {
      if (end > now) continue;
      this.#ends.delete(list);
      this.#readLater([list], 0);
    }
  }

  /** Reads all lists again, after an answer that a name is not known. A caller can cause it, so not often. */
  doubt(): void {
    const now = this.#host.now();
    if (now < this.#doubtedAt + MIN_UNANNOUNCED_INTERVAL_MS) return;
    this.#doubtedAt = now;
    this.#readLater(LISTS, 0);
  }

  close(): void {
    this.#stopTimer?.();
    this.#due = Infinity;
  }

  #readLater(lists: Iterable<ListName>, pause: number): void {
    for (const list of lists) this.#stale.add(list);
    const now = this.#host.now();
    const due = Math.max(now + pause, this.#readAt + this.#interval);
    if (due >= this.#due) return;
    this.#stopTimer?.();
    this.#due = due;
    this.#stopTimer = later(due - now, () => {
      this.#due = Infinity;
      this.#read();
    });
  }

  /** Each change makes all clients read the lists again, so an upstream that changes all the time is read less often. */
  #countRead(now: number): void {
    this.#frequent = now - this.#readAt < 2 * this.#interval ? this.#frequent + 1 : 0;
    const doublings = Math.max(0, this.#frequent - FREQUENT_REFRESHES);
    this.#interval = Math.min(MIN_REFRESH_INTERVAL_MS * 2 ** doublings, MAX_REFRESH_INTERVAL_MS);
    this.#readAt = now;
  }

  #retryLater(lists: Iterable<ListName>): void {
    this.#readLater(lists, Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures++));
  }

  #read(): void {
    this.#reading = this.#reading.then(() => this.#readStale());
  }

  /** Never rejects: calls report what fails. */
  async #readStale(): Promise<void> {
    const host = this.#host;
    const session = this.#session;
    const { connected: client, caller } = session;
    const [lists, announced] = [this.#stale, this.#announced];
    // A new connection reads all.
    if (!client || lists.size === 0) return;
    this.#stale = new Set();
    this.#announced = new Set();
    this.#countRead(host.now());
    try {
      const exchange = { caller, timeout: host.timeout };
      const raw = await fetchLists(client, session.info, exchange, this.raw, lists, (list, ttlMs) => {
        this.#ends.set(list, this.#readAt + Math.max(MIN_UNANNOUNCED_INTERVAL_MS, ttlMs));
      });
      const digest = await digestLists(raw);
      if (digest !== this.digest) {
        this.raw = raw;
        await host.offer(digest, raw, (shared) => {
          this.digest = digest;
          this.#shared = shared;
        });
      } else if (announced.size > 0) host.onAnnounced(announced);
      // Not a copy for each user: the lists of most are equal, and large.
      this.raw = { ...this.#shared!, failed: raw.failed };
      if (client !== session.connected) return;
      const failed = findRetriable(raw);
      if (failed.length > 0) this.#retryLater(failed);
      else this.#failures = 0;
      session.onListsRead();
    } catch (error) {
      if (client !== session.connected) return;
      for (const list of announced) this.#announced.add(list);
      await session.onListsFailed(client, error);
      if (client === session.connected) this.#retryLater(lists);
    }
  }
}
