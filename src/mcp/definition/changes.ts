/**
 * Carries the changes behind `list_changed` and `resources/updated` from any instance to the streams of all instances.
 * A short log in the store is both the message bus and the history for clients that reconnect. Its entries are numbered
 * in the order of their commits, so the number of an entry serves as the event id: a client that saw it has seen all
 * earlier entries.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import { LOST_RACE, retryLostRaces, retryWhileUnavailable } from "../../store/retry.ts";
import { type Entry, type Key, type Put, type Store, StoreUnavailableError } from "../../store/store.ts";
import { userKey } from "../session/principal_key.ts";
import { type Wakeups, watchedKey } from "../session/wakeups.ts";

/** A list that changed, or a resource that was updated. */
export type Change =
  & (
    | { readonly kind: "tools" | "resources" | "prompts" }
    | { readonly kind: "resource"; readonly uri: string }
  )
  & {
    /** The `userKey` of the only user for whom it changed. @default all */
    readonly user?: string;
  };

/** For whom a list changed, or a resource was updated. */
export interface ChangedFor {
  /** The only user, through whichever client, or the client that acts for itself; `undefined` for anonymous callers. */
  readonly user: Principal | undefined;
}

/** A change and its position in the log. */
export interface LoggedChange {
  readonly position: string;
  readonly change: Change;
}

/** A change as the log has it. */
type Logged = Change & {
  /** Number of the change before it, 0 for the first; absent in records of an earlier version. */
  readonly after?: number;
};

interface Listener {
  /** Number of the last change that the listener got; `undefined` until the end of the log was read. */
  after: number | undefined;
  readonly onChange: (change: LoggedChange) => void;
}

/** How long a change is kept for clients that reconnect. */
const CHANGE_LIFETIME_MS = 5 * 60_000;
/** How often to read the log without a wakeup. */
const POLL_INTERVAL_MS = 15_000;
/** Changes in one commit or one read. */
const PAGE_SIZE = 100;
/** The record with the number of the last change. */
const LAST_NUMBER_KEY: Key = ["mcp_change_count"];

/** Whether the change is one for this caller. */
export function isFor(change: Change, caller: Principal | undefined): boolean {
  return change.user === undefined || change.user === userKey(caller);
}

/** Whether an event id is a position in the log. */
export function isChangePosition(id: string): boolean {
  return /^\d{1,15}$/.test(id);
}

export class Changes {
  readonly #store: Store;
  readonly #wakeups: Wakeups;
  readonly #now: () => number;
  readonly #isForOneRequest: boolean;
  readonly #listeners = new Set<Listener>();
  #stopListening: (() => void) | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isReading = false;
  #readsAgain = false;
  #unwritten: Change[] = [];
  /** Changed lists that wait for the store, as JSON. */
  readonly #later = new Set<string>();
  #nextWrite: Promise<void> | undefined;
  #writing: Promise<void> = Promise.resolve();

  /** @param isForOneRequest whether this object belongs to a single request */
  constructor(store: Store, wakeups: Wakeups, now: () => number, isForOneRequest = false) {
    this.#store = store;
    this.#wakeups = wakeups;
    this.#now = now;
    this.#isForOneRequest = isForOneRequest;
  }

  /**
   * Publishes a change to the streams of all instances. Changes that come during a write go into the next commit.
   * @throws {StoreUnavailableError} a changed list is published all the same when the store is back: no caller repeats it
   */
  publish(change: Change, changedFor?: ChangedFor): Promise<void> {
    if (this.#mustSplit) return this.#forOneRequest().publish(change, changedFor);
    const own = changedFor ? { ...change, user: userKey(changedFor.user) } : change;
    const published = this.#add(own);
    if (change.kind !== "resource") published.catch((error) => this.#publishLater(own, error));
    return published;
  }

  #publishLater(change: Change, error: unknown): void {
    const text = JSON.stringify(change);
    if (!(error instanceof StoreUnavailableError) || this.#later.has(text)) return;
    this.#later.add(text);
    retryWhileUnavailable(() => this.#add(change)).catch(() => {}).finally(() => this.#later.delete(text));
  }

  #add(change: Change): Promise<void> {
    this.#unwritten.push(change);
    if (!this.#nextWrite) {
      this.#nextWrite = this.#writing.then(() => {
        this.#nextWrite = undefined;
        return this.#write(this.#unwritten.splice(0));
      });
      this.#writing = this.#nextWrite.catch(() => {});
    }
    return this.#nextWrite;
  }

  /**
   * Calls `onChange` with all changes after a position, or from now on, each once and in order. Returns the function that
   * ends this. To miss no change, read the {@linkcode latestPosition} first.
   */
  listen(onChange: (change: LoggedChange) => void, position?: string): () => void {
    if (this.#mustSplit) return this.#forOneRequest().listen(onChange, position);
    const listener = { onChange, after: position === undefined ? undefined : Number(position) };
    this.#listeners.add(listener);
    if (!this.#stopListening) {
      this.#stopListening = this.#wakeups.listen(["change"], () => this.#readAll());
      this.#timer = setInterval(() => this.#readAll(), POLL_INTERVAL_MS);
    }
    this.#readAll();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#stopListening?.();
      this.#stopListening = undefined;
      clearInterval(this.#timer);
    };
  }

  /** Whether requests share this object although the runtime isolates requests. */
  get #mustSplit(): boolean {
    return this.#wakeups.isIsolated && !this.#isForOneRequest;
  }

  #forOneRequest(): Changes {
    return new Changes(this.#store, this.#wakeups, this.#now, true);
  }

  /** The end of the log, if changes after the position may have expired: {@linkcode listen} would leave them out. */
  async findGapEnd(position: string): Promise<string | undefined> {
    const number = Number(position);
    const oldest = this.#now() - CHANGE_LIFETIME_MS;
    if (number >= oldest) return undefined;
    const latest = await this.latestPosition();
    if (latest === position) return undefined;
    const [next] = await this.#list(number, 1);
    // Where the record does not say it, the position of an empty log, which is no time, counts as a recent one.
    const isComplete = next?.value.after === undefined
      ? position === "0" && Number(latest) >= oldest
      : next.value.after <= number;
    return isComplete ? undefined : latest;
  }

  /** The position of the end of the log. */
  async latestPosition(): Promise<string> {
    return String((await this.#store.get<number>(LAST_NUMBER_KEY))?.value ?? 0);
  }

  async #write(changes: readonly Change[]): Promise<void> {
    for (let rest = changes; rest.length > 0; rest = rest.slice(PAGE_SIZE)) {
      const page = rest.slice(0, PAGE_SIZE);
      await retryLostRaces(async () => await this.#append(page) || LOST_RACE);
    }
  }

  /** `false` when another instance wrote first. */
  async #append(changes: readonly Change[]): Promise<boolean> {
    const count = await this.#store.get<number>(LAST_NUMBER_KEY);
    const now = Math.floor(this.#now());
    // At least the time, so that numbers still increase if the store lost the last number.
    const last = count?.value ?? 0;
    const first = Math.max(now, last + 1);
    const set = changes.map((change, i): Put => {
      const value: Logged = { ...change, after: i === 0 ? last : first + i - 1 };
      return { key: watchedKey("change", first + i), value, expires: now + CHANGE_LIFETIME_MS };
    });
    return await this.#store.commit({
      check: [{ key: LAST_NUMBER_KEY, version: count?.version ?? null }],
      set: [{ key: LAST_NUMBER_KEY, value: first + changes.length - 1 }, ...set],
    });
  }

  #list(after: number, limit: number): Promise<Entry<Logged>[]> {
    return this.#store.list<Logged>(watchedKey("change"), { after: watchedKey("change", after), limit });
  }

  /** Reads page by page what the listeners have not got. */
  async #readAll(): Promise<void> {
    this.#readsAgain = true;
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#readsAgain && this.#listeners.size > 0) {
        this.#readsAgain = false;
        await this.#readPage();
      }
    } catch {
      // The store is unavailable: the next read gets what this one missed.
    }
    this.#isReading = false;
  }

  async #readPage(): Promise<void> {
    const newListeners = [...this.#listeners].filter(({ after }) => after === undefined);
    if (newListeners.length > 0) {
      const position = Number(await this.latestPosition());
      for (const listener of newListeners) listener.after = position;
    }
    let from = Infinity;
    for (const { after = Infinity } of this.#listeners) from = Math.min(from, after);
    if (from === Infinity) return;
    const page = await this.#list(from, PAGE_SIZE);
    for (const { key, value: { after: _, ...change } } of page) {
      const number = key[2] as number;
      const logged = { position: String(number), change };
      for (const listener of this.#listeners) {
        if (listener.after === undefined || listener.after >= number) continue;
        listener.after = number;
        listener.onChange(logged);
      }
    }
    if (page.length === PAGE_SIZE) this.#readsAgain = true;
  }
}
