/**
 * `GET /mcp` of a session: the stream for what belongs to no request, and the rest of a stream that was lost
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server).
 *
 * @module
 */
import { randomId } from "../../crypto/secret.ts";
import { EventStream } from "../../http/event_stream.ts";
import { type Fields, respond } from "../../http/response.ts";
import { INTERNAL_ERROR, RpcError } from "../../jsonrpc/error.ts";
import { writeResponse } from "../../jsonrpc/message.ts";
import { putIfAbsent, type Store } from "../../store/store.ts";
import { isPlace, type PlacedChange } from "../definition/changes.ts";
import { type EventLogOptions, follow, readEventId } from "./event_log.ts";
import { notificationOf } from "../http/listen.ts";
import { endedKey, type Session, SESSION_ENDED, streamKey } from "./session.ts";
import { hearChanges, type SessionChangesOptions } from "./session_changes.ts";
import type { Storing } from "./storage_limits.ts";
import type { OpenStreams } from "../http/stream_limits.ts";

export interface SessionStreamOptions extends SessionChangesOptions {
  readonly store: Store;
  readonly log: EventLogOptions;
  readonly keepAlive: number | undefined;
  /** Open streams, for a server that closes. */
  readonly open: Set<() => void>;
  /** How many there may be. */
  readonly openStreams: OpenStreams;
}

/** What a client hears whose call will never end. */
const LOST = "The server instance stopped before it answered. Send the request again";

/**
 * The stream of a session, from a place that the client saw on. Of several only one speaks, the newest: the others are
 * silent. Were they ended, clients would open them again, for ever.
 * @throws {LimitError} when the session or its caller has as many streams as it may
 */
export async function openSessionStream(
  options: SessionStreamOptions,
  session: Session,
  storing: Storing,
  lastEventId: string | null,
  isCurrent: () => Promise<boolean>,
  fields: Fields,
): Promise<Response> {
  const { store, wakeups, changes, keepAlive, open } = options;
  const owner = randomId("");
  const ownerKey = streamKey(session);
  const stops: (() => void)[] = [options.openStreams.open(storing, session)];
  let speaks = true;
  const end = (): void => {
    for (const stop of stops.splice(0)) stop();
    open.delete(end);
    stream.close();
    if (speaks) leave().catch(() => {});
  };
  const keep = (stop: () => void): unknown => stream.isOpen ? stops.push(stop) : stop();
  const read = async (): Promise<void> => {
    const entry = await store.get<string>(ownerKey);
    if (!await isCurrent() || entry?.value === SESSION_ENDED) return end();
    speaks = entry ? entry.value === owner : await putIfAbsent(store, ownerKey, owner, session.expires);
  };
  // A store that fails for a moment changes nothing.
  let looking: Promise<void> = Promise.resolve();
  const look = (): unknown => looking = looking.then(read).catch(() => {});
  /** Another stream of the session may speak now. */
  const leave = async (): Promise<void> => {
    const entry = await store.get<string>(ownerKey);
    if (entry?.value !== owner) return;
    await store.commit({ check: [{ key: ownerKey, version: entry.version }], remove: [ownerKey] });
  };
  const stream = new EventStream({ keepAlive, onDisconnect: end, onKeepAlive: look });
  open.add(end);
  const hear = ({ change, place }: PlacedChange): void => {
    if (!speaks) return;
    const [method, params] = notificationOf(change);
    stream.send(JSON.stringify({ jsonrpc: "2.0", method, ...(params && { params }) }), { id: place });
  };
  try {
    keep(wakeups.listen(ownerKey.slice(1), look));
    const check = [{ key: endedKey(session), version: null }];
    const set = [{ key: ownerKey, value: owner, expires: session.expires }];
    if (!await store.commit({ check, set })) end();
    const place = lastEventId !== null && isPlace(lastEventId) ? lastEventId : await changes.place();
    // Whoever loses this stream at once comes back with it.
    begin(stream, session, place);
    keep(hearChanges(options, session, storing, hear, { place, settled: () => looking }));
  } catch (error) {
    end();
    throw error;
  }
  return stream.response(fields);
}

/**
 * The rest of the stream of a request: 204, upon which clients stop to ask, when nothing is left of it, or it is
 * forgotten. `undefined` for an id that is of no such stream.
 * @throws {LimitError} when the session or its caller has as many streams as it may
 */
export async function resumeStream(
  { log, keepAlive, open, openStreams }: SessionStreamOptions,
  session: Session,
  storing: Storing,
  lastEventId: string,
  isCurrent: () => Promise<boolean>,
  fields: Fields,
): Promise<Response | undefined> {
  const position = readEventId(lastEventId);
  if (!position) return undefined;
  const release = openStreams.open(storing, session);
  const gone = new AbortController();
  const lost = (request: string): string =>
    writeResponse({ id: JSON.parse(request), error: new RpcError(INTERNAL_ERROR, LOST) });
  const events = await follow(log, session.id, position, gone.signal, lost).catch((error) => {
    release();
    throw error;
  });
  if (!events) {
    release();
    return respond(204, null);
  }
  const end = (): void => gone.abort();
  open.add(end);
  const look = (): unknown => isCurrent().then((is) => is || end(), () => {});
  const stream = new EventStream({ keepAlive, onDisconnect: end, onKeepAlive: look });
  // A client that loses this stream before the next event has to know where it was.
  begin(stream, session, lastEventId);
  const pump = async (): Promise<void> => {
    for await (const { id, json } of events) {
      stream.send(json, { id });
      await stream.waitUntilWritable();
    }
  };
  // What fails here ends the stream; the client comes back again.
  pump().catch(() => {}).finally(() => {
    open.delete(end);
    release();
    stream.close();
  });
  return stream.response(fields);
}

/** The first bytes. Older clients take an event without data for a broken message. */
function begin(stream: EventStream, { revision }: Session, id: string): void {
  if (revision >= "2025-11-25") stream.send("", { id });
  else stream.comment();
}
