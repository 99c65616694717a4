/**
 * Logs the events of a session's streams in the store, so that a client can resume a stream on any instance
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery). The instance that
 * writes a stream renews a lease: when the lease ends, readers end the stream with an error.
 *
 * @module
 */
import { randomId } from "../../crypto/secret.ts";
import type { Principal } from "../../http/principal.ts";
import type { Entry, Key, Put, Store } from "../../store/store.ts";
import { LEASE_GRACE_MS, LEASE_MS, LEASE_RENEWAL_MS } from "../lease.ts";
import { isOwner, ownerOf } from "./principal_key.ts";
import { ignoreUnavailable, MAX_STORE_OUTAGE_MS, retryWhileUnavailable } from "../../store/retry.ts";
import { type Caller, RECORD_BYTES, type StorageAllowance } from "./storage_limits.ts";
import { type Wakeups, watchedKey } from "./wakeups.ts";

/** A message of a stream. The last event has `end`. */
interface LoggedEvent {
  readonly json?: string;
  readonly end?: true;
}

export interface EventLogOptions {
  readonly store: Store;
  readonly wakeups: Wakeups;
  readonly now: () => number;
  /** How long an event is kept, in milliseconds. */
  readonly lifetime: number;
  readonly storage: StorageAllowance;
}

/** How often a reader polls, beside being woken by the watch of the store. */
const POLL_INTERVAL_MS = 2_000;
/** Events that are written in one commit. */
const MAX_COMMIT_EVENTS = 50;
/** Events that wait to be written before `waitUntilWritable()` waits. */
const MAX_UNWRITTEN_EVENTS = 500;

const EVENT_ID = /^([A-Za-z0-9_-]{1,40})\.(\d{1,9})$/;

/** The stream and number of an event id; `undefined` for an id of another kind. */
export function parseEventId(id: string): { readonly stream: string; readonly sequence: number } | undefined {
  const match = EVENT_ID.exec(id);
  return match ? { stream: match[1]!, sequence: Number(match[2]) } : undefined;
}

/** Held by the writer of a stream. `request` is the JSON text of a request id. */
interface Lease {
  readonly request: string;
  /** The caller, where it had a token: the session may be one without. */
  readonly owner?: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Writes the log of one stream of a session. Its event ids are `<stream>.<number>`. */
export class LogWriter {
  readonly stream: string = randomId("");
  /** Resolves when the stream can be resumed, or the first attempt to store it has failed. */
  readonly started: Promise<void>;
  readonly #options: EventLogOptions;
  readonly #session: string;
  readonly #request: string;
  #sequence = 0;
  #unwritten: Put[] = [];
  #writing: Promise<void> | undefined;
  #timer: ReturnType<typeof setInterval>;
  readonly #caller: Caller;
  #isFull = false;

  /** @param request the JSON text of the id of the request that the stream answers */
  constructor(options: EventLogOptions, session: string, request: string, caller: Caller) {
    this.#options = options;
    this.#caller = caller;
    this.#session = session;
    this.#request = request;
    const started = Promise.withResolvers<void>();
    this.started = started.promise;
    this.#unwritten.push(this.#lease());
    this.#writing = this.#write(started.resolve);
    this.#timer = setInterval(() => {
      options.store.commit({ set: [this.#lease()] }).catch(() => {});
    }, LEASE_RENEWAL_MS);
  }

  /** The event id before the first event. */
  get firstId(): string {
    return `${this.stream}.0`;
  }

  /** Whether the caller reached its storage limit. Nothing is logged from then on. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Logs a message. Returns its event id; `undefined` when it is not logged. Events are stored in order. */
  append(json: string): string | undefined {
    return this.#add({ json });
  }

  /** Logs the end of the stream, with the last message if there is one. */
  end(json?: string): string | undefined {
    clearInterval(this.#timer);
    return this.#add(json === undefined ? { end: true } : { json, end: true });
  }

  /** Resolves when all events are stored. */
  written(): Promise<void> {
    return this.#writing ?? Promise.resolve();
  }

  /** Resolves when more may be appended: at once, unless the store is slower than the caller. */
  waitUntilWritable(): Promise<void> {
    return this.#unwritten.length < MAX_UNWRITTEN_EVENTS ? Promise.resolve() : this.written();
  }

  #lease(durationMs = LEASE_MS): Put {
    const now = this.#options.now();
    const owner = ownerOf(this.#caller.principal);
    return {
      key: leaseKey(this.#session, this.stream),
      value: { request: this.#request, ...(owner !== "" && { owner }), until: now + durationMs },
      expires: now + this.#options.lifetime,
    };
  }

  #add(value: LoggedEvent): string | undefined {
    const { now, lifetime, storage } = this.#options;
    const bytes = RECORD_BYTES + (value.json?.length ?? 0);
    if (this.#isFull || !storage.tryTake(this.#caller, bytes, lifetime)) {
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

  /** A client that resumes learns at once that the rest is lost. */
  #giveUp(): void {
    this.#isFull = true;
    clearInterval(this.#timer);
    this.#unwritten.push(this.#lease(-MAX_STORE_OUTAGE_MS - 1));
    this.#writing ??= this.#write();
  }

  async #write(onAttempt: () => void = () => {}): Promise<void> {
    const { store } = this.#options;
    while (this.#unwritten.length > 0) {
      const set = this.#unwritten.slice(0, MAX_COMMIT_EVENTS);
      // The connected client has the event in any case; a client that resumes may miss it.
      await retryWhileUnavailable(() => store.commit({ set }), onAttempt).catch(() => {});
      this.#unwritten = this.#unwritten.slice(set.length);
    }
    this.#writing = undefined;
  }
}

export interface ReplayedEvent {
  /** Event id. */
  readonly id: string;
  readonly json: string;
}

/**
 * The events of a stream after `sequence`, and those to come until it ends or `signal` aborts. `undefined` when no events
 * are left, the session has no such stream of this caller, or it has expired. When the writer's lease ends, the last event is the JSON text
 * that `lost` returns for the request's id.
 */
export async function replayStream(
  { store, wakeups, now }: EventLogOptions,
  session: string,
  principal: Principal | undefined,
  { stream, sequence }: { readonly stream: string; readonly sequence: number },
  signal: AbortSignal,
  lost: (request: string) => string,
): Promise<AsyncGenerator<ReplayedEvent> | undefined> {
  const prefix = eventKey(session, stream);
  const readLease = () => store.get<Lease>(leaseKey(session, stream));
  const lease = await readLease();
  if (!lease || !isOwner(lease.value.owner ?? "", principal) || await hasEnded()) return undefined;
  const { request } = lease.value;

  async function hasEnded(): Promise<boolean> {
    const rest = { after: eventKey(session, stream, sequence), limit: 1 };
    const [next] = await store.list<LoggedEvent>(prefix, rest);
    if (next) return next.value.end === true && next.value.json === undefined;
    const seen = await store.get<LoggedEvent>(eventKey(session, stream, sequence));
    return seen?.value.end === true;
  }

  async function* events(): AsyncGenerator<ReplayedEvent> {
    let after = sequence;
    let onWake = (): void => {};
    const wake = (): void => onWake();
    const stop = wakeups.listen(["event", session, stream], wake);
    signal.addEventListener("abort", wake);
    /** When the lease was first found ended, on this machine's clock, in milliseconds. */
    let endedSince: number | undefined;
    try {
      while (!signal.aborted) {
        const woken = new Promise<void>((resolve) => onWake = resolve);
        const read = async (): Promise<[Entry<LoggedEvent>[], Entry<Lease> | undefined]> => [
          // From the last known event on: the client may have received it before it was stored, and it may be the end.
          await store.list<LoggedEvent>(prefix, { after: eventKey(session, stream, after - 1) }),
          await readLease(),
        ];
        const found = await read().catch(ignoreUnavailable);
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
        const lateMs = found ? now() - (found[1]?.value.until ?? 0) : 0;
        endedSince = lateMs <= 0 ? undefined : endedSince ?? performance.now();
        const isLost = endedSince !== undefined &&
          (lateMs > MAX_STORE_OUTAGE_MS || performance.now() - endedSince >= LEASE_GRACE_MS);
        if (isLost) {
          yield { id: `${stream}.${after + 1}`, json: lost(request) };
          return;
        }
        let timer: ReturnType<typeof setTimeout> | undefined;
        const time = new Promise<void>((resolve) => timer = setTimeout(resolve, POLL_INTERVAL_MS));
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
    ? watchedKey("event", session, stream)
    : watchedKey("event", session, stream, sequence);
}

function leaseKey(session: string, stream: string): Key {
  return ["mcp_lease", session, stream];
}
