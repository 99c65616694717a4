/**
 * Word of what changed, from any instance to any stream: `list_changed` and `resources/updated`. A short log in the
 * store is both the bus and the memory of clients that come back; its keys are times, so a place in it is an event id.
 *
 * @module
 */
import { randomId } from "../crypto/secret.ts";
import type { Entry, Key, Store } from "../store/store.ts";
import { type Wakeups, wakingKey } from "./wakeups.ts";

/** What changed: a list, or the resource at a URI. */
export type Change =
  | { readonly kind: "tools" | "resources" | "prompts" }
  | { readonly kind: "resource"; readonly uri: string };

/** A change, and the place behind it in the log. */
export interface PlacedChange {
  readonly place: string;
  readonly change: Change;
}

/** Milliseconds that a change is kept for clients that come back. */
const LIFETIME = 5 * 60_000;
/** How often to look without being woken, in milliseconds. */
const LOOK_EVERY = 15_000;
/** Clocks of instances may differ by this much, in milliseconds. */
const SKEW = 2_000;
/** Changes that are remembered as told. */
const REMEMBERED = 1000;

/** What no id comes before: a place is before all changes of its millisecond. */
const FIRST = "-".repeat(22);
const PLACE = /^\d{1,15}(?:\.\d{1,4})?-[A-Za-z0-9_-]{22}$/;

/** Whether an event id is a place in the log. */
export function isPlace(id: string): boolean {
  return PLACE.test(id);
}

export class Changes {
  readonly #store: Store;
  readonly #wakeups: Wakeups;
  readonly #now: () => number;
  readonly #listeners = new Set<(change: PlacedChange) => void>();
  #stop: (() => void) | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #told = new Set<string>();
  #since = 0;
  #last = 0;

  constructor(store: Store, wakeups: Wakeups, now: () => number) {
    this.#store = store;
    this.#wakeups = wakeups;
    this.#now = now;
  }

  /** Tells every stream of every instance. */
  async tell(change: Change): Promise<void> {
    // Changes of one instance keep their order within a millisecond.
    this.#last = Math.max(this.#now(), this.#last + 0.001);
    const key = wakingKey("change", this.#last, randomId(""));
    await this.#store.commit({ set: [{ key, value: change, expires: this.#now() + LIFETIME }] });
  }

  /** Hears of changes from now on; gives the function that ends it. */
  listen(listener: (change: PlacedChange) => void): () => void {
    this.#listeners.add(listener);
    if (!this.#stop) {
      this.#since = this.#now() - SKEW;
      this.#stop = this.#wakeups.listen(["change"], (key) => key ? this.#read(key) : this.#look());
      this.#timer = setInterval(() => this.#look(), LOOK_EVERY);
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#stop?.();
      this.#stop = undefined;
      clearInterval(this.#timer);
    };
  }

  /** Where the log is now: for a stream that begins. */
  place(): string {
    return `${this.#now()}-${FIRST}`;
  }

  /** What changed after a place; at most a thousand. */
  async since(place: string): Promise<PlacedChange[]> {
    const [at, id] = split(place);
    const entries = await this.#store.list<Change>(wakingKey("change"), {
      after: wakingKey("change", at, id),
      limit: REMEMBERED,
    });
    return entries.map(toPlaced);
  }

  async #read(key: Key): Promise<void> {
    const entry = await this.#store.get<Change>(key).catch(() => undefined);
    if (entry) this.#hand(entry);
  }

  /** Nobody said what changed, or word was lost: reads the end of the log. */
  async #look(): Promise<void> {
    const entries = await this.#store.list<Change>(wakingKey("change"), {
      after: wakingKey("change", this.#since),
      limit: REMEMBERED,
    }).catch(() => []);
    for (const entry of entries) this.#hand(entry);
    this.#since = Math.max(this.#since, this.#now() - LOOK_EVERY - SKEW);
  }

  #hand(entry: Entry<Change>): void {
    const placed = toPlaced(entry);
    if (this.#told.has(placed.place)) return;
    if (this.#told.size >= REMEMBERED) this.#told.clear();
    this.#told.add(placed.place);
    for (const listener of this.#listeners) listener(placed);
  }
}

function toPlaced({ key, value }: Entry<Change>): PlacedChange {
  return { place: `${key[2]}-${key[3]}`, change: value };
}

function split(place: string): [number, string] {
  const dash = place.indexOf("-");
  return [Number(place.slice(0, dash)), place.slice(dash + 1)];
}
