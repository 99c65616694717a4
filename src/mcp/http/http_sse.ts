/**
 * HTTP+SSE, the transport of 2024-11-05 (https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse),
 * for clients that know no other: messages are posted to an address that the stream names, and everything comes back on
 * the stream, whichever instance has it. By option, at paths of its own.
 *
 * @module
 */
import { randomId } from "../../crypto/secret.ts";
import { BodyError, readText } from "../../http/body/body.ts";
import { EventStream } from "../../http/event_stream.ts";
import { respond } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import { answerFault, dispatchMessage } from "../../jsonrpc/dispatch.ts";
import { INVALID_REQUEST, PARSE_ERROR, RpcError } from "../../jsonrpc/error.ts";
import {
  parseJsonInTurns,
  readMessage,
  type Response as RpcResponse,
  writeResponse,
} from "../../jsonrpc/message.ts";
import { Call, type Outlet } from "../call.ts";
import { eraOfRevision } from "../era.ts";
import { LimitError } from "../error.ts";
import type { Answers } from "./http_answer.ts";
import { type Admit, type HttpOptions, isCurrent, isRefusal, type SseFactory } from "./http_options.ts";
import { metaOf } from "../modern.ts";
import { patiently } from "../session/patiently.ts";
import { acceptClientResponse, sendServerRequest } from "../input/server_request.ts";
import { notificationOf } from "./listen.ts";
import type { Session } from "../session/session.ts";
import { hearChanges } from "../session/session_changes.ts";
import { RECORD_BYTES, type Storing } from "../session/storage_limits.ts";
import { wakingKey } from "../session/wakeups.ts";

/** Milliseconds that a message waits for its stream. */
const LIFETIME = 5 * 60_000;
const OLDEST = "2024-11-05";
/** Messages taken off the queue at once. */
const PAGE = 100;

/** Handlers for the stream and for posted messages. `postPath` is where messages go. */
export function createSseHandlers(
  options: HttpOptions,
  answers: Answers,
  admit: Admit,
  postPath: string,
): ReturnType<SseFactory> {
  const { host, legacy, sessions, subscriptions, storage, streams, outlet: { questions } } = options;
  const { store, wakeups } = streams;

  async function open(request: Request, runtime: RequestContext): Promise<Response> {
    const principal = await admit(request, runtime);
    if (isRefusal(principal)) return principal;
    const sealed = await sessions.start({ revision: OLDEST, capabilities: {}, clientInfo: {} }, principal);
    const session = (await sessions.open(sealed, principal))!;
    const storing = { principal, runtime };
    let release: () => void;
    try {
      release = streams.openStreams.open(storing, undefined);
    } catch (error) {
      if (!(error instanceof LimitError)) throw error;
      return answers.write({ id: undefined, error }, eraOfRevision(OLDEST)!, principal);
    }
    const stops: (() => void)[] = [release];
    const end = (): void => {
      for (const stop of stops.splice(0)) stop();
      streams.open.delete(end);
      stream.close();
      sessions.end(session, storing).catch(() => {});
      subscriptions.clear(session).catch(() => {});
    };
    const stream = new EventStream({
      keepAlive: options.outlet.keepAlive,
      onDisconnect: end,
      onKeepAlive: () => {
        take();
        isCurrent(principal, options.now).then((is) => is || end(), () => {});
      },
    });
    streams.open.add(end);

    // One reader at a time, so that messages keep their order.
    let taking: Promise<void> = Promise.resolve();
    // What could not be removed, since the store went away, is not sent again.
    const sent = new Set<string>();
    const take = (): void => {
      taking = taking.then(async () => {
        let first: string | undefined;
        for (;;) {
          const page = await store.list<string>(queueKey(session), { limit: PAGE });
          // What was removed and is still there would be so again at once.
          if (page.length === 0 || page[0]!.key.join() === first) return;
          first = page[0]!.key.join();
          for (const { key, value } of page) {
            if (!sent.has(key.join())) stream.send(value, { event: "message" });
            sent.add(key.join());
          }
          await store.commit({ remove: page.map(({ key }) => key) });
          for (const { key } of page) sent.delete(key.join());
          await stream.waitUntilWritable();
        }
      }).catch(() => {});
    };
    stops.push(
      wakeups.listen(["event", session.id, "sse"], take),
      hearChanges(streams, session, storing, ({ change }) => {
        const [method, params] = notificationOf(change);
        stream.send(JSON.stringify({ jsonrpc: "2.0", method, ...(params && { params }) }), {
          event: "message",
        });
      }),
    );
    stream.send(`${postPath}?session=${sealed}`, { event: "endpoint" });
    return stream.response();
  }

  async function post(request: Request, runtime: RequestContext): Promise<Response> {
    const principal = await admit(request, runtime);
    if (isRefusal(principal)) return principal;
    const sealed = new URL(request.url).searchParams.get("session") ?? "";
    const opened = await sessions.open(sealed, principal);
    const era = eraOfRevision(OLDEST)!;
    if (!opened) return answers.noSession(era);
    let value: unknown;
    try {
      value = await parseJsonInTurns(await readText(request, options.bodyLimit));
    } catch (error) {
      if (error instanceof RpcError) return answers.refuse(400, error.code, error.message, era);
      if (!(error instanceof BodyError)) throw error;
      const code = error.status === 413 ? INVALID_REQUEST : PARSE_ERROR;
      return answers.refuse(error.status, code, error.message, era);
    }
    const message = readMessage(value);
    if (message.kind === "invalid") {
      return answers.refuse(400, INVALID_REQUEST, `Invalid Request: ${message.reason}`, era);
    }
    const { handshake } = await sessions.settings(opened);
    const session: Session = { ...opened, ...handshake };
    if (message.kind === "answer") {
      return await acceptClientResponse(questions, session, message) ? accepted() : answers.refuse(
        400,
        INVALID_REQUEST,
        "Invalid Request: no pending request has this id",
        era,
      );
    }
    const say = (json: string): Promise<boolean> => enqueue(session, json, { principal, runtime });
    const outlet: Outlet = {
      notify: async (method, params) => void await say(JSON.stringify({ jsonrpc: "2.0", method, params })),
      ask: (method, params, signal) =>
        sendServerRequest(
          questions,
          session,
          method,
          params,
          (json) => void say(json).catch(() => {}),
          signal,
        ),
    };
    const call = new Call(host, principal, eraOfRevision(session.revision) ?? era);
    Object.assign(call, {
      runtime,
      outlet,
    });
    call.join(session);
    let settled: Promise<unknown> = Promise.resolve();
    call.onHandshake = (given) => {
      const known = sessions.local(given, principal);
      const handshake = {
        revision: known.revision,
        capabilities: known.capabilities,
        clientInfo: known.clientInfo,
      };
      settled = sessions.change(opened, call, (settings) => ({ ...settings, handshake }));
    };
    if (message.kind === "request") {
      call.id = message.id;
      call.meta = metaOf(message.params) ?? call.meta;
    }
    const work = (async () => {
      const response = await dispatchMessage(legacy, message, call) as RpcResponse | undefined;
      call.end();
      await settled;
      if (response && !call.isCancelled) await say(write(response));
    })();
    call.waitUntil(work);
    return accepted();
  }

  function write(response: RpcResponse): string {
    try {
      return writeResponse(response);
    } catch (fault) {
      return writeResponse(answerFault(legacy, response.id, fault, "answer"));
    }
  }

  async function enqueue(session: Session, json: string, storing: Storing): Promise<boolean> {
    // A reader who reads nothing must not fill the store: its stream has no room for more either.
    if (!storage.has(storing, json.length + RECORD_BYTES, LIFETIME)) return false;
    const key = [...queueKey(session), options.now(), order++, randomId("")];
    return await patiently(() =>
      store.commit({ set: [{ key, value: json, expires: options.now() + LIFETIME }] })
    );
  }
  let order = 0;

  return { open, post };
}

function queueKey({ id }: Session): readonly (string | number)[] {
  return wakingKey("event", id, "sse");
}

function accepted(): Response {
  return respond(202, "Accepted", [["content-type", "text/plain; charset=utf-8"]]);
}
