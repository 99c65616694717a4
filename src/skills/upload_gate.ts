/**
 * How many bytes the uploads of one process may hold together: each has room set aside before its body is read, in the
 * order of arrival, so that a thousand of them at once take turns and not a thousand times their size.
 *
 * Whoever is inside may need more (an archive unpacks), and would wait for others who wait as well. So a part of the
 * room is kept for those inside: who gets some of it has all that he needs, ends, and makes room for the next.
 *
 * On workerd nobody hears a promise that another request settles, and a request that is cut off ends without a word.
 * So whoever waits also looks by himself now and then, and what nobody gave back is taken back after a while.
 *
 * @module
 */
import { SkillError } from "./error.ts";

export interface UploadGate {
  /**
   * Waits for room.
   * @param queue bytes of all that may wait together, where waiting has its cost as well
   * @throws {SkillError} 529 when that takes too long, or too many wait
   */
  enter(bytes: number, queue?: number): Promise<GatePlace>;
}

export interface GatePlace {
  /** Waits for more room. To be called once. @throws {SkillError} 529 when that takes too long */
  extend(bytes: number): Promise<void>;
  leave(): void;
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

interface Place {
  bytes: number;
  readonly until: number;
}

interface Waiter {
  readonly bytes: number;
  seen: number;
  wake(): void;
}

/** How often a waiter looks by himself, in milliseconds, and after how long without a look he is gone. */
const LOOK = 100;
const GONE = 2000;
/** What a client that was turned away should wait, in seconds. */
const RETRY_AFTER = 5;

export function createUploadGate({ memory, kept, wait, life }: GateOptions): UploadGate {
  const now = (): number => performance.now();
  /** In the order of their coming, which is the order of their ends as well. */
  const places = new Set<Place>();
  const inside = new Set<Waiter>();
  const outside = new Set<Waiter>();
  let held = 0;

  function free(place: Place): void {
    if (!places.delete(place)) return;
    held -= place.bytes;
    wakeNext();
  }

  function wakeNext(): void {
    (first(inside) ?? first(outside))?.wake();
  }

  function sweep(): void {
    for (const place of places) {
      if (place.until > now()) break;
      free(place);
    }
    for (const queue of [inside, outside]) {
      for (const waiter of queue) {
        if (waiter.seen > now() - GONE) break;
        queue.delete(waiter);
      }
    }
  }

  /** Waits until it is this one's turn and there is room under `most`. */
  async function queueUp(queue: Set<Waiter>, bytes: number, most: number): Promise<void> {
    const me: Waiter = { bytes, seen: now(), wake() {} };
    const until = me.seen + wait;
    queue.add(me);
    try {
      for (;;) {
        me.seen = now();
        sweep();
        // Whoever did not come to look in time was taken for gone, and is the last now.
        queue.add(me);
        const isNext = first(queue) === me && (queue === inside || inside.size === 0);
        if (isNext && held + bytes <= most) {
          held += bytes;
          return;
        }
        if (now() >= until) throw overloaded();
        await nap(me, Math.min(LOOK, until - now()));
      }
    } finally {
      queue.delete(me);
      wakeNext();
    }
  }

  return {
    async enter(asked, queue = Infinity) {
      const bytes = Math.min(asked, memory - kept);
      if (queue < Infinity && held + bytes > memory - kept) {
        let waiting = bytes;
        for (const waiter of outside) waiting += waiter.bytes;
        if (waiting > queue) throw overloaded();
      }
      await queueUp(outside, bytes, memory - kept);
      const place: Place = { bytes, until: now() + life };
      places.add(place);
      return {
        async extend(asked) {
          const more = Math.min(asked, kept);
          await queueUp(inside, more, memory);
          if (places.has(place)) place.bytes += more;
          else held -= more;
        },
        leave: () => free(place),
      };
    },
  };
}

function first<Value>(set: ReadonlySet<Value>): Value | undefined {
  return set.values().next().value;
}

async function nap(waiter: Waiter, time: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  await new Promise<void>((resolve) => {
    waiter.wake = resolve;
    timer = setTimeout(resolve, time);
  });
  clearTimeout(timer);
}

function overloaded(): SkillError {
  return new SkillError(
    "overloaded_error",
    "The server takes in as many uploads as it can: try again in a moment",
    {
      status: 529,
      fields: [["retry-after", String(RETRY_AFTER)]],
    },
  );
}
