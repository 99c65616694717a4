/**
 * Commits of a SQLite store that wait for their transaction. Those that arrive in one turn of the event loop share one, and
 * its wait for the disk. While another process has the lock they wait without stopping the process.
 *
 * @module
 */
import type { DatabaseSync } from "node:sqlite";
import { setImmediate, setTimeout } from "node:timers";
import type { Commit } from "../../store.ts";
import { tryRollback } from "./open.ts";
import { explain, isLocked, prepare, type Prepared } from "./rows.ts";

interface Waiting {
  readonly prepared: Prepared;
  /** By `performance.now()`. */
  readonly since: number;
  readonly resolve: (done: boolean) => void;
  readonly reject: (reason: unknown) => void;
}

/** The maximum size of the values in one shared transaction, so that no other work waits long for it. */
const MAX_GROUP_BYTES = 4 * 1024 * 1024;
/** The page cache: SQLite's default. */
const CACHE_KILOBYTES = 2000;
/**
 * The page cache while a commit with so large values is written. Nothing reads the pages of these values again soon, and they
 * would replace all others: an upload of 8 MB on Bun takes 12 to 13 MB so, and 14 to 16 without.
 */
const LARGE_COMMIT_BYTES = 64 * 1024;
const LARGE_COMMIT_CACHE_KILOBYTES = 512;
const LOCK_RETRY_MS = 20;

/** The result of a transaction of its own, which waits for the lock as a commit does. @throws what `explain` makes of its error */
export async function attemptPatiently<Result>(busyTimeout: number, work: () => Result): Promise<Result> {
  const since = performance.now();
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isLocked(error) || performance.now() - since >= busyTimeout) throw explain(error);
    }
    await new Promise((resolve) => setTimeout(resolve, LOCK_RETRY_MS));
  }
}

export class CommitQueue {
  readonly #database: DatabaseSync;
  readonly #busyTimeout: number;
  readonly #apply: (commit: Prepared) => boolean;
  readonly #onCommit: (commit: Prepared) => void;
  #waiting: Waiting[] = [];
  #retry: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param busyTimeout how long a commit waits for the lock, in milliseconds
   * @param apply writes a commit in the transaction; `false` when a check fails
   * @param onCommit gets each commit that was done
   */
  constructor(
    database: DatabaseSync,
    busyTimeout: number,
    apply: (commit: Prepared) => boolean,
    onCommit: (commit: Prepared) => void,
  ) {
    this.#database = database;
    this.#busyTimeout = busyTimeout;
    this.#apply = apply;
    this.#onCommit = onCommit;
  }

  add(commit: Commit): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ prepared: prepare(commit), since: performance.now(), resolve, reject });
      // After the current input events: commits that arrive in them join the same transaction.
      if (this.#waiting.length === 1) setImmediate(() => this.#flush());
    });
  }

  /** Writes or refuses all that wait. */
  finish(): void {
    while (this.#waiting.length > 0) this.#flush();
    clearTimeout(this.#retry);
  }

  /** Takes the commits for the next transaction; the others wait for the one after it. */
  #nextGroup(): Waiting[] {
    let bytes = 0;
    const end = this.#waiting.findIndex(({ prepared }, i) =>
      (bytes += prepared.bytes) > MAX_GROUP_BYTES && i > 0
    );
    const group = this.#waiting.splice(0, end === -1 ? Infinity : end);
    if (end !== -1) setImmediate(() => this.#flush());
    return group;
  }

  /** Begins a transaction. When that fails, refuses the commits that have waited for the lock long enough. */
  #begin(): boolean {
    try {
      this.#database.exec("BEGIN IMMEDIATE");
      return true;
    } catch (error) {
      const latest = isLocked(error) ? performance.now() - this.#busyTimeout : Infinity;
      const refused = this.#waiting.filter(({ since }) => since <= latest);
      this.#waiting = this.#waiting.filter(({ since }) => since > latest);
      for (const { reject } of refused) reject(explain(error));
      if (this.#waiting.length === 0) return false;
      this.#retry ??= setTimeout(() => {
        this.#retry = undefined;
        this.#flush();
      }, LOCK_RETRY_MS);
      return false;
    }
  }

  /** Runs waiting commits in one transaction, then acknowledges them. */
  #flush(): void {
    if (this.#waiting.length === 0 || !this.#begin()) return;
    const waiting = this.#nextGroup();
    const isLarge = waiting.some(({ prepared }) => prepared.bytes >= LARGE_COMMIT_BYTES);
    let outcomes: boolean[];
    try {
      if (isLarge) this.#limitCache(LARGE_COMMIT_CACHE_KILOBYTES);
      outcomes = waiting.map(({ prepared }) => this.#apply(prepared));
      this.#database.exec("COMMIT");
    } catch (error) {
      // SQLite rolls back by itself on a full disk, but not on other errors.
      if (this.#database.isTransaction ?? true) tryRollback(this.#database);
      for (const { reject } of waiting) reject(explain(error));
      return;
    } finally {
      if (isLarge) this.#limitCache(CACHE_KILOBYTES);
    }
    waiting.forEach(({ prepared, resolve }, i) => {
      resolve(outcomes[i]!);
      if (outcomes[i]) this.#onCommit(prepared);
    });
  }

  /** Pages that fit no more leave the cache at once; those of an open transaction go to the log early. */
  #limitCache(kilobytes: number): void {
    this.#database.exec(`PRAGMA cache_size = -${kilobytes}`);
  }
}
