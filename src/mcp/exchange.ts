/**
 * What every transport does with a message once it is read: one call for a request or notification, one for each message of
 * a batch, and the response as text. The transports read messages, and carry what comes of them.
 *
 * @module
 */
import { answerFault, type Dispatcher, dispatchMessage } from "../jsonrpc/dispatch.ts";
import type {
  Message,
  Request as RpcRequest,
  Response as RpcResponse,
  ResponseId,
} from "../jsonrpc/message.ts";
import type { BatchOptions, BatchOutcome } from "./batch.ts";
import { Call, type CallHost } from "./call.ts";
import type { CallRequest } from "./call_request.ts";
import type { Connection } from "./connection.ts";
import type { Era } from "./era.ts";
import { lazy } from "./lazy.ts";

export interface ExchangeOptions {
  readonly host: CallHost;
  readonly legacy: Dispatcher<Call>;
  readonly modern: Dispatcher<Call>;
}

export interface Exchange {
  createCall(request: CallRequest, connection: Connection): Call;
  /** Dispatches a request. `finish` gets the response at the end of the call: at once when its method returns no promise. */
  answer<Result>(
    message: RpcRequest,
    call: Call,
    finish: (response: RpcResponse) => Result,
  ): Result | Promise<Awaited<Result>>;
  /** Dispatches a message that is no request: an invalid one has a response. */
  accept(message: Message, call: Call): Promise<RpcResponse | undefined> | RpcResponse;
  answerBatch(values: readonly unknown[], options: BatchOptions): Promise<BatchOutcome>;
  /** The response to a request that failed outside its method; `where` goes to the observer. */
  answerFault(id: ResponseId, fault: unknown, where: string, call?: Call): RpcResponse;
  /** Writes a response. A result that cannot be written as JSON is an internal error. */
  write<Written>(response: RpcResponse, write: (response: RpcResponse) => Written): Written;
}

/** Loads with the first batch. */
const batches = lazy(() => import("./batch.ts"));

export function createExchange({ host, legacy, modern }: ExchangeOptions): Exchange {
  const dispatcherOf = ({ profile }: Era): Dispatcher<Call> => profile === "modern" ? modern : legacy;
  return {
    createCall: (request, connection) => new Call(host, request, connection),
    answer(message, call, finish) {
      const end = (response: RpcResponse | undefined) => {
        call.end();
        return finish(response!);
      };
      const dispatched = dispatchMessage(dispatcherOf(call.era), message, call);
      return dispatched instanceof Promise ? dispatched.then(end) as Promise<never> : end(dispatched);
    },
    accept: (message, call) => dispatchMessage(dispatcherOf(call.era), message, call),
    answerBatch: (values, options) =>
      batches.use(({ answerBatch }) => answerBatch(dispatcherOf(options.era), values, options)) as Promise<
        never
      >,
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
