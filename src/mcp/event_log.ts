/**
 * What a stream of a session carried, kept for a client that lost its connection, on whichever instance it comes back
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery). Only streams
 * are kept, never answers that are one JSON text; and the instance that writes one says every few seconds that it is
 * there, so that one which will never end is not waited for.
 *
 * @module
 */
import { randomId } from "../crypto/secret.ts";
import type { Key, Store } from "../store/store.ts";
import { type Wakeups, wakingKey } from "./wakeups.ts";

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
}

/** The writer's word that it lives is good for so long, and given this often, in milliseconds. */
const LEASE = 20_000;
const RENEW_EVERY = 7_000;

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
  readonly #options: EventLogOptions;
  readonly #session: string;
  #sequence = 0;
  #timer: ReturnType<typeof setInterval>;
  #last: Promise<unknown>;

  /** @param request the JSON text of the id of the request that the stream answers */
  constructor(options: EventLogOptions, session: string, request: string) {
    this.#options = options;
    this.#session = session;
    const renew = (): Promise<unknown> =>
      options.store.commit({
        set: [{
          key: leaseKey(session, this.stream),
          value: { request, until: options.now() + LEASE },
          expires: options.now() + options.lifetime,
        }],
      }).catch(() => {});
    this.#last = renew();
    this.#timer = setInterval(renew, RENEW_EVERY);
  }

  /** The id of the event that comes before all others. */
  get firstId(): string {
    return `${this.stream}.0`;
  }

  /** Keeps a message; its event id. Events are written one after the other. */
  append(json: string): string {
    return this.#write({ json });
  }

  /** Resolves when all that was appended is kept. */
  written(): Promise<unknown> {
    return this.#last;
  }

  /** Keeps the last message, if there is one: whoever follows knows that nothing else comes. */
  end(json?: string): string {
    clearInterval(this.#timer);
    return this.#write(json === undefined ? { end: true } : { json, end: true });
  }

  #write(value: LoggedEvent): string {
    const { store, now, lifetime } = this.#options;
    const sequence = ++this.#sequence;
    const key = eventKey(this.#session, this.stream, sequence);
    this.#last = this.#last.then(() => store.commit({ set: [{ key, value, expires: now() + lifetime }] }))
      // The client in front still gets it; only who comes back later misses it.
      .catch(() => {});
    return `${this.stream}.${sequence}`;
  }
}

export interface Followed {
  /** Event id. */
  readonly id: string;
  readonly json: string;
}

/**
 * What a stream carried after an event, and what it goes on to carry until it ends or `signal` aborts. `undefined` when
 * nothing is left of it, or the session has no such stream, or it is forgotten. A stream whose writer is gone ends with the JSON that
 * `lost` makes of the request's id.
 */
export async function follow(
  { store, wakeups, now }: EventLogOptions,
  session: string,
  { stream, sequence }: { readonly stream: string; readonly sequence: number },
  signal: AbortSignal,
  lost: (request: string) => string,
): Promise<AsyncGenerator<Followed> | undefined> {
  let changed = (): void => {};
  const stop = wakeups.listen(["event", session, stream], () => changed());
  signal.addEventListener("abort", () => changed(), { once: true });
  let lease = await store.get<Lease>(leaseKey(session, stream));
  if (!lease || await isOver()) {
    stop();
    return undefined;
  }
  const { request } = lease.value;

  async function isOver(): Promise<boolean> {
    const rest = { after: eventKey(session, stream, sequence), limit: 1 };
    const [next] = await store.list<LoggedEvent>(eventKey(session, stream), rest);
    if (next) return next.value.end === true && next.value.json === undefined;
    const seen = await store.get<LoggedEvent>(eventKey(session, stream, sequence));
    return seen?.value.end === true;
  }

  async function* events(): AsyncGenerator<Followed> {
    let after = sequence;
    try {
      while (!signal.aborted) {
        const woken = new Promise<void>((resolve) => changed = resolve);
        const page = await store.list<LoggedEvent>(eventKey(session, stream), {
          after: eventKey(session, stream, after),
        });
        for (const { key, value } of page) {
          after = key.at(-1) as number;
          if (value.json !== undefined) yield { id: `${stream}.${after}`, json: value.json };
          if (value.end) return;
        }
        if (page.length > 0) continue;
        if (!lease || lease.value.until < now()) {
          yield { id: `${stream}.${after + 1}`, json: lost(request) };
          return;
        }
        let timer: ReturnType<typeof setTimeout> | undefined;
        await Promise.race([woken, new Promise<void>((resolve) => timer = setTimeout(resolve, RENEW_EVERY))]);
        clearTimeout(timer);
        lease = await store.get<Lease>(leaseKey(session, stream));
      }
    } finally {
      stop();
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
