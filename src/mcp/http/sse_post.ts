/**
 * The messages that clients of HTTP+SSE (2024-11-05) post. Each is accepted at once; what comes of it waits for the stream.
 *
 * @module
 */
import { readText } from "../../http/body/body.ts";
import { BodyError } from "../../http/body/body_error.ts";
import { respond } from "../../http/response.ts";
import { INVALID_REQUEST, PARSE_ERROR, RpcError, SERVER_ERROR } from "../../jsonrpc/error.ts";
import { parseJsonInTurns, readMessage, writeResponse } from "../../jsonrpc/message.ts";
import { writeNotification } from "../../jsonrpc/server_message.ts";
import { toCallRequest } from "../call_request.ts";
import type { Outlet } from "../connection.ts";
import { eraOfRevision } from "../era.ts";
import { LimitError } from "../session/limit_error.ts";
import type { Answers } from "./http_answer.ts";
import { type Admit, type Handler, type HttpOptions, isRefusal } from "./http_options.ts";
import { HELD_BACK_MS } from "./http_post.ts";
import type { SseQueue } from "./sse_queue.ts";
import { refuseRevoked } from "./recheck_token.ts";
import type { Handshake, Session } from "../session/session.ts";
import type { Caller } from "../session/storage_limits.ts";
import type { Stateful } from "../stateful.ts";

/** The revision of the transport. */
export const SSE_REVISION = "2024-11-05";
const STORAGE_LIMIT =
  "The message exceeds the storage limit of this caller. Read the messages that wait, or request less";

/** What both handlers of the transport work with. */
export interface SseTransport {
  readonly options: HttpOptions;
  readonly answers: Answers;
  readonly admit: Admit;
  readonly loadQueue: () => Promise<SseQueue>;
}

/** Creates the handler of POST. */
export function createSsePost({ options, answers, admit, loadQueue }: SseTransport): Handler {
  const { exchange, stateful } = options;
  return async (request, runtime) => {
    const principal = await admit(request, runtime);
    if (isRefusal(principal)) return principal;
    const state = await stateful.load();
    const { sessions, acceptClientResponse } = state;
    const sealed = new URL(request.url).searchParams.get("session") ?? "";
    const opened = await sessions.open(sealed, principal);
    const era = eraOfRevision(SSE_REVISION)!;
    if (!opened) return answers.noSession(era);
    const began = performance.now();
    let value: unknown;
    try {
      value = await parseJsonInTurns(await readText(request, options.bodyLimit));
    } catch (error) {
      if (error instanceof RpcError) return answers.refuse(400, error.code, error.message, era);
      if (!(error instanceof BodyError)) throw error;
      const code = error.status === 413 ? INVALID_REQUEST : PARSE_ERROR;
      return answers.refuse(error.status, code, error.message, era);
    }
    if (performance.now() - began > HELD_BACK_MS) {
      const refusal = await refuseRevoked(principal, options.now, () => admit(request, runtime));
      if (refusal) return refusal;
    }
    const message = readMessage(value);
    if (message.kind === "invalid") {
      return answers.refuse(400, INVALID_REQUEST, `Invalid Request: ${message.reason}`, era);
    }
    const { handshake } = await sessions.settings(opened);
    const session: Session = { ...opened, ...handshake };
    if (message.kind === "response") {
      return await acceptClientResponse(session, principal, message) ? accepted() : answers.refuse(
        400,
        INVALID_REQUEST,
        "Invalid Request: no pending request has this id",
        era,
      );
    }
    const caller: Caller = { principal, runtime };
    const queue = await loadQueue();
    const outlet = createOutlet(state, session, caller, queue);
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
  };
}

/** Messages and requests of a handler wait in the queue. */
function createOutlet(
  { streams, sendServerRequest }: Stateful,
  session: Session,
  caller: Caller,
  queue: SseQueue,
): Outlet {
  return {
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
      return await sendServerRequest(session, caller.principal, method, params, send, either).finally(
        release,
      );
    },
  };
}

function accepted(): Response {
  return respond(202, "Accepted", [["content-type", "text/plain; charset=utf-8"]]);
}
