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
  parseJson,
  readMessage,
  type Request as RpcRequest,
  type Response,
  writeNotification,
  writeResponse,
} from "../../jsonrpc/message.ts";
import type { Call } from "../call.ts";
import { toCallRequest, toModernRequest } from "../call_request.ts";
import type { Connection, Outlet } from "../connection.ts";
import { type Era, eraOfRevision, LEGACY, MODERN, MODERN_ERA } from "../era.ts";
import type { Exchange } from "../exchange.ts";
import type { Telemetry } from "../../http/telemetry.ts";
import { ClientRequests } from "./client_requests.ts";
import { type NodeInput, readLines } from "./line_reader.ts";
import { LineWriter, type NodeOutput } from "./line_writer.ts";
import { type Listening, notificationOf, startListening } from "../http/listen.ts";
import type { ModernWriter } from "../modern.ts";
import { claimedRevision, metaOf } from "../request_meta.ts";
import type { Lazy } from "../lazy.ts";
import { lifecycleResults } from "../session/lifecycle.ts";
import type { Handshake, Session } from "../session/session.ts";
import { watchSessionChanges } from "../session/session_changes.ts";
import type { Stateful } from "../stateful.ts";

export interface StdioOptions {
  readonly exchange: Exchange;
  readonly writer: ModernWriter;
  readonly stateful: Lazy<Stateful>;
  readonly telemetry: Telemetry | undefined;
}

/** The line of a response, if there is one. */
type Answer = string | undefined;

/** A call without a response yet. */
interface Running {
  readonly call: Call;
  answer?: Promise<Answer>;
}

/** How long calls may still run after the input has ended. Clients kill the process after 2 s. */
const FINISH_MS = 1000;
/** How long cancelled calls may take to stop after that. */
const STOP_MS = 500;

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
  const [{ sessions, streams, listen: listenOptions }] = await Promise.all([
    options.stateful.load(),
    // So that `initialize` is answered before the messages that come with it.
    lifecycleResults.load(),
  ]);
  const calls = new Map<Id, Running>();
  /** Calls of batches. */
  const batchCalls = new Set<Call>();
  const listens = new Map<Id, Listening>();
  const stops: (() => void)[] = [];
  let session: Session | undefined;
  let sessionBegan = 0;
  /** Starts the watch of the session's changes: with the next message, as the client waits for the answer to `initialize`. */
  let watchChanges: (() => void) | undefined;

  const notify = (method: string, params?: Record<string, unknown>): Promise<void> =>
    lines.write(writeNotification(method, params));

  const send = (text: string): void => lines.send(text);
  const requests = new ClientRequests(send);

  const outlet: Outlet = { notify };
  const sessionOutlet: Outlet = {
    notify,
    sendRequest: (...request) => requests.send(...request),
  };

  const onCancelled = (id: Id): void => {
    const running = calls.get(id);
    if (running) {
      running.call.cancel("The client cancelled the request");
      calls.delete(id);
      lastCancellation = performance.now();
      if (running.answer && answering.delete(running.answer)) stopping.add(running.answer);
    }
    listens.get(id)?.stop();
    listens.delete(id);
  };
  const modernConnection: Connection = { outlet, onCancelled };
  const sessionConnection: Connection = { outlet: sessionOutlet, onCancelled, onHandshake: startSession };

  const writeOf = ({ profile }: Era) => profile === "modern" ? writer.write : writeResponse;

  function createCall(era: Era, message: Message, claims: boolean): Call {
    const isModern = era.profile === "modern";
    const sender = { principal, session: isModern ? undefined : session, runtime: undefined };
    const request = claims && message.kind === "request"
      ? toModernRequest(sender, era, message, undefined)
      : toCallRequest(sender, era, message);
    return exchange.createCall(request, isModern ? modernConnection : sessionConnection);
  }

  function startSession(handshake: Handshake): void {
    const own = session = sessions.createLocal(handshake, principal);
    if (telemetry) sessionBegan = performance.now();
    for (const stop of stops.splice(0)) stop();
    stops.push(streams.subscriptions.keep(own));
    watchChanges = () =>
      stops.push(
        watchSessionChanges(streams, own, { principal, runtime: undefined }, ({ change }) => {
          send(writeNotification(...notificationOf(change)));
        }),
      );
  }

  function answer(message: Message): Answer | Promise<Answer> {
    if (message.kind === "response") return requests.deliver(message);
    const claim = claimedRevision("params" in message ? metaOf(message.params) : undefined);
    const isBareDiscover = claim === undefined && "method" in message && message.method === "server/discover";
    const revision = isBareDiscover || claim !== undefined && !LEGACY.includes(claim as string)
      ? MODERN
      : claim !== undefined
      ? claim as string
      : session?.revision ?? LEGACY[0]!;
    const era = eraOfRevision(revision) ?? MODERN_ERA;
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
    let running: Running | undefined;
    const drop = (answer: Answer): Answer => {
      // A second request with the same id may have replaced it.
      if (calls.get(id) === running) calls.delete(id);
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
      calls.set(id, running = { call: own });
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
    const era = eraOfRevision(session?.revision ?? LEGACY[0]!)!;
    const outcome = await exchange.answerBatch(values, {
      era,
      revision: session?.revision,
      inSeries: true,
      deliver: (response) => requests.deliver(response),
      createCall(message) {
        const call = createCall(era, message, false);
        own.push(call);
        batchCalls.add(call);
        return call;
      },
    });
    for (const call of own) batchCalls.delete(call);
    if ("sizeError" in outcome) return writeResponse({ id: null, error: outcome.sizeError });
    if ("refusal" in outcome) {
      return writeResponse({ id: null, error: new RpcError(INVALID_REQUEST, outcome.refusal) });
    }
    const { responses } = outcome;
    if (responses === undefined) return undefined;
    return isList(responses)
      ? `[${responses.map((each) => exchange.write(each, writeResponse)).join(",")}]`
      : writeResponse(responses);
  }

  const sendAnswer = (text: Answer): void => {
    if (text !== undefined) send(text);
  };
  /** What the end of the input waits for. */
  const answering = new Set<Promise<Answer>>();
  /** Answers of calls that the client cancelled. */
  const stopping = new Set<Promise<Answer>>();
  let lastCancellation = -Infinity;
  const track = (answer: Promise<Answer>): void => {
    answering.add(answer);
    const drop = (): void => void (answering.delete(answer) || stopping.delete(answer));
    answer.then(sendAnswer).then(drop, drop);
  };
  let unanswered: Id[] = [];
  try {
    await readLines(input, (line) => {
      watchChanges?.();
      watchChanges = undefined;
      const answer = answerLine(line);
      if (answer instanceof Promise) track(answer);
      else sendAnswer(answer);
    });
  } catch (error) {
    for (const { call } of calls.values()) call.cancel("The client disconnected");
    throw error;
  } finally {
    // The client cannot respond any more; calls that do not need a response may finish.
    requests.end();
    await waitForAll(answering, FINISH_MS);
    unanswered = [...calls.keys()];
    const cancelled = [...calls.values()].map(({ call }) => call).concat(...batchCalls);
    for (const call of cancelled) call.cancel("Standard input was closed");
    if (cancelled.length > 0) lastCancellation = performance.now();
    const stopMs = lastCancellation + STOP_MS - performance.now();
    if (stopMs > 0) await waitForAll(answering.union(stopping), stopMs);
    for (const stop of stops) stop();
    for (const { stop } of listens.values()) stop();
    if (session && telemetry) {
      const seconds = (performance.now() - sessionBegan) / 1000;
      telemetry.recordSession({ revision: session.revision, seconds, transport: "pipe" });
    }
  }
  const error = new RpcError(
    INTERNAL_ERROR,
    "Request cancelled: standard input was closed before it was answered",
  );
  for (const id of unanswered) send(writeResponse({ id, error }));
  for (const { finalResult } of listens.values()) send(finalResult);
  await lines.finish();
}

/** Waits until all are settled, at most so many milliseconds. */
async function waitForAll(work: ReadonlySet<Promise<unknown>>, milliseconds: number): Promise<void> {
  if (work.size === 0) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<void>((resolve) => timer = setTimeout(resolve, milliseconds));
  await Promise.race([Promise.allSettled(work), timeout]);
  clearTimeout(timer);
}

function isList(value: readonly Response[] | Response): value is readonly Response[] {
  return Array.isArray(value);
}
