/**
 * `GET /mcp` of a session: the stream for what belongs to no request, and the rest of a stream that was lost
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server).
 *
 * @module
 */
import { randomId } from "../crypto/secret.ts";
import { EventStream } from "../http/event_stream.ts";
import { type Fields, respond } from "../http/response.ts";
import { INTERNAL_ERROR, RpcError } from "../jsonrpc/error.ts";
import { writeResponse } from "../jsonrpc/message.ts";
import { putIfAbsent, type Store } from "../store/store.ts";
import { type Changes, isPlace } from "./changes.ts";
import { type EventLogOptions, follow, readEventId } from "./event_log.ts";
import { notificationOf } from "./listen.ts";
import { type Session, SESSION_ENDED, type Sessions, streamKey } from "./session.ts";
import { hearChanges } from "./session_changes.ts";
import type { Wakeups } from "./wakeups.ts";

export interface SessionStreamOptions {
  readonly store: Store;
  readonly wakeups: Wakeups;
  readonly sessions: Sessions;
  readonly changes: Changes;
  readonly log: EventLogOptions;
  readonly keepAlive: number | undefined;
  /** Open streams, for a server that closes. */
  readonly open: Set<() => void>;
}

/** What a client hears whose call will never end. */
const LOST = "The instance that ran this call is gone. Send the request again";

/**
 * The stream of a session, from a place that the client saw on. Of several only one speaks, the newest: the others are
 * silent. Were they ended, clients would open them again, for ever.
 */
export async function openSessionStream(
  options: SessionStreamOptions,
  session: Session,
  lastEventId: string | null,
  isCurrent: () => boolean,
  fields: Fields,
): Promise<Response> {
  const { store, wakeups, changes, keepAlive, open } = options;
  const owner = randomId("");
  const ownerKey = streamKey(session);
  const stops: (() => void)[] = [];
  let speaks = true;
  const end = (): void => {
    for (const stop of stops.splice(0)) stop();
    open.delete(end);
    stream.close();
    if (speaks) leave().catch(() => {});
  };
  const look = async (): Promise<void> => {
    const entry = await store.get<string>(ownerKey);
    if (!isCurrent() || entry?.value === SESSION_ENDED) return end();
    speaks = entry ? entry.value === owner : await putIfAbsent(store, ownerKey, owner, session.expires);
  };
  /** Another stream of the session may speak now. */
  const leave = async (): Promise<void> => {
    const entry = await store.get<string>(ownerKey);
    if (entry?.value !== owner) return;
    await store.commit({ check: [{ key: ownerKey, version: entry.version }], remove: [ownerKey] });
  };
  // A store that fails for a moment changes nothing.
  const lookAgain = (): void => void look().catch(() => {});
  const stream = new EventStream({ keepAlive, onGone: end, onQuiet: lookAgain });
  open.add(end);

  const from = lastEventId !== null && isPlace(lastEventId) ? lastEventId : undefined;
  try {
    await store.commit({ set: [{ key: ownerKey, value: owner, expires: session.expires }] });
    stops.push(wakeups.listen(ownerKey.slice(1), lookAgain));
    if (session.revision >= "2025-11-25") stream.send("", { id: from ?? changes.place() });
    const hearing = hearChanges(
      options,
      session,
      ({ change, place }) => {
        if (!speaks) return;
        const [method, params] = notificationOf(change);
        stream.send(JSON.stringify({ jsonrpc: "2.0", method, ...(params && { params }) }), { id: place });
      },
      () => from === undefined ? Promise.resolve([]) : changes.since(from),
    );
    stops.push(hearing.stop);
    await hearing.told;
  } catch (error) {
    end();
    throw error;
  }
  return stream.response(fields);
}

/**
 * The rest of the stream of a request: 204, upon which clients stop to ask, when nothing is left of it, or it is
 * forgotten. `undefined` for an id that is of no such stream.
 */
export async function resumeStream(
  { log, keepAlive, open }: SessionStreamOptions,
  session: Session,
  lastEventId: string,
  fields: Fields,
): Promise<Response | undefined> {
  const position = readEventId(lastEventId);
  if (!position) return undefined;
  const gone = new AbortController();
  const lost = (request: string): string =>
    writeResponse({ id: JSON.parse(request), error: new RpcError(INTERNAL_ERROR, LOST) });
  const events = await follow(log, session.id, position, gone.signal, lost);
  if (!events) return respond(204, null);
  const end = (): void => gone.abort();
  open.add(end);
  const stream = new EventStream({ keepAlive, onGone: end });
  // A client that loses this stream before the next event has to know where it was.
  if (session.revision >= "2025-11-25") stream.send("", { id: lastEventId });
  const pump = async (): Promise<void> => {
    for await (const { id, json } of events) {
      stream.send(json, { id });
      await stream.room();
    }
  };
  // What fails here ends the stream; the client comes back again.
  pump().catch(() => {}).finally(() => {
    open.delete(end);
    stream.close();
  });
  return stream.response(fields);
}
