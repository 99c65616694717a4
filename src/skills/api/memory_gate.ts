/**
 * Limits the memory of all uploads of one process, or of all its requests for messages. Each reserves memory before its body
 * is read, so that concurrent ones wait instead of exhausting memory. The next one comes from the caller that holds the least
 * memory, in order of arrival; no caller with several holds more than half. A caller that sends many or slow ones delays only
 * itself.
 *
 * An upload may need more memory when it unpacks an archive. A part of the memory is kept for these uploads: the first one
 * gets all that it needs, finishes, and frees it for the next, so that they never wait for each other forever.
 *
 * On workerd a promise of one request never settles for another, and an aborted request ends without notice. So waiters
 * also poll, and reservations expire.
 *
 * @module
 */
import { timerDelay } from "../../timer.ts";
import { SkillError } from "../error.ts";

export interface MemoryGate {
  /**
   * Waits for memory.
   * @param queue bytes of all that wait; unlimited by default
   * @param caller the key of the caller; by default a caller of its own
   * @throws {SkillError} 529 after the time limit, or when the queue is full
   */
  reserve(bytes: number, queue?: number, caller?: string): Promise<Reservation>;
}

export interface Reservation {
  /** Waits for more memory. Call it at most once. @throws {SkillError} 529 after the time limit */
  extend(bytes: number): Promise<void>;
  release(): void;
}

export interface GateOptions {
  /** The name of what reserves, in the message of a refusal. @default "uploads" */
  readonly what?: string;
  /** Bytes of all together. */
  readonly memory: number;
  /** The part of it that is kept for `extend`. */
  readonly kept: number;
  /** Milliseconds that one waits for memory. */
  readonly wait: number;
  /** Milliseconds after which a reservation expires. */
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

/** The share of memory and queue that one caller may hold with several. */
const CALLER_SHARE = 1 / 2;

/** How often a waiter polls, and when a waiter that stopped polling counts as gone. */
const POLL_INTERVAL_MS = 100;
const WAITER_TIMEOUT_MS = 2000;
/** `retry-after` of a refusal. */
const RETRY_AFTER_SECONDS = 5;

export function createMemoryGate(
  { what = "uploads", memory, kept, wait, life }: GateOptions,
): MemoryGate {
  const now = (): number => performance.now();
  /** In order of arrival, which is also the order of expiry. */
  const places = new Set<Place>();
  const inside = new Set<Waiter>();
  const outside = new Set<Waiter>();
  let held = 0;
  const heldBy = new Map<Caller, number>();
  /** The next waiter; `null` when it must be determined again. */
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

  /** The next waiter: the first of `inside`, else the first waiter of the caller that holds the least. */
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

  /** Waits for its turn, and until all reservations stay within `most`. */
  async function queueUp(queue: Set<Waiter>, caller: Caller, bytes: number, most: number): Promise<void> {
    const me: Waiter = { bytes, caller, seen: now(), wake() {} };
    const until = me.seen + wait;
    queue.add(me);
    next = null;
    try {
      for (;;) {
        me.seen = now();
        sweep();
        // It polled too late and was removed: back to the end of the queue.
        if (!queue.has(me)) {
          queue.add(me);
          next = null;
        }
        if (findNext() === me && held + bytes <= most) return count(caller, bytes);
        if (now() >= until) throw overloaded(what);
        await sleep(me, Math.min(POLL_INTERVAL_MS, until - now()));
      }
    } finally {
      queue.delete(me);
      next = null;
      wakeNext();
    }
  }

  /** Whether the queue has space for so many bytes more, in total and of one caller. */
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
      if (queue < Infinity && mustWait && !mayWait(caller, bytes, queue)) throw overloaded(what);
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

function overloaded(what: string): SkillError {
  return new SkillError(
    "overloaded_error",
    `Too many ${what} at the same time. Try again later.`,
    {
      status: 529,
      fields: [["retry-after", String(RETRY_AFTER_SECONDS)]],
    },
  );
}
