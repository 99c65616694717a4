/**
 * `GET /mcp` of a session: the stream for messages that belong to no request, or the rest of a stream that is resumed
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server).
 *
 * @module
 */
import { randomId } from "../../crypto/secret.ts";
import { EventStream } from "../../http/event_stream.ts";
import { type Fields, respond } from "../../http/response.ts";
import { writeNotification, writeResponse } from "../../jsonrpc/message.ts";
import { putIfAbsent, type Store } from "../../store/store.ts";
import { isChangePosition, type LoggedChange } from "../definition/changes.ts";
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
  readonly keepAlive: number | undefined;
  /** Functions that end the open streams, for `close()` of the server. */
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
  const { store, wakeups, changes, keepAlive, open } = options;
  const owner = randomId("");
  const ownerKey = streamKey(session);
  const stops: (() => void)[] = [options.openStreams.open(caller, session)];
  let isActive = true;
  const end: EndStream = (retry) => {
    for (const stop of stops.splice(0)) stop();
    open.delete(end);
    if (retry !== undefined) stream.retry(retry);
    stream.close();
    if (isActive) leave().catch(() => {});
  };
  const keep = (stop: () => void): unknown => stream.isOpen ? stops.push(stop) : stop();
  const read = async (): Promise<void> => {
    const entry = await store.get<string>(ownerKey);
    if (!await isCurrent() || entry?.value === SESSION_ENDED) return end();
    isActive = entry ? entry.value === owner : await putIfAbsent(store, ownerKey, owner, session.expires);
  };
  // While the store is unavailable nothing changes.
  let checking: Promise<void> = Promise.resolve();
  const recheck = (): unknown => checking = checking.then(read).catch(() => {});
  /** Lets another stream of the session become active. */
  const leave = async (): Promise<void> => {
    const entry = await store.get<string>(ownerKey);
    if (entry?.value !== owner) return;
    await store.commit({ check: [{ key: ownerKey, version: entry.version }], remove: [ownerKey] });
  };
  const stream = new EventStream({ keepAlive, onDisconnect: () => end(), onKeepAlive: recheck });
  open.add(end);
  const onChange = ({ change, position }: LoggedChange): void => {
    if (!isActive) return;
    stream.send(writeNotification(...notificationOf(change)), { id: position });
  };
  try {
    keep(wakeups.listen(ownerKey.slice(1), recheck));
    const check = [{ key: endedKey(session), version: null }];
    const set = [{ key: ownerKey, value: owner, expires: session.expires }];
    if (!await store.commit({ check, set })) end();
    const position = lastEventId !== null && isChangePosition(lastEventId)
      ? lastEventId
      : await changes.latestPosition();
    // So that a client that loses this stream at once can resume it.
    begin(stream, session, position);
    keep(watchSessionChanges(options, session, caller, onChange, { position, settled: () => checking }));
  } catch (error) {
    end();
    throw error;
  }
  return stream.response(fields);
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
  const release = openStreams.open(caller, session);
  const gone = new AbortController();
  const lost = (request: string): string => writeResponse({ id: JSON.parse(request), error: stoppedError() });
  const events = await replayStream(log, session.id, position, gone.signal, lost).catch((error) => {
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
