/**
 * Word of what changed, from any instance to any stream: `list_changed` and `resources/updated`. A short log in the
 * store is both the bus and the memory of clients that come back. Its entries are numbered in the order of their
 * commits, so a number is an event id: behind it is what its reader has not seen, and nothing else.
 *
 * @module
 */
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import type { Key, Put, Store } from "../../store/store.ts";
import { areRequestsApart } from "../http/requests_apart.ts";
import { type Wakeups, wakingKey } from "../session/wakeups.ts";

/** What changed: a list, or the resource at a URI. */
export type Change =
  | { readonly kind: "tools" | "resources" | "prompts" }
  | { readonly kind: "resource"; readonly uri: string };

/** A change, and its place in the log. */
export interface PlacedChange {
  readonly place: string;
  readonly change: Change;
}

interface Listener {
  /** Number of the last change that it heard of; `undefined` until it is known where the log is. */
  after: number | undefined;
  readonly hear: (change: PlacedChange) => void;
}

/** Milliseconds that a change is kept for clients that come back. */
const LIFETIME = 5 * 60_000;
/** How often to look without being woken, in milliseconds. */
const LOOK_EVERY = 15_000;
/** Changes that are written or read at once. */
const PAGE = 100;
/** Number of the last change. */
const COUNT: Key = ["mcp_change_count"];

/** Whether an event id is a place in the log. */
export function isPlace(id: string): boolean {
  return /^\d{1,15}$/.test(id);
}

export class Changes {
  readonly #store: Store;
  readonly #wakeups: Wakeups;
  readonly #now: () => number;
  readonly #isAlone: boolean;
  readonly #listeners = new Set<Listener>();
  #stop: (() => void) | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isLooking = false;
  #looksAgain = false;
  #untold: Change[] = [];
  #next: Promise<void> | undefined;
  #telling: Promise<void> = Promise.resolve();

  /** @param isAlone serves one request */
  constructor(store: Store, wakeups: Wakeups, now: () => number, isAlone = false) {
    this.#store = store;
    this.#wakeups = wakeups;
    this.#now = now;
    this.#isAlone = isAlone;
  }

  /** Tells every stream of every instance. What is told while another is being told goes together. */
  tell(change: Change): Promise<void> {
    if (this.#isShared) return this.#alone().tell(change);
    this.#untold.push(change);
    if (!this.#next) {
      this.#next = this.#telling.then(() => {
        this.#next = undefined;
        return this.#write(this.#untold.splice(0));
      });
      this.#telling = this.#next.catch(() => {});
    }
    return this.#next;
  }

  /**
   * Hears of all changes after a place, or from now on, each once and in order. Gives the function that ends it.
   * Whoever must miss nothing asks for the {@linkcode place} first.
   */
  listen(hear: (change: PlacedChange) => void, place?: string): () => void {
    if (this.#isShared) return this.#alone().listen(hear, place);
    const listener = { hear, after: place === undefined ? undefined : Number(place) };
    this.#listeners.add(listener);
    if (!this.#stop) {
      this.#stop = this.#wakeups.listen(["change"], () => this.#look());
      this.#timer = setInterval(() => this.#look(), LOOK_EVERY);
    }
    this.#look();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#stop?.();
      this.#stop = undefined;
      clearInterval(this.#timer);
    };
  }

  /** Requests share this, and may not. */
  get #isShared(): boolean {
    return areRequestsApart() && !this.#isAlone;
  }

  #alone(): Changes {
    return new Changes(this.#store, this.#wakeups, this.#now, true);
  }

  /** Where the log is now. */
  async place(): Promise<string> {
    return String((await this.#store.get<number>(COUNT))?.value ?? 0);
  }

  async #write(changes: readonly Change[]): Promise<void> {
    for (let rest = changes; rest.length > 0; rest = rest.slice(PAGE)) {
      const page = rest.slice(0, PAGE);
      await retryLostRaces(async () => await this.#append(page) || LOST_RACE);
    }
  }

  /** `false` when another instance was first. */
  async #append(changes: readonly Change[]): Promise<boolean> {
    const count = await this.#store.get<number>(COUNT);
    const now = Math.floor(this.#now());
    // By the clock, so that numbers go on behind those that clients know if a store lost its count.
    const first = Math.max(now, (count?.value ?? 0) + 1);
    const set = changes.map((value, i): Put => ({
      key: wakingKey("change", first + i),
      value,
      expires: now + LIFETIME,
    }));
    return await this.#store.commit({
      check: [{ key: COUNT, version: count?.version ?? null }],
      set: [{ key: COUNT, value: first + changes.length - 1 }, ...set],
    });
  }

  /** Reads on from where the listeners are, one page after the other. */
  async #look(): Promise<void> {
    this.#looksAgain = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      while (this.#looksAgain && this.#listeners.size > 0) {
        this.#looksAgain = false;
        await this.#read();
      }
    } catch {
      // The store fails for a moment: the next look finds what was missed.
    }
    this.#isLooking = false;
  }

  async #read(): Promise<void> {
    const unplaced = [...this.#listeners].filter(({ after }) => after === undefined);
    if (unplaced.length > 0) {
      const place = Number(await this.place());
      for (const listener of unplaced) listener.after = place;
    }
    let from = Infinity;
    for (const { after = Infinity } of this.#listeners) from = Math.min(from, after);
    if (from === Infinity) return;
    const page = await this.#store.list<Change>(wakingKey("change"), {
      after: wakingKey("change", from),
      limit: PAGE,
    });
    for (const { key, value } of page) {
      const number = key[2] as number;
      const placed = { place: String(number), change: value };
      for (const listener of this.#listeners) {
        if (listener.after === undefined || listener.after >= number) continue;
        listener.after = number;
        listener.hear(placed);
      }
    }
    if (page.length === PAGE) this.#looksAgain = true;
  }
}
