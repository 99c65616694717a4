/**
 * The stdio transport (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio, and of 2026-07-28
 * https://modelcontextprotocol.io/specification/draft/basic/transports/stdio): one JSON message a line, nothing else on the
 * output. Both eras may speak over one process; a handshake makes the connection a session.
 *
 * @module
 */
import { randomId } from "../../crypto/secret.ts";
import type { Principal } from "../../http/principal.ts";
import {
  answerFault,
  dispatchBatch,
  type Dispatcher,
  dispatchMessage,
  refuseBatchSize,
} from "../../jsonrpc/dispatch.ts";
import { INTERNAL_ERROR, INVALID_REQUEST, RpcError } from "../../jsonrpc/error.ts";
import {
  type Answer,
  type Id,
  type Message,
  parseJson,
  readMessage,
  type Response,
  writeResponse,
} from "../../jsonrpc/message.ts";
import { refuseBatch } from "../batch.ts";
import { Call, type CallHost, type Outlet } from "../call.ts";
import type { Changes } from "../definition/changes.ts";
import { eraOfRevision, LEGACY, MODERN, MODERN_ERA } from "../era.ts";
import { readLines, writeLines } from "./lines.ts";
import { type Listening, type ListenOptions, notificationOf, startListening } from "../http/listen.ts";
import { claimedRevision, metaOf, type ModernWriter, readMeta } from "../modern.ts";
import { toClientError } from "../input/server_request.ts";
import type { Session, Sessions } from "../session/session.ts";
import { hearChanges } from "../session/session_changes.ts";
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

/** A question to the client that waits. */
interface Waiting {
  readonly method: string;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Milliseconds in which calls may still be answered when the input has ended. Clients kill the process after 2 s. */
const ANSWER_MS = 1000;
/** Milliseconds more for those that were told to stop. */
const STOP_MS = 500;

/**
 * Answers messages until the input ends. Calls run at the same time; answers come as they are ready. Calls under way at
 * the end have a second to be answered; then they are cancelled.
 */
export async function serveStdio(
  options: StdioOptions,
  input: ReadableStream<Uint8Array>,
  output: WritableStream<Uint8Array>,
  principal: Principal | undefined,
): Promise<void> {
  const { write, finish } = writeLines(output);
  const { host, sessions, writer } = options;
  /** Requests that are not answered yet. */
  const calls = new Map<Id, Call>();
  /** Members of batches. */
  const members = new Set<Call>();
  const listens = new Map<Id, Listening>();
  const waiting = new Map<string, Waiting>();
  const stops: (() => void)[] = [];
  let session: Session | undefined;
  let hasLeft = false;

  const send = (method: string, params?: Record<string, unknown>): Promise<void> =>
    write(JSON.stringify({ jsonrpc: "2.0", method, ...(params && { params }) }));

  /** Whoever reads no more needs not to hear of it. */
  const say = (text: string): void => void write(text).catch(() => {});

  const outlet: Outlet = { notify: send };
  const askingOutlet: Outlet = {
    notify: send,
    ask: (method, params, signal) =>
      new Promise((resolve, reject) => {
        if (hasLeft) return reject(leftBefore(method));
        const id = randomId("");
        waiting.set(id, { method, resolve, reject });
        signal.addEventListener("abort", () => waiting.delete(id) && reject(signal.reason), { once: true });
        say(JSON.stringify({ jsonrpc: "2.0", id, method, ...(params !== undefined && { params }) }));
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
    call.outlet = askingOutlet;
    call.onHandshake = begin;
    if (session) call.join(session);
    return call;
  }

  function begin(handshake: Pick<Session, "revision" | "capabilities" | "clientInfo">): void {
    const own = session = sessions.local(handshake, principal);
    for (const stop of stops.splice(0)) stop();
    stops.push(
      hearChanges(options, own, { principal, runtime: undefined }, ({ change }) => {
        send(...notificationOf(change)).catch(() => {});
      }),
    );
  }

  async function answer(message: Message): Promise<string | undefined> {
    if (message.kind === "answer") return void takeAnswer(message);
    const claim = claimedRevision("params" in message ? metaOf(message.params) : undefined);
    const looksAround = claim === undefined && "method" in message && message.method === "server/discover";
    const revision = looksAround || claim !== undefined && !LEGACY.includes(claim as string)
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
      // Of two with one id, the second is still there.
      if (calls.get(id) === call) calls.delete(id);
    }
  }

  /** What a handler gave may be nothing that JSON can hold: that is a fault like any other. */
  function toText(response: Response, write: (response: Response) => string): string {
    try {
      return write(response);
    } catch (fault) {
      return write(answerFault(options.legacy, response.id, fault, "answer"));
    }
  }

  async function listen(call: Call, { id, params }: Message & { kind: "request" }): Promise<undefined> {
    const listening = await startListening(options.listen, call, params, say);
    // Another of this id may have begun, or this one be cancelled meanwhile.
    listens.get(id)?.stop();
    listens.delete(id);
    if (call.isCancelled) listening.stop();
    else listens.set(id, listening);
  }

  function takeAnswer({ id, result, error }: Answer): void {
    const asked = waiting.get(id as string);
    if (!asked) return;
    waiting.delete(id as string);
    if (error === undefined) asked.resolve(result);
    else asked.reject(toClientError(asked.method, error));
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
    const excess = refuseBatchSize(value);
    if (excess) return writeResponse({ id: null, error: excess });
    const messages = value.map(readMessage);
    const reason = refuseBatch(messages, session?.revision);
    if (reason !== undefined) {
      return writeResponse({ id: null, error: new RpcError(INVALID_REQUEST, reason) });
    }
    for (const message of messages) if (message.kind === "answer") takeAnswer(message);
    const revision = session?.revision ?? LEGACY[0]!;
    const own: Call[] = [];
    const responses = await dispatchBatch(options.legacy, messages, (message) => {
      const call = newCall(revision);
      own.push(call);
      members.add(call);
      if (message.kind === "request") {
        call.id = message.id;
        call.meta = metaOf(message.params) ?? call.meta;
      }
      return call;
    }, { inSeries: true });
    for (const call of own) {
      call.end();
      members.delete(call);
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
      keep(
        answering,
        answerLine(line).then((text) => {
          if (text !== undefined) keep(writing, write(text));
        }),
      );
    }
  } catch (error) {
    for (const call of calls.values()) call.cancel("The client disconnected");
    throw error;
  } finally {
    // Nobody answers any more; what needs no answer is still finished.
    hasLeft = true;
    for (const { method, reject } of waiting.values()) reject(leftBefore(method));
    await settled(answering, ANSWER_MS);
    unanswered = [...calls.keys()];
    for (const call of [...calls.values(), ...members]) call.cancel("Standard input was closed");
    await settled(answering, STOP_MS);
    await Promise.allSettled(writing);
    for (const stop of stops) stop();
    for (const { stop } of listens.values()) stop();
  }
  const error = new RpcError(
    INTERNAL_ERROR,
    "Request cancelled: standard input was closed before it was answered",
  );
  for (const id of unanswered) await write(writeResponse({ id, error }));
  for (const { farewell } of listens.values()) await write(farewell);
  await finish();
}

/** Keeps work in the set until it has ended, in whichever way. */
function keep(set: Set<Promise<unknown>>, work: Promise<unknown>): void {
  set.add(work);
  work.catch(() => {}).finally(() => set.delete(work));
}

/** Waits for all of them, so long at most. */
async function settled(work: ReadonlySet<Promise<unknown>>, milliseconds: number): Promise<void> {
  if (work.size === 0) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => timer = setTimeout(resolve, milliseconds));
  await Promise.race([Promise.allSettled(work), late]);
  clearTimeout(timer);
}

function leftBefore(method: string): RpcError {
  return new RpcError(INTERNAL_ERROR, `The client disconnected before it answered ${method}`);
}

function isList(value: readonly Response[] | Response): value is readonly Response[] {
  return Array.isArray(value);
}
