/**
 * How many bytes the uploads of one process may hold together: each has room set aside before its body is read, so that
 * a thousand of them at once take turns and not a thousand times their size. The next one in is of the caller who holds
 * the least, and of those the one that came first; no caller holds more than half of the room with several uploads. So
 * who sends many, or slowly, makes himself wait and not the others.
 *
 * Whoever is inside may need more (an archive unpacks), and would wait for others who wait as well. So a part of the
 * room is kept for those inside: who gets some of it has all that he needs, ends, and makes room for the next.
 *
 * On workerd nobody hears a promise that another request settles, and a request that is cut off ends without a word.
 * So whoever waits also looks by himself now and then, and what nobody gave back is taken back after a while.
 *
 * @module
 */
import { timerDelay } from "../../http/timer.ts";
import { SkillError } from "../error.ts";

export interface UploadGate {
  /**
   * Waits for room.
   * @param queue bytes of all that may wait together, where waiting has its cost as well
   * @param caller who sends it; one of his own where it is left out
   * @throws {SkillError} 529 when that takes too long, or too many wait
   */
  reserve(bytes: number, queue?: number, caller?: string): Promise<Reservation>;
}

export interface Reservation {
  /** Waits for more room. To be called once. @throws {SkillError} 529 when that takes too long */
  extend(bytes: number): Promise<void>;
  release(): void;
}

export interface GateOptions {
  /** Bytes of all uploads together. */
  readonly memory: number;
  /** Bytes of them that are kept for uploads which are inside. */
  readonly kept: number;
  /** Milliseconds for which an upload waits for room. */
  readonly wait: number;
  /** Milliseconds after which an upload that has not left has gone without a word. */
  readonly life: number;
}

type Caller = string | symbol;

interface Place {
  bytes: number;
  readonly caller: Caller;
  readonly until: number;
}

interface Waiter {
  readonly bytes: number;
  readonly caller: Caller;
  seen: number;
  wake(): void;
}

/** Of the room and of the queue: what one caller may have of it with several uploads. */
const CALLER_SHARE = 1 / 2;

/** How often a waiter looks by himself, in milliseconds, and after how long without a look he is gone. */
const POLL_INTERVAL_MS = 100;
const WAITER_TIMEOUT_MS = 2000;
/** What a client that was turned away should wait, in seconds. */
const RETRY_AFTER_SECONDS = 5;

export function createUploadGate({ memory, kept, wait, life }: GateOptions): UploadGate {
  const now = (): number => performance.now();
  /** In the order of their coming, which is the order of their ends as well. */
  const places = new Set<Place>();
  const inside = new Set<Waiter>();
  const outside = new Set<Waiter>();
  let held = 0;
  const heldBy = new Map<Caller, number>();
  /** Whose turn it is; `null` when that must be found anew. */
  let next: Waiter | undefined | null = null;

  function release(place: Place): void {
    if (!places.delete(place)) return;
    count(place.caller, -place.bytes);
    wakeNext();
  }

  function count(caller: Caller, bytes: number): void {
    held += bytes;
    const all = (heldBy.get(caller) ?? 0) + bytes;
    if (all > 0) heldBy.set(caller, all);
    else heldBy.delete(caller);
    next = null;
  }

  function isOverShare(caller: Caller, bytes: number): boolean {
    const mine = heldBy.get(caller) ?? 0;
    return mine > 0 && mine + bytes > CALLER_SHARE * (memory - kept);
  }

  /** Who comes next: inside the first of all, outside the first of the caller who holds the least. */
  function findNext(): Waiter | undefined {
    if (next !== null) return next;
    next = first(inside);
    if (next) return next;
    let least = Infinity;
    for (const waiter of outside) {
      const mine = heldBy.get(waiter.caller) ?? 0;
      if (mine >= least || isOverShare(waiter.caller, waiter.bytes)) continue;
      least = mine;
      next = waiter;
    }
    return next;
  }

  function wakeNext(): void {
    findNext()?.wake();
  }

  function sweep(): void {
    for (const place of places) {
      if (place.until > now()) break;
      release(place);
    }
    for (const queue of [inside, outside]) {
      for (const waiter of queue) {
        if (waiter.seen > now() - WAITER_TIMEOUT_MS) continue;
        queue.delete(waiter);
        next = null;
      }
    }
  }

  /** Waits until it is this one's turn and there is room under `most`. */
  async function queueUp(queue: Set<Waiter>, caller: Caller, bytes: number, most: number): Promise<void> {
    const me: Waiter = { bytes, caller, seen: now(), wake() {} };
    const until = me.seen + wait;
    queue.add(me);
    next = null;
    try {
      for (;;) {
        me.seen = now();
        sweep();
        // Whoever did not come to look in time was taken for gone, and is the last now.
        if (!queue.has(me)) {
          queue.add(me);
          next = null;
        }
        if (findNext() === me && held + bytes <= most) return count(caller, bytes);
        if (now() >= until) throw overloaded();
        await sleep(me, Math.min(POLL_INTERVAL_MS, until - now()));
      }
    } finally {
      queue.delete(me);
      next = null;
      wakeNext();
    }
  }

  /** Whether so many bytes more may wait, of all and of one caller. */
  function mayWait(caller: Caller, bytes: number, queue: number): boolean {
    let waiting = 0;
    let mine = 0;
    for (const waiter of outside) {
      waiting += waiter.bytes;
      if (waiter.caller === caller) mine += waiter.bytes;
    }
    return waiting + bytes <= queue && (mine === 0 || mine + bytes <= CALLER_SHARE * queue);
  }

  return {
    async reserve(asked, queue = Infinity, caller: Caller = Symbol()) {
      const bytes = Math.min(asked, memory - kept);
      const mustWait = held + bytes > memory - kept || isOverShare(caller, bytes);
      if (queue < Infinity && mustWait && !mayWait(caller, bytes, queue)) throw overloaded();
      await queueUp(outside, caller, bytes, memory - kept);
      const place: Place = { bytes, caller, until: now() + life };
      places.add(place);
      return {
        async extend(asked) {
          const more = Math.min(asked, kept);
          await queueUp(inside, caller, more, memory);
          if (places.has(place)) place.bytes += more;
          else count(caller, -more);
        },
        release: () => release(place),
      };
    },
  };
}

function first<Value>(set: ReadonlySet<Value>): Value | undefined {
  return set.values().next().value;
}

async function sleep(waiter: Waiter, time: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  await new Promise<void>((resolve) => {
    waiter.wake = resolve;
    timer = setTimeout(resolve, timerDelay(time));
  });
  clearTimeout(timer);
}

function overloaded(): SkillError {
  return new SkillError(
    "overloaded_error",
    "Too many uploads at the same time. Try again later.",
    {
      status: 529,
      fields: [["retry-after", String(RETRY_AFTER_SECONDS)]],
    },
  );
}
