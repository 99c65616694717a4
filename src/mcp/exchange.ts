/**
 * What every transport does with a message once it is read: one call for a request or notification, one for each message of
 * a batch, and the response as text. The transports read messages, and carry what comes of them.
 *
 * @module
 */
import {
  answerFault,
  checkBatchSize,
  dispatchBatch,
  type Dispatcher,
  dispatchMessage,
} from "../jsonrpc/dispatch.ts";
import type { RpcError } from "../jsonrpc/error.ts";
import {
  type ClientResponse,
  type Message,
  readMessage,
  type Request as RpcRequest,
  type Response as RpcResponse,
  type ResponseId,
} from "../jsonrpc/message.ts";
import { checkBatchAllowed } from "./batch.ts";
import { Call, type CallHost } from "./call.ts";
import type { CallRequest } from "./call_request.ts";
import type { Connection } from "./connection.ts";
import type { Era } from "./era.ts";

export interface ExchangeOptions {
  readonly host: CallHost;
  readonly legacy: Dispatcher<Call>;
  readonly modern: Dispatcher<Call>;
}

/** How a transport serves the messages of a batch. */
export interface BatchOptions {
  readonly era: Era;
  /** `undefined` for a plain caller. */
  readonly revision: string | undefined;
  /** Runs one message after the other, as they may change the same session. */
  readonly inSeries: boolean;
  /** Passes a client's response on to the request that waits for it. */
  readonly deliver: (message: ClientResponse) => unknown;
  readonly createCall: (message: Message) => Call;
}

/** What became of a batch: its responses, or why none of its messages was dispatched. */
export type BatchOutcome =
  | { readonly responses: readonly RpcResponse[] | RpcResponse | undefined }
  | { readonly sizeError: RpcError }
  | { readonly refusal: string };

export interface Exchange {
  createCall(request: CallRequest, connection: Connection): Call;
  /** Dispatches a request. `finish` gets the response at the end of the call. */
  answer<Result>(
    message: RpcRequest,
    call: Call,
    finish: (response: RpcResponse) => Result,
  ): Promise<Awaited<Result>>;
  /** Dispatches a message that is no request: an invalid one has a response. */
  accept(message: Message, call: Call): Promise<RpcResponse | undefined> | RpcResponse;
  answerBatch(values: readonly unknown[], options: BatchOptions): Promise<BatchOutcome>;
  /** The response to a request that failed outside its method; `where` goes to the observer. */
  answerFault(id: ResponseId, fault: unknown, where: string, call?: Call): RpcResponse;
  /** Writes a response. A result that cannot be written as JSON is an internal error. */
  write<Written>(response: RpcResponse, write: (response: RpcResponse) => Written): Written;
}

export function createExchange({ host, legacy, modern }: ExchangeOptions): Exchange {
  const dispatcherOf = ({ profile }: Era): Dispatcher<Call> => profile === "modern" ? modern : legacy;
  return {
    createCall: (request, connection) => new Call(host, request, connection),
    answer(message, call, finish) {
      const dispatched = dispatchMessage(dispatcherOf(call.era), message, call) as Promise<RpcResponse>;
      return dispatched.then((response) => {
        call.end();
        return finish(response);
      }) as Promise<never>;
    },
    accept: (message, call) => dispatchMessage(dispatcherOf(call.era), message, call),
    async answerBatch(values, { era, revision, inSeries, deliver, createCall }) {
      const sizeError = checkBatchSize(values);
      if (sizeError) return { sizeError };
      const messages = values.map(readMessage);
      const refusal = checkBatchAllowed(messages, revision);
      if (refusal !== undefined) return { refusal };
      for (const message of messages) if (message.kind === "response") await deliver(message);
      const calls: Call[] = [];
      const responses = await dispatchBatch(dispatcherOf(era), messages, (message) => {
        const call = createCall(message);
        calls.push(call);
        return call;
      }, { inSeries });
      for (const call of calls) call.end();
      return { responses };
    },
    answerFault: (...fault) => answerFault(legacy, ...fault),
    write(response, write) {
      try {
        return write(response);
      } catch (fault) {
        return write(answerFault(legacy, response.id, fault, "answer"));
      }
    },
  };
}
