/**
 * The stdio transport (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio, and of 2026-07-28
 * https://modelcontextprotocol.io/specification/draft/basic/transports/stdio): one JSON message per line and nothing else on
 * the output. One process serves clients of both eras; `initialize` makes the connection a session.
 *
 * @module
 */
import { randomId } from "../../crypto/secret.ts";
import type { Principal } from "../../http/principal.ts";
import {
  answerFault,
  checkBatchSize,
  dispatchBatch,
  type Dispatcher,
  dispatchMessage,
} from "../../jsonrpc/dispatch.ts";
import { INTERNAL_ERROR, INVALID_REQUEST, RpcError } from "../../jsonrpc/error.ts";
import {
  type ClientResponse,
  type Id,
  type Message,
  parseJson,
  readMessage,
  type Response,
  writeNotification,
  writeRequest,
  writeResponse,
} from "../../jsonrpc/message.ts";
import { checkBatchAllowed } from "../batch.ts";
import { Call, type CallHost, type Outlet } from "../call.ts";
import type { Changes } from "../definition/changes.ts";
import { eraOfRevision, LEGACY, MODERN, MODERN_ERA } from "../era.ts";
import { readLines, writeLines } from "./lines.ts";
import { type Listening, type ListenOptions, notificationOf, startListening } from "../http/listen.ts";
import { claimedRevision, metaOf, type ModernWriter, readMeta } from "../modern.ts";
import { toClientError } from "../input/server_request.ts";
import type { Session, Sessions } from "../session/session.ts";
import { watchSessionChanges } from "../session/session_changes.ts";
import type { Subscriptions } from "../session/session_subscriptions.ts";
import type { Wakeups } from "../session/wakeups.ts";

export interface StdioOptions {
  readonly host: CallHost;
  readonly legacy: Dispatcher<Call>;
  readonly modern: Dispatcher<Call>;
  readonly writer: ModernWriter;
  readonly sessions: Sessions;
  readonly subscriptions: Subscriptions;
  readonly changes: Changes;
  readonly wakeups: Wakeups;
  readonly listen: ListenOptions;
}

/** A request to the client that has no response yet. */
interface PendingRequest {
  readonly method: string;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
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
  input: ReadableStream<Uint8Array>,
  output: WritableStream<Uint8Array>,
  principal: Principal | undefined,
): Promise<void> {
  const { write, finish } = writeLines(output);
  const { host, sessions, writer } = options;
  /** Calls without a response yet. */
  const calls = new Map<Id, Call>();
  /** Calls of batches. */
  const batchCalls = new Set<Call>();
  const listens = new Map<Id, Listening>();
  const pending = new Map<string, PendingRequest>();
  const stops: (() => void)[] = [];
  let session: Session | undefined;
  let isInputClosed = false;

  const notify = (method: string, params?: Record<string, unknown>): Promise<void> =>
    write(writeNotification(method, params));

  /** Ignores a client that does not read any more. */
  const send = (text: string): void => void write(text).catch(() => {});

  const outlet: Outlet = { notify };
  const sessionOutlet: Outlet = {
    notify,
    sendRequest: (method, params, signal) =>
      new Promise((resolve, reject) => {
        if (isInputClosed) return reject(disconnectedBefore(method));
        const id = randomId("");
        pending.set(id, { method, resolve, reject });
        signal.addEventListener("abort", () => pending.delete(id) && reject(signal.reason), { once: true });
        send(writeRequest(id, method, params));
      }),
  };

  function newCall(revision: string): Call {
    const call = new Call(host, principal, eraOfRevision(revision) ?? MODERN_ERA);
    call.outlet = outlet;
    call.onCancelled = (id) => {
      calls.get(id)?.cancel("The client cancelled the request");
      listens.get(id)?.stop();
      listens.delete(id);
    };
    if (revision >= MODERN) return call;
    call.outlet = sessionOutlet;
    call.onHandshake = startSession;
    if (session) call.join(session);
    return call;
  }

  function startSession(handshake: Pick<Session, "revision" | "capabilities" | "clientInfo">): void {
    const own = session = sessions.createLocal(handshake, principal);
    for (const stop of stops.splice(0)) stop();
    stops.push(
      watchSessionChanges(options, own, { principal, runtime: undefined }, ({ change }) => {
        send(writeNotification(...notificationOf(change)));
      }),
    );
  }

  async function answer(message: Message): Promise<string | undefined> {
    if (message.kind === "response") return void deliverResponse(message);
    const claim = claimedRevision("params" in message ? metaOf(message.params) : undefined);
    const isBareDiscover = claim === undefined && "method" in message && message.method === "server/discover";
    const revision = isBareDiscover || claim !== undefined && !LEGACY.includes(claim as string)
      ? MODERN
      : claim !== undefined
      ? claim as string
      : session?.revision ?? LEGACY[0]!;
    const call = newCall(revision);
    const modern = revision === MODERN;
    const dispatcher = modern ? options.modern : options.legacy;
    const write = modern ? writer.write : writeResponse;
    if (message.kind !== "request") {
      const response = await dispatchMessage(dispatcher, message, call);
      return response && toText(response, write);
    }
    const { id, method } = message;
    call.id = id;
    calls.set(id, call);
    try {
      if (claim !== undefined) readMeta(call, message, undefined);
      else call.meta = metaOf(message.params) ?? call.meta;
      if (modern && method === "subscriptions/listen") return await listen(call, message);
      const response = await dispatchMessage(dispatcher, message, call) as Response;
      call.end();
      return call.isCancelled ? undefined : toText(response, write);
    } catch (error) {
      return write(
        error instanceof RpcError
          ? { id: id ?? undefined, error }
          : answerFault(dispatcher, id, error, method, call),
      );
    } finally {
      // A second request with the same id may have replaced it.
      if (calls.get(id) === call) calls.delete(id);
    }
  }

  /** A result that cannot be written as JSON is an internal error. */
  function toText(response: Response, write: (response: Response) => string): string {
    try {
      return write(response);
    } catch (fault) {
      return write(answerFault(options.legacy, response.id, fault, "answer"));
    }
  }

  async function listen(call: Call, { id, params }: Message & { kind: "request" }): Promise<undefined> {
    const listening = await startListening(options.listen, call, params, send);
    // Meanwhile another with this id may have started, or this one may be cancelled.
    listens.get(id)?.stop();
    listens.delete(id);
    if (call.isCancelled) listening.stop();
    else listens.set(id, listening);
  }

  function deliverResponse({ id, result, error }: ClientResponse): void {
    const request = pending.get(id as string);
    if (!request) return;
    pending.delete(id as string);
    if (error === undefined) request.resolve(result);
    else request.reject(toClientError(request.method, error));
  }

  async function answerLine(line: string | RpcError): Promise<string | undefined> {
    if (typeof line !== "string") return writeResponse({ id: null, error: line });
    let value: unknown;
    try {
      value = parseJson(line);
    } catch (error) {
      return writeResponse({ id: null, error: error as RpcError });
    }
    if (!Array.isArray(value)) return await answer(readMessage(value));
    const error = checkBatchSize(value);
    if (error) return writeResponse({ id: null, error });
    const messages = value.map(readMessage);
    const reason = checkBatchAllowed(messages, session?.revision);
    if (reason !== undefined) {
      return writeResponse({ id: null, error: new RpcError(INVALID_REQUEST, reason) });
    }
    for (const message of messages) if (message.kind === "response") deliverResponse(message);
    const revision = session?.revision ?? LEGACY[0]!;
    const own: Call[] = [];
    const responses = await dispatchBatch(options.legacy, messages, (message) => {
      const call = newCall(revision);
      own.push(call);
      batchCalls.add(call);
      if (message.kind === "request") {
        call.id = message.id;
        call.meta = metaOf(message.params) ?? call.meta;
      }
      return call;
    }, { inSeries: true });
    for (const call of own) {
      call.end();
      batchCalls.delete(call);
    }
    if (responses === undefined) return undefined;
    return isList(responses)
      ? `[${responses.map((each) => toText(each, writeResponse)).join(",")}]`
      : writeResponse(responses);
  }

  const answering = new Set<Promise<unknown>>();
  const writing = new Set<Promise<unknown>>();
  let unanswered: Id[] = [];
  try {
    for await (const line of readLines(input)) {
      track(
        answering,
        answerLine(line).then((text) => {
          if (text !== undefined) track(writing, write(text));
        }),
      );
    }
  } catch (error) {
    for (const call of calls.values()) call.cancel("The client disconnected");
    throw error;
  } finally {
    // The client cannot respond any more; calls that do not need a response may finish.
    isInputClosed = true;
    for (const { method, reject } of pending.values()) reject(disconnectedBefore(method));
    await waitForAll(answering, FINISH_MS);
    unanswered = [...calls.keys()];
    for (const call of [...calls.values(), ...batchCalls]) call.cancel("Standard input was closed");
    await waitForAll(answering, STOP_MS);
    await Promise.allSettled(writing);
    for (const stop of stops) stop();
    for (const { stop } of listens.values()) stop();
  }
  const error = new RpcError(
    INTERNAL_ERROR,
    "Request cancelled: standard input was closed before it was answered",
  );
  for (const id of unanswered) await write(writeResponse({ id, error }));
  for (const { finalResult } of listens.values()) await write(finalResult);
  await finish();
}

/** Keeps a promise in the set until it is settled. */
function track(set: Set<Promise<unknown>>, work: Promise<unknown>): void {
  set.add(work);
  work.catch(() => {}).finally(() => set.delete(work));
}

/** Waits until all are settled, at most so many milliseconds. */
async function waitForAll(work: ReadonlySet<Promise<unknown>>, milliseconds: number): Promise<void> {
  if (work.size === 0) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<void>((resolve) => timer = setTimeout(resolve, milliseconds));
  await Promise.race([Promise.allSettled(work), timeout]);
  clearTimeout(timer);
}

function disconnectedBefore(method: string): RpcError {
  return new RpcError(INTERNAL_ERROR, `The client disconnected before it answered ${method}`);
}

function isList(value: readonly Response[] | Response): value is readonly Response[] {
  return Array.isArray(value);
}
