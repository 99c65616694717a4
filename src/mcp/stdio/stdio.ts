/**
 * The stdio transport (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio, and of 2026-07-28
 * https://modelcontextprotocol.io/specification/draft/basic/transports/stdio): one JSON message per line and nothing else on
 * the output. One process serves clients of both eras; `initialize` makes the connection a session.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import { INTERNAL_ERROR, INVALID_REQUEST, RpcError } from "../../jsonrpc/error.ts";
import {
  type Id,
  type Message,
  readMessage,
  type Request as RpcRequest,
  type Response,
  writeResponse,
} from "../../jsonrpc/message.ts";
import { parseJson } from "../../jsonrpc/parse_json.ts";
import { writeNotification } from "../../jsonrpc/server_message.ts";
import type { BatchOutcome } from "../batch.ts";
import type { Call } from "../call.ts";
import { toCallRequest, toModernRequest } from "../call_request.ts";
import type { Connection } from "../connection.ts";
import { type Era, eraOfRevision, LEGACY, MODERN_ERA } from "../era.ts";
import type { Exchange } from "../exchange.ts";
import type { Telemetry } from "../../http/telemetry.ts";
import { ClientRequests } from "./client_requests.ts";
import { type NodeInput, readLines } from "./line_reader.ts";
import { LineWriter, type NodeOutput } from "./line_writer.ts";
import { type Listening, startListening } from "../http/listen.ts";
import { type Answer, type RunningCall, RunningCalls } from "./running_calls.ts";
import { StdioSession } from "./stdio_session.ts";
import type { ModernWriter } from "../modern.ts";
import { claimedRevision, metaOf } from "../request_meta.ts";
import type { Lazy } from "../lazy.ts";
import { lifecycleResults } from "../session/lifecycle.ts";
import type { Stateful } from "../stateful.ts";

export interface StdioOptions {
  readonly exchange: Exchange;
  readonly writer: ModernWriter;
  readonly stateful: Lazy<Stateful>;
  readonly telemetry: Telemetry | undefined;
}

/**
 * Serves one client until the input ends. Calls run concurrently and are answered in the order in which they finish. Calls
 * that still run when the input ends have a second to finish; then they are cancelled.
 */
export async function serveStdio(
  options: StdioOptions,
  input: ReadableStream<Uint8Array> | NodeInput,
  output: WritableStream<Uint8Array> | NodeOutput,
  principal: Principal | undefined,
): Promise<void> {
  const lines = new LineWriter(output);
  const { exchange, writer, telemetry } = options;
  const send = (text: string): void => lines.send(text);
  const [{ sessions, streams, listen: listenOptions }] = await Promise.all([
    options.stateful.load(),
    // So that `initialize` is answered before the messages that come with it.
    lifecycleResults.load(),
  ]);
  const calls = new RunningCalls();
  const listens = new Map<Id, Listening>();
  const requests = new ClientRequests(send);
  const session = new StdioSession({ sessions, streams, principal, telemetry, send });

  const notify = (method: string, params?: Record<string, unknown>): Promise<void> =>
    lines.write(writeNotification(method, params));
  const onCancelled = (id: Id): void => {
    calls.cancel(id);
    listens.get(id)?.stop();
    listens.delete(id);
  };
  const modernConnection: Connection = { outlet: { notify }, onCancelled };
  const sessionConnection: Connection = {
    outlet: { notify, sendRequest: (...request) => requests.send(...request) },
    onCancelled,
    onHandshake: (handshake) => session.start(handshake),
  };

  const writeOf = ({ profile }: Era) => profile === "modern" ? writer.write : writeResponse;

  function createCall(era: Era, message: Message, claims: boolean): Call {
    const isModern = era.profile === "modern";
    const sender = { principal, session: isModern ? undefined : session.current, runtime: undefined };
    const request = claims && message.kind === "request"
      ? toModernRequest(sender, era, message, undefined)
      : toCallRequest(sender, era, message);
    return exchange.createCall(request, isModern ? modernConnection : sessionConnection);
  }

  function answer(message: Message): Answer | Promise<Answer> {
    if (message.kind === "response") return requests.deliver(message);
    const claim = claimedRevision("params" in message ? metaOf(message.params) : undefined);
    const era = findEra(message, claim, session.current?.revision);
    return message.kind === "request"
      ? answerRequest(message, era, claim !== undefined)
      : accept(message, era);
  }

  async function accept(message: Message, era: Era): Promise<Answer> {
    const response = await exchange.accept(message, createCall(era, message, false));
    return response && exchange.write(response, writeOf(era));
  }

  /** At once when its method returns no promise. */
  function answerRequest(message: RpcRequest, era: Era, claims: boolean): Answer | Promise<Answer> {
    const { id, method } = message;
    const write = writeOf(era);
    let running: RunningCall | undefined;
    const drop = (answer: Answer): Answer => {
      calls.finish(id, running);
      return answer;
    };
    const fail = (error: unknown): Answer =>
      drop(write(
        error instanceof RpcError
          ? { id: id ?? undefined, error }
          : exchange.answerFault(id, error, method, running?.call),
      ));
    try {
      const own = createCall(era, message, claims);
      running = calls.start(id, own);
      const answered = era.profile === "modern" && method === "subscriptions/listen"
        ? listen(own, message)
        : exchange.answer(
          message,
          own,
          (response) => own.isCancelled ? undefined : exchange.write(response, write),
        );
      return answered instanceof Promise ? running.answer = answered.then(drop, fail) : drop(answered);
    } catch (error) {
      return fail(error);
    }
  }

  async function listen(call: Call, { id, params }: RpcRequest): Promise<undefined> {
    const listening = await startListening(listenOptions, call, params, send);
    // Meanwhile another with this id may have started, or this one may be cancelled.
    listens.get(id)?.stop();
    listens.delete(id);
    if (call.isCancelled) listening.stop();
    else listens.set(id, listening);
  }

  function answerLine(line: string | RpcError): Answer | Promise<Answer> {
    if (typeof line !== "string") return writeResponse({ id: null, error: line });
    let value: unknown;
    try {
      value = parseJson(line);
    } catch (error) {
      return writeResponse({ id: null, error: error as RpcError });
    }
    return Array.isArray(value) ? answerBatch(value) : answer(readMessage(value));
  }

  async function answerBatch(values: readonly unknown[]): Promise<Answer> {
    const own: Call[] = [];
    const era = eraOfRevision(session.current?.revision ?? LEGACY[0]!)!;
    const outcome = await exchange.answerBatch(values, {
      era,
      revision: session.current?.revision,
      inSeries: true,
      deliver: (response) => requests.deliver(response),
      createCall(message) {
        const call = createCall(era, message, false);
        own.push(call);
        calls.startBatched(call);
        return call;
      },
    });
    for (const call of own) calls.finishBatched(call);
    return writeBatch(outcome, exchange);
  }

  const sendAnswer = (text: Answer): void => {
    if (text !== undefined) send(text);
  };
  let unanswered: readonly Id[] = [];
  try {
    await readLines(input, (line) => {
      session.watchChanges();
      const answer = answerLine(line);
      if (answer instanceof Promise) calls.track(answer, sendAnswer);
      else sendAnswer(answer);
    });
  } catch (error) {
    calls.disconnect();
    throw error;
  } finally {
    // The client cannot respond any more; calls that do not need a response may finish.
    requests.end();
    unanswered = await calls.end();
    session.end();
    for (const { stop } of listens.values()) stop();
  }
  const error = new RpcError(
    INTERNAL_ERROR,
    "Request cancelled: standard input was closed before it was answered",
  );
  for (const id of unanswered) send(writeResponse({ id, error }));
  for (const { finalResult } of listens.values()) send(finalResult);
  await lines.finish();
}

/** A bare `server/discover` comes from a client that does not know the revision yet. */
function findEra(message: Message, claim: unknown, negotiated: string | undefined): Era {
  if (claim === undefined) {
    if ("method" in message && message.method === "server/discover") return MODERN_ERA;
    return eraOfRevision(negotiated ?? LEGACY[0]!) ?? MODERN_ERA;
  }
  return LEGACY.includes(claim as string) ? eraOfRevision(claim as string)! : MODERN_ERA;
}

function writeBatch(outcome: BatchOutcome, { write }: Exchange): Answer {
  if ("sizeError" in outcome) return writeResponse({ id: null, error: outcome.sizeError });
  if ("refusal" in outcome) {
    return writeResponse({ id: null, error: new RpcError(INVALID_REQUEST, outcome.refusal) });
  }
  const { responses } = outcome;
  if (responses === undefined) return undefined;
  return isList(responses)
    ? `[${responses.map((each) => write(each, writeResponse)).join(",")}]`
    : writeResponse(responses);
}

function isList(value: readonly Response[] | Response): value is readonly Response[] {
  return Array.isArray(value);
}
