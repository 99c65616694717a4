/**
 * `GET /mcp` of a session: the stream for messages that belong to no request, or the rest of a stream that is resumed
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server).
 *
 * @module
 */
import { randomId } from "../../crypto/secret.ts";
import { EventStream } from "../../http/event_stream.ts";
import type { Principal } from "../../http/principal.ts";
import { type Fields, respond } from "../../http/response.ts";
import { writeResponse } from "../../jsonrpc/message.ts";
import { writeNotification } from "../../jsonrpc/server_message.ts";
import { putIfAbsent, type Store } from "../../store/store.ts";
import { isChangePosition, type LoggedChange } from "../definition/changes.ts";
import type { Registry } from "../definition/registry.ts";
import { stoppedError } from "./stopped_error.ts";
import { type EventLogOptions, parseEventId, replayStream } from "./event_log.ts";
import { notificationOf } from "../http/listen.ts";
import { endedKey, type Session, SESSION_ENDED, streamKey } from "./session.ts";
import { type SessionChangesOptions, watchSessionChanges } from "./session_changes.ts";
import type { Caller } from "./storage_limits.ts";
import type { OpenStreams } from "../http/stream_limits.ts";

export interface SessionStreamOptions extends SessionChangesOptions {
  readonly store: Store;
  readonly log: EventLogOptions;
  /** What the caller is offered. */
  readonly registryOf: (principal: Principal | undefined) => Promise<Registry>;
  readonly keepAlive: number | undefined;
  /** Functions that end the open streams. */
  readonly open: Set<EndStream>;
  /** Limits of open streams. */
  readonly openStreams: OpenStreams;
}

/** Ends a stream. @param retry milliseconds after which the client should come back; left out where it should not */
export type EndStream = (retry?: number) => void;

/**
 * Opens the stream of a session, from `lastEventId` on. Of several streams only the newest sends messages. The others stay
 * open: clients would reopen them for ever.
 * @throws {LimitError} at the limit of open streams
 */
export async function openSessionStream(
  options: SessionStreamOptions,
  session: Session,
  caller: Caller,
  lastEventId: string | null,
  isCurrent: () => Promise<boolean>,
  fields: Fields,
): Promise<Response> {
  const release = options.openStreams.open(caller, session);
  const opened = new SessionStream(options, session, isCurrent, release);
  await opened.start(caller, lastEventId);
  return opened.stream.response(fields);
}

/** An object, not closures: thousands of idle streams have one each. */
class SessionStream {
  readonly stream: EventStream;
  readonly #options: SessionStreamOptions;
  readonly #session: Session;
  readonly #isCurrent: () => Promise<boolean>;
  readonly #owner = randomId("");
  readonly #release: () => void;
  #stopListening: (() => void) | undefined;
  #stopChanges: (() => void) | undefined;
  #isActive = true;
  /** The position of the last change, if it was not sent: the client resumes there, not before changes that expire. */
  #skipped: string | undefined;
  #checking: Promise<void> = Promise.resolve();
  /** Whether a check waits for the one before, and will find what is there by then. */
  #isWaiting = false;
  readonly #end: EndStream = (retry) => this.#stop(retry);

  constructor(
    options: SessionStreamOptions,
    session: Session,
    isCurrent: () => Promise<boolean>,
    release: () => void,
  ) {
    this.#options = options;
    this.#session = session;
    this.#isCurrent = isCurrent;
    this.#release = release;
    this.stream = new EventStream({
      keepAlive: options.keepAlive,
      onDisconnect: this.#end,
      onKeepAlive: () => {
        this.#sendSkipped();
        this.#recheck();
      },
    });
    options.open.add(this.#end);
  }

  async start(caller: Caller, lastEventId: string | null): Promise<void> {
    const { wakeups, store, changes, registryOf } = this.#options;
    const session = this.#session;
    try {
      const ownerKey = streamKey(session);
      this.#stopListening = wakeups.listen(ownerKey.slice(1), () => this.#recheck());
      const check = [{ key: endedKey(session), version: null }];
      const set = [{ key: ownerKey, value: this.#owner, expires: session.expires }];
      if (!await store.commit({ check, set })) this.#stop();
      const last = lastEventId !== null && isChangePosition(lastEventId) ? lastEventId : undefined;
      const end = last === undefined ? undefined : await changes.findGapEnd(last);
      const gap = end === undefined
        ? undefined
        : { offers: (await registryOf(caller.principal)).offers, position: last! };
      const position = end ?? last ?? await changes.latestPosition();
      // So that a client that loses this stream at once can resume it.
      begin(this.stream, session, last ?? position);
      const onChange = (change: LoggedChange): void => this.#pass(change);
      const settled = (): Promise<void> => {
        if (wakeups.isBehind) this.#recheck();
        return this.#checking;
      };
      const onSkipped = (position: string): void => void (this.#skipped = position);
      const when = { position, settled, onSkipped, gap };
      this.#stopChanges = watchSessionChanges(this.#options, session, caller, onChange, when);
      // It may have ended meanwhile.
      if (!this.stream.isOpen) this.#stopChanges();
    } catch (error) {
      this.#stop();
      throw error;
    }
  }

  #sendSkipped(): void {
    if (this.#skipped !== undefined && this.#isActive) begin(this.stream, this.#session, this.#skipped);
    this.#skipped = undefined;
  }

  #pass({ change, position }: LoggedChange): void {
    this.#skipped = undefined;
    if (this.#isActive) {
      this.stream.send(writeNotification(...notificationOf(change)), { id: position });
    }
  }

  /** While the store is unavailable nothing changes. */
  #recheck(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#checking = this.#checking.then(() => {
      this.#isWaiting = false;
      return this.#read();
    }).catch(() => {});
  }

  async #read(): Promise<void> {
    const key = streamKey(this.#session);
    const { store } = this.#options;
    const entry = await store.get<string>(key);
    if (!await this.#isCurrent() || entry?.value === SESSION_ENDED) return this.#stop();
    this.#isActive = entry
      ? entry.value === this.#owner
      : await putIfAbsent(store, key, this.#owner, this.#session.expires);
  }

  #stop(retry?: number): void {
    this.#release();
    this.#stopListening?.();
    this.#stopChanges?.();
    this.#options.open.delete(this.#end);
    if (retry !== undefined) {
      this.#sendSkipped();
      this.stream.retry(retry);
    }
    this.stream.close();
    if (this.#isActive) this.#leave().catch(() => {});
  }

  /** Lets another stream of the session become active. */
  async #leave(): Promise<void> {
    const key = streamKey(this.#session);
    const { store } = this.#options;
    const entry = await store.get<string>(key);
    if (entry?.value !== this.#owner) return;
    await store.commit({ check: [{ key, version: entry.version }], remove: [key] });
  }
}

/**
 * Resumes the stream of a request. 204, upon which clients stop reconnecting, when no events are left or they have expired.
 * `undefined` when `lastEventId` is not of such a stream.
 * @throws {LimitError} at the limit of open streams
 */
export async function resumeStream(
  { log, keepAlive, open, openStreams }: SessionStreamOptions,
  session: Session,
  caller: Caller,
  lastEventId: string,
  isCurrent: () => Promise<boolean>,
  fields: Fields,
): Promise<Response | undefined> {
  const position = parseEventId(lastEventId);
  if (!position) return undefined;
  const release = openStreams.resume(position.stream, caller, session);
  const gone = new AbortController();
  const lost = (request: string): string => writeResponse({ id: JSON.parse(request), error: stoppedError() });
  const events = await replayStream(log, session.id, caller.principal, position, gone.signal, lost)
    .catch((error) => {
      release();
      throw error;
    });
  if (!events) {
    release();
    return respond(204, null);
  }
  const end: EndStream = (retry) => {
    if (retry !== undefined) stream.retry(retry);
    gone.abort();
  };
  open.add(end);
  const look = (): unknown => isCurrent().then((is) => is || end(), () => {});
  const stream = new EventStream({ keepAlive, onDisconnect: () => end(), onKeepAlive: look });
  // So that a client that loses this stream before the next event can resume it.
  begin(stream, session, lastEventId);
  const pump = async (): Promise<void> => {
    for await (const { id, json } of events) {
      stream.send(json, { id });
      await stream.waitUntilWritable();
    }
  };
  // A failure ends the stream; the client resumes again.
  pump().catch(() => {}).finally(() => {
    open.delete(end);
    release();
    stream.close();
  });
  return stream.response(fields);
}

/** Sends the first bytes. Older clients would take an event without data for an invalid message. */
function begin(stream: EventStream, { revision }: Session, id: string): void {
  if (revision >= "2025-11-25") stream.send("", { id });
  else stream.comment();
}
