/**
 * What a stream of a session carried, kept for a client that lost its connection, on whichever instance it comes back
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery). Only streams
 * are kept, never answers that are one JSON text; and the instance that writes one says every few seconds that it is
 * there, so that one which will never end is not waited for.
 *
 * @module
 */
import { randomId } from "../../crypto/secret.ts";
import type { Entry, Key, Put, Store } from "../../store/store.ts";
import { patiently } from "./patiently.ts";
import { RECORD_BYTES, type StorageAllowance, type Storing } from "./storage_limits.ts";
import { passOver, type Wakeups, wakingKey } from "./wakeups.ts";

/** A message of a stream. The last one has `end`. */
interface LoggedEvent {
  readonly json?: string;
  readonly end?: true;
}

export interface EventLogOptions {
  readonly store: Store;
  readonly wakeups: Wakeups;
  readonly now: () => number;
  /** Milliseconds that an event is kept for. */
  readonly lifetime: number;
  readonly storage: StorageAllowance;
}

/** The writer's word that it lives is good for so long, and given this often, in milliseconds. */
const LEASE = 15_000;
const RENEW_EVERY = 5_000;
/** How long a reader waits on after that: where the store itself was away, the word of a live writer is on its way. */
const GRACE = 6_000;
/** How often a reader looks without being woken, in milliseconds. */
const LOOK_EVERY = 2_000;
/** No store is away for so long, in milliseconds: what a writer could not keep by then, it gives up. */
const FOR_LONG = 60_000;
/** Events that are written together, and those that may wait for it before their maker has to. */
const PAGE = 50;
const MOST_UNWRITTEN = 500;

const EVENT_ID = /^([A-Za-z0-9_-]{1,40})\.(\d{1,9})$/;

/** The stream and the number of an event, from `Last-Event-ID`. */
export function readEventId(id: string): { readonly stream: string; readonly sequence: number } | undefined {
  const match = EVENT_ID.exec(id);
  return match ? { stream: match[1]!, sequence: Number(match[2]) } : undefined;
}

/** Who writes a stream, and until when it surely lives. `request` is the JSON text of a request id. */
interface Lease {
  readonly request: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Writes one stream of a session. Its event ids are `<stream>.<number>`. */
export class LogWriter {
  readonly stream: string = randomId("");
  /** Resolves when the stream can be found by whoever comes back, or the store could not keep it this time. */
  readonly begun: Promise<void>;
  readonly #options: EventLogOptions;
  readonly #session: string;
  readonly #request: string;
  #sequence = 0;
  #unwritten: Put[] = [];
  #writing: Promise<void> | undefined;
  #timer: ReturnType<typeof setInterval>;
  readonly #storing: Storing;
  #isFull = false;

  /** @param request the JSON text of the id of the request that the stream answers */
  constructor(options: EventLogOptions, session: string, request: string, storing: Storing) {
    this.#options = options;
    this.#storing = storing;
    this.#session = session;
    this.#request = request;
    const begun = Promise.withResolvers<void>();
    this.begun = begun.promise;
    this.#unwritten.push(this.#lease());
    this.#writing = this.#write(begun.resolve);
    this.#timer = setInterval(() => {
      options.store.commit({ set: [this.#lease()] }).catch(() => {});
    }, RENEW_EVERY);
  }

  /** The id of the event that comes before all others. */
  get firstId(): string {
    return `${this.stream}.0`;
  }

  /** The caller may not have more stored: nothing is kept from now on. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Keeps a message; its event id, or `undefined` where it is not kept. Events are written in their order. */
  append(json: string): string | undefined {
    return this.#add({ json });
  }

  /** Keeps the last message, if there is one: whoever follows knows that nothing else comes. */
  end(json?: string): string | undefined {
    clearInterval(this.#timer);
    return this.#add(json === undefined ? { end: true } : { json, end: true });
  }

  /** Resolves when all that was appended is kept. */
  written(): Promise<void> {
    return this.#writing ?? Promise.resolve();
  }

  /** Resolves when more may be appended: at once, unless the store is slower than who appends. */
  room(): Promise<void> {
    return this.#unwritten.length < MOST_UNWRITTEN ? Promise.resolve() : this.written();
  }

  #lease(lease = LEASE): Put {
    const now = this.#options.now();
    return {
      key: leaseKey(this.#session, this.stream),
      value: { request: this.#request, until: now + lease },
      expires: now + this.#options.lifetime,
    };
  }

  #add(value: LoggedEvent): string | undefined {
    const { now, lifetime, storage } = this.#options;
    const bytes = RECORD_BYTES + (value.json?.length ?? 0);
    if (this.#isFull || !storage.has(this.#storing, bytes, lifetime)) {
      if (!this.#isFull) this.#giveUp();
      return undefined;
    }
    const sequence = ++this.#sequence;
    this.#unwritten.push({
      key: eventKey(this.#session, this.stream, sequence),
      value,
      expires: now() + lifetime,
    });
    this.#writing ??= this.#write();
    return `${this.stream}.${sequence}`;
  }

  /** Whoever comes back is told at once that the rest is lost. */
  #giveUp(): void {
    this.#isFull = true;
    clearInterval(this.#timer);
    this.#unwritten.push(this.#lease(-FOR_LONG - 1));
    this.#writing ??= this.#write();
  }

  async #write(tried: () => void = () => {}): Promise<void> {
    const { store } = this.#options;
    while (this.#unwritten.length > 0) {
      const set = this.#unwritten.slice(0, PAGE);
      // The client in front gets it in any case; when it is given up, who comes back later misses it.
      await patiently(() => store.commit({ set }), tried).catch(() => {});
      this.#unwritten = this.#unwritten.slice(set.length);
    }
    this.#writing = undefined;
  }
}

export interface Followed {
  /** Event id. */
  readonly id: string;
  readonly json: string;
}

/**
 * What a stream carried after an event, and what it goes on to carry until it ends or `signal` aborts. `undefined` when
 * nothing is left of it, or the session has no such stream, or it is forgotten. A stream whose writer is gone ends with
 * the JSON that `lost` makes of the request's id.
 */
export async function follow(
  { store, wakeups, now }: EventLogOptions,
  session: string,
  { stream, sequence }: { readonly stream: string; readonly sequence: number },
  signal: AbortSignal,
  lost: (request: string) => string,
): Promise<AsyncGenerator<Followed> | undefined> {
  const prefix = eventKey(session, stream);
  const readLease = () => store.get<Lease>(leaseKey(session, stream));
  const lease = await readLease();
  if (!lease || await isOver()) return undefined;
  const { request } = lease.value;

  async function isOver(): Promise<boolean> {
    const rest = { after: eventKey(session, stream, sequence), limit: 1 };
    const [next] = await store.list<LoggedEvent>(prefix, rest);
    if (next) return next.value.end === true && next.value.json === undefined;
    const seen = await store.get<LoggedEvent>(eventKey(session, stream, sequence));
    return seen?.value.end === true;
  }

  async function* events(): AsyncGenerator<Followed> {
    let after = sequence;
    let changed = (): void => {};
    const wake = (): void => changed();
    const stop = wakeups.listen(["event", session, stream], wake);
    signal.addEventListener("abort", wake);
    /** When the writer was first found silent, in milliseconds of this machine. */
    let silent: number | undefined;
    try {
      while (!signal.aborted) {
        const woken = new Promise<void>((resolve) => changed = resolve);
        const look = async (): Promise<[Entry<LoggedEvent>[], Entry<Lease> | undefined]> => [
          // With the last one that is known: it may have been told before it was kept, and have been the end.
          await store.list<LoggedEvent>(prefix, { after: eventKey(session, stream, after - 1) }),
          await readLease(),
        ];
        // A store that fails for a moment has told nothing.
        const found = await look().catch(passOver);
        const known = after;
        for (const { key, value } of found?.[0] ?? []) {
          const number = key.at(-1) as number;
          if (number > known && value.json !== undefined) {
            yield { id: `${stream}.${number}`, json: value.json };
          }
          if (value.end) return;
          after = number;
        }
        if (after > known) continue;
        const late = found ? now() - (found[1]?.value.until ?? 0) : 0;
        silent = late <= 0 ? undefined : silent ?? performance.now();
        if (silent !== undefined && (late > FOR_LONG || performance.now() - silent >= GRACE)) {
          yield { id: `${stream}.${after + 1}`, json: lost(request) };
          return;
        }
        let timer: ReturnType<typeof setTimeout> | undefined;
        const time = new Promise<void>((resolve) => timer = setTimeout(resolve, LOOK_EVERY));
        await Promise.race([woken, time]);
        clearTimeout(timer);
      }
    } finally {
      stop();
      signal.removeEventListener("abort", wake);
    }
  }
  return events();
}

function eventKey(session: string, stream: string, sequence?: number): Key {
  return sequence === undefined
    ? wakingKey("event", session, stream)
    : wakingKey("event", session, stream, sequence);
}

function leaseKey(session: string, stream: string): Key {
  return ["mcp_lease", session, stream];
}
