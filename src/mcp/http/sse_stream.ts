/**
 * The stream of HTTP+SSE (2024-11-05): opens a session, names the endpoint for its messages, and sends the messages that
 * wait for it.
 *
 * @module
 */
import { EventStream } from "../../http/event_stream.ts";
import { toAddress } from "../../http/network/network.ts";
import { writeNotification } from "../../jsonrpc/server_message.ts";
import { eraOfRevision } from "../era.ts";
import { LimitError } from "../session/limit_error.ts";
import type { Session } from "../session/session.ts";
import { watchSessionChanges } from "../session/session_changes.ts";
import { type Handler, isRefusal } from "./http_options.ts";
import { notificationOf } from "./listen.ts";
import { SSE_REVISION, type SseTransport } from "./sse_post.ts";
import type { SseQueue } from "./sse_queue.ts";
import { isCurrent } from "./recheck_token.ts";

/** Creates the handler of GET. `postPath` is the endpoint for messages. */
export function createSseStream(
  { options, answers, admit, loadQueue }: SseTransport,
  postPath: string,
): Handler {
  const { stateful } = options;
  return async (request, runtime) => {
    const principal = await admit(request, runtime);
    if (isRefusal(principal)) return principal;
    const { sessions, subscriptions, streams } = await stateful.load();
    const { wakeups } = streams;
    const queue = await loadQueue();
    const sealed = await sessions.start(
      { revision: SSE_REVISION, capabilities: {}, clientInfo: {} },
      principal,
    );
    const session = (await sessions.open(sealed, principal))!;
    const caller = { principal, runtime: toAddress(runtime) };
    let release: () => void;
    try {
      release = streams.openStreams.open(caller, undefined);
    } catch (error) {
      if (!(error instanceof LimitError)) throw error;
      return answers.write({ id: undefined, error }, eraOfRevision(SSE_REVISION)!, principal);
    }
    const stops: (() => void)[] = [release];
    const end = (): void => {
      for (const stop of stops.splice(0)) stop();
      streams.open.delete(end);
      stream.close();
      sessions.end(session, caller).catch(() => {});
      subscriptions.clear(session).catch(() => {});
    };
    const stream = new EventStream({
      keepAlive: options.outlet.keepAlive,
      onDisconnect: end,
      onKeepAlive: () => {
        if (session.expires <= options.now()) return end();
        drain();
        isCurrent(principal, options.now).then((is) => is || end(), () => {});
      },
    });
    streams.open.add(end);

    const drain = createDrain(session, stream, queue);
    stops.push(
      wakeups.listen(["event", session.id, "sse"], drain),
      watchSessionChanges(streams, session, caller, ({ change }) => {
        stream.send(writeNotification(...notificationOf(change)), { event: "message" });
      }),
    );
    stream.send(`${postPath}?session=${sealed}`, { event: "endpoint" });
    return stream.response();
  };
}

/** Returns the function that sends the messages that wait, in order. */
function createDrain(session: Session, stream: EventStream, queue: SseQueue): () => void {
  // One reader at a time keeps messages in order. One that waits will find all that is there by then.
  let draining: Promise<void> = Promise.resolve();
  let isWaiting = false;
  // Messages that could not be removed while the store was unavailable must not be sent twice.
  const sent = new Set<string>();
  return () => {
    if (isWaiting) return;
    isWaiting = true;
    draining = draining.then(async () => {
      isWaiting = false;
      let first: string | undefined;
      for (;;) {
        const page = await queue.read(session);
        // The same page again: the removal is not visible yet.
        if (page.length === 0 || page[0]!.key.join() === first) return;
        first = page[0]!.key.join();
        for (const { key, value } of page) {
          if (!sent.has(key.join())) stream.send(value, { event: "message" });
          sent.add(key.join());
        }
        const keys = page.map(({ key }) => key);
        await queue.remove(keys);
        for (const key of keys) sent.delete(key.join());
        // Messages that the client has not read count, as they take memory.
        await stream.waitUntilWritable(1);
        queue.free(session, keys);
      }
    }).catch(() => {});
  };
}
