/**
 * HTTP+SSE, the transport of 2024-11-05 (https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse),
 * for clients of that revision. Messages are posted to the endpoint that the stream names, and every response comes on the
 * stream, on whichever instance it is open. Enabled by an option, at its own paths.
 *
 * @module
 */
import { readText } from "../../http/body/body.ts";
import { BodyError } from "../../http/body/body_error.ts";
import { EventStream } from "../../http/event_stream.ts";
import { toAddress } from "../../http/network/network.ts";
import { respond } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import { INVALID_REQUEST, PARSE_ERROR, RpcError, SERVER_ERROR } from "../../jsonrpc/error.ts";
import { parseJsonInTurns, readMessage, writeNotification, writeResponse } from "../../jsonrpc/message.ts";
import { toCallRequest } from "../call_request.ts";
import type { Outlet } from "../connection.ts";
import { eraOfRevision } from "../era.ts";
import { LimitError } from "../session/limit_error.ts";
import type { Answers } from "./http_answer.ts";
import { type Admit, type HttpOptions, isRefusal, type SseFactory } from "./http_options.ts";
import { isCurrent } from "./stream_token.ts";
import { SseQueue } from "./sse_queue.ts";
import { notificationOf } from "./listen.ts";
import type { Handshake, Session } from "../session/session.ts";
import { watchSessionChanges } from "../session/session_changes.ts";
import type { Caller } from "../session/storage_limits.ts";

const REVISION = "2024-11-05";
const STORAGE_LIMIT =
  "The message exceeds the storage limit of this caller. Read the messages that wait, or request less";

/** Creates the handlers of the stream and of posted messages. `postPath` is the endpoint for messages. */
export function createSseHandlers(
  options: HttpOptions,
  answers: Answers,
  admit: Admit,
  postPath: string,
): ReturnType<SseFactory> {
  const { exchange, stateful } = options;
  let queue: SseQueue | undefined;

  async function loadQueue(): Promise<SseQueue> {
    const { storage, streams: { store } } = await stateful.load();
    return queue ??= new SseQueue({ store, storage, now: options.now });
  }

  async function open(request: Request, runtime: RequestContext): Promise<Response> {
    const principal = await admit(request, runtime);
    if (isRefusal(principal)) return principal;
    const { sessions, subscriptions, streams } = await stateful.load();
    const { wakeups } = streams;
    const queue = await loadQueue();
    const sealed = await sessions.start({ revision: REVISION, capabilities: {}, clientInfo: {} }, principal);
    const session = (await sessions.open(sealed, principal))!;
    const caller = { principal, runtime: toAddress(runtime) };
    let release: () => void;
    try {
      release = streams.openStreams.open(caller, undefined);
    } catch (error) {
      if (!(error instanceof LimitError)) throw error;
      return answers.write({ id: undefined, error }, eraOfRevision(REVISION)!, principal);
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

    // One reader at a time keeps messages in order.
    let draining: Promise<void> = Promise.resolve();
    // Messages that could not be removed while the store was unavailable must not be sent twice.
    const sent = new Set<string>();
    const drain = (): void => {
      draining = draining.then(async () => {
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
    stops.push(
      wakeups.listen(["event", session.id, "sse"], drain),
      watchSessionChanges(streams, session, caller, ({ change }) => {
        stream.send(writeNotification(...notificationOf(change)), { event: "message" });
      }),
    );
    stream.send(`${postPath}?session=${sealed}`, { event: "endpoint" });
    return stream.response();
  }

  async function post(request: Request, runtime: RequestContext): Promise<Response> {
    const principal = await admit(request, runtime);
    if (isRefusal(principal)) return principal;
    const { sessions, acceptClientResponse, sendServerRequest, streams } = await stateful.load();
    const sealed = new URL(request.url).searchParams.get("session") ?? "";
    const opened = await sessions.open(sealed, principal);
    const era = eraOfRevision(REVISION)!;
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
    if (message.kind === "response") {
      return await acceptClientResponse(session, message) ? accepted() : answers.refuse(
        400,
        INVALID_REQUEST,
        "Invalid Request: no pending request has this id",
        era,
      );
    }
    const caller: Caller = { principal, runtime };
    const queue = await loadQueue();
    const outlet: Outlet = {
      notify: async (method, params) =>
        void await queue.add(session, writeNotification(method, params), caller),
      async sendRequest(method, params, signal) {
        // The POST has its response already: only this limits how many calls wait for a client that does not answer.
        const release = streams.openStreams.open(caller, session);
        const lost = new AbortController();
        const send = (json: string): void => {
          queue.add(session, json, caller).then((added) => {
            if (!added) lost.abort(new RpcError(SERVER_ERROR, STORAGE_LIMIT));
          }, (error) => lost.abort(error));
        };
        const either = AbortSignal.any([signal, lost.signal]);
        return await sendServerRequest(session, method, params, send, either).finally(release);
      },
    };
    let settled: Promise<unknown> = Promise.resolve();
    const onHandshake = (given: Handshake): void => {
      const known = sessions.createLocal(given, principal);
      const handshake = {
        revision: known.revision,
        capabilities: known.capabilities,
        clientInfo: known.clientInfo,
      };
      settled = sessions.change(opened, caller, (settings) => ({ ...settings, handshake }));
    };
    const sender = { principal, session, runtime };
    const read = toCallRequest(sender, eraOfRevision(session.revision) ?? era, message);
    const call = exchange.createCall(read, { outlet, onHandshake });
    if (message.kind !== "request") {
      call.waitUntil(Promise.resolve(exchange.accept(message, call)).finally(() => call.end()));
      return accepted();
    }
    // What the client gets when there is no room for the response: a client waits for ever without one.
    const instead = writeResponse({ id: message.id, error: new RpcError(SERVER_ERROR, STORAGE_LIMIT) });
    let reserved: number;
    try {
      reserved = await queue.reserve(session, instead, caller);
    } catch (error) {
      call.end();
      if (!(error instanceof LimitError)) throw error;
      return answers.write({ id: message.id, error }, era, principal);
    }
    const answering = exchange.answer(message, call, async (response) => {
      const settledResponse = await settled.then(
        () => response,
        (error) => exchange.answerFault(message.id, error, message.method, call),
      );
      if (call.isCancelled) return queue.release(reserved, caller);
      const json = exchange.write(settledResponse, writeResponse);
      if (!await queue.add(session, json, caller, reserved)) {
        await queue.add(session, instead, caller, reserved);
      }
    });
    call.waitUntil(Promise.resolve(answering));
    return accepted();
  }

  return { open, post };
}

function accepted(): Response {
  return respond(202, "Accepted", [["content-type", "text/plain; charset=utf-8"]]);
}
