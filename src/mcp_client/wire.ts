/**
 * Sends requests over a channel in the shape of a revision, and gives messages of the server to the calls they belong to.
 *
 * @module
 */
import { type Call, Calls } from "./calls.ts";
import type { ClientCapabilities, ClientExchange, McpClientOptions } from "./client.ts";
import { ConnectionError, McpError } from "./error.ts";
import { headerFields, type MarkedArgument } from "./header_fields.ts";
import type { ClientLimits, JsonObject } from "./limits.ts";
import { isObject } from "./message.ts";
import { META_PREFIX, MODERN } from "./revision.ts";
import { findOwner, ServerRequests } from "./server_requests.ts";
import type { Channel, ClientTransport, IncomingResponse, Receiver } from "./transport.ts";

/** Results other than `complete` that a request of 2026-07-28 may have. */
const INPUT_METHODS = ["tools/call", "prompts/get", "resources/read"];

/** How a request is sent. */
export interface SendOptions {
  /** The revision of the request. @default that of the connection */
  readonly revision?: string | undefined;
  /** The caller of `requestOnce` answers what the server asks. */
  readonly once?: boolean;
  /** Called with the id before the request is sent. */
  readonly onId?: (id: number) => void;
}

/** A result, and the bytes of its message. */
export interface Sized {
  readonly result: JsonObject;
  readonly bytes: number;
}

/** One connection. */
export class Wire implements Receiver {
  readonly limits: Required<ClientLimits>;
  readonly kind: ClientTransport["kind"];
  readonly server: string;
  readonly clientInfo: JsonObject;
  /** Negotiated; `undefined` before. */
  revision: string | undefined;
  /** The marked arguments of tools that were listed. */
  readonly marked: Map<string, readonly MarkedArgument[]> = new Map();
  /** What waits for the acknowledgement of a `subscriptions/listen`, by id. */
  readonly acknowledged: Map<number, (params: JsonObject) => void> = new Map();
  /** Why the connection ended. */
  ended: Error | undefined;
  channel!: Channel;
  readonly #options: McpClientOptions;
  readonly #onClosed: (error: Error) => void;
  readonly #calls: Calls;
  readonly #serverRequests: ServerRequests;
  #lastId = 0;

  constructor(
    options: McpClientOptions,
    limits: Required<ClientLimits>,
    { kind, name: server }: ClientTransport,
    onClosed: (error: Error) => void,
  ) {
    this.#options = options;
    this.limits = limits;
    this.kind = kind;
    this.server = server;
    this.#onClosed = onClosed;
    const { name, version, title, capabilities = {}, onServerRequest } = options;
    this.clientInfo = { name, version, ...(title !== undefined && { title }) };
    this.#calls = new Calls((call) => this.#cancel(call, this.#timedOut(call), "timeout"));
    this.#serverRequests = new ServerRequests({
      calls: this.#calls,
      capabilities,
      onServerRequest,
      respond: (text, caller) =>
        this.channel.post({ method: undefined, text, revision: this.revision, caller }),
    });
  }

  /**
   * Sends a request.
   * @throws {McpError} @throws {ConnectionError} {@linkcode SessionLost}, what the transport throws
   */
  async send(
    method: string,
    params: Readonly<JsonObject>,
    exchange: ClientExchange,
    options: SendOptions = {},
  ): Promise<Sized> {
    const { revision = this.revision, once = false } = options;
    const { signal } = exchange;
    signal?.throwIfAborted();
    if (this.ended) throw this.#closedBefore(this.ended);
    const id = ++this.#lastId;
    const isModern = revision === MODERN;
    const sent = this.#withMeta(id, params, exchange, isModern, once);
    const text = JSON.stringify({ jsonrpc: "2.0", id, method, params: sent });
    const marked = method === "tools/call" ? this.marked.get(String(params.name)) : undefined;
    const fields = isModern && this.kind !== "stdio" ? headerFields(method, params, marked) : undefined;
    options.onId?.(id);
    const incoming = await new Promise<IncomingResponse>((resolve, reject) => {
      const now = performance.now();
      const controller = new AbortController();
      const onAbort = (): void => this.#cancel(call, signal!.reason, "cancelled");
      const settle = (): void => {
        this.#calls.remove(id);
        signal?.removeEventListener("abort", onAbort);
        if (this.#serverRequests.size > 0) this.#serverRequests.end(call);
      };
      const call: Call = {
        id,
        method,
        ...(method === "tasks/result" && { task: params.taskId }),
        exchange,
        controller,
        began: now,
        lastMessage: now,
        timeout: exchange.timeout ?? this.limits.timeout,
        duration: exchange.timeout === Infinity ? Infinity : this.limits.duration,
        reject(error) {
          settle();
          reject(error);
        },
      };
      this.#calls.add(call);
      signal?.addEventListener("abort", onAbort);
      const { caller } = exchange;
      const onPolling = (retry: number): void => safely(() => exchange.onPolling?.(retry));
      const sending = { id, method, params, text, revision, fields, caller, onPolling };
      this.channel.send({ ...sending, signal: controller.signal }).then((response) => {
        settle();
        resolve(response);
      }, call.reject);
    });
    return { result: this.#read(incoming, method, isModern), bytes: incoming.bytes };
  }

  /** Sends a notification. */
  async notify(method: string, params: Readonly<JsonObject>, exchange: ClientExchange): Promise<void> {
    if (this.ended) throw this.#closedBefore(this.ended);
    const text = JSON.stringify({ jsonrpc: "2.0", method, params });
    const { caller, signal } = exchange;
    await this.channel.post({ method, text, revision: this.revision, caller, signal });
  }

  receive(message: JsonObject, origin: number | undefined): void {
    const { method, id } = message;
    const call = this.#calls.get(origin);
    if (call) call.lastMessage = performance.now();
    if (typeof method !== "string") return;
    const params = isObject(message.params) ? message.params : {};
    if (id === undefined) this.#receiveNotification(method, params, call, origin);
    // Servers of 2026-07-28 send no requests.
    else if (this.revision !== MODERN) this.#serverRequests.receive(message, call);
  }

  closed(error: Error): void {
    if (this.ended) return;
    this.end(error);
    this.#onClosed(error);
  }

  /** Rejects all calls. */
  end(error: Error): void {
    this.ended = error;
    for (const call of this.#calls.all()) {
      call.reject(error);
      call.controller.abort(error);
    }
    this.#serverRequests.end();
  }

  #withMeta(
    id: number,
    params: Readonly<JsonObject>,
    { meta, onProgress, onLog, logLevel, capabilities, onServerRequest }: ClientExchange,
    isModern: boolean,
    once: boolean,
  ): Readonly<JsonObject> {
    if (!isModern && meta === undefined && onProgress === undefined) return params;
    const all: JsonObject = { ...(params._meta as JsonObject | undefined), ...meta };
    if (onProgress) all.progressToken = id;
    if (isModern) {
      const declared = this.#options.capabilities ?? {};
      const canAnswer = once || onServerRequest !== undefined || this.#options.onServerRequest !== undefined;
      all[META_PREFIX + "protocolVersion"] = MODERN;
      all[META_PREFIX + "clientInfo"] = this.clientInfo;
      all[META_PREFIX + "clientCapabilities"] = capabilities ??
        (canAnswer ? declared : extensionsOf(declared));
      const level = logLevel ?? (onLog && "debug");
      if (level !== undefined) all[META_PREFIX + "logLevel"] = level;
    }
    return { ...params, _meta: all };
  }

  /** The result in a response. @throws {McpError} @throws {ConnectionError} */
  #read({ result, error, status }: IncomingResponse, method: string, isModern: boolean): JsonObject {
    if (error !== undefined) {
      if (result === undefined && isObject(error) && Number.isInteger(error.code)) {
        const text = typeof error.message === "string" ? error.message : "";
        throw new McpError(error.code as number, text, error.data);
      }
      throw this.#malformed("answered with an invalid error object", status);
    }
    if (!isObject(result)) throw this.#malformed("answered with a result that is not an object", status);
    if (!isModern) return result;
    const { resultType = "complete" } = result;
    const isKnown = resultType === "complete" ||
      resultType === "input_required" && INPUT_METHODS.includes(method) ||
      resultType === "task" && method === "tools/call" && typeof result.taskId === "string";
    if (!isKnown) throw this.#malformed("answered with a resultType that the request does not allow", status);
    return result;
  }

  #receiveNotification(
    method: string,
    params: JsonObject,
    call: Call | undefined,
    origin: number | undefined,
  ): void {
    if (method === "notifications/progress") {
      const owner = this.#calls.get(params.progressToken);
      // On the stream of another request, the progress is not that of the call.
      if (!owner || origin !== undefined && owner !== call) return;
      owner.lastMessage = performance.now();
      const { progress, total, message } = params;
      if (typeof progress !== "number") return;
      safely(() =>
        owner.exchange.onProgress?.(
          progress,
          typeof total === "number" ? total : undefined,
          typeof message === "string" ? message : undefined,
        )
      );
    } else if (method === "notifications/cancelled") this.#serverRequests.cancel(params.requestId);
    else if (method === "notifications/message") {
      const { level, data, logger } = params;
      const onLog = (call ?? findOwner(this.#calls))?.exchange.onLog;
      if (!onLog) return safely(() => this.#options.onNotification?.(method, params));
      safely(() =>
        onLog(
          typeof level === "string" ? level : "info",
          data,
          typeof logger === "string" ? logger : undefined,
        )
      );
    } else if (method === "notifications/subscriptions/acknowledged") {
      const meta = isObject(params._meta) ? params._meta[META_PREFIX + "subscriptionId"] : undefined;
      this.acknowledged.get((origin ?? meta) as number)?.(params);
    } else safely(() => this.#options.onNotification?.(method, params));
  }

  /** Rejects a call, and tells the server. */
  #cancel(call: Call, error: unknown, reason: string): void {
    call.reject(error);
    // Closing the stream is the cancellation of 2026-07-28 over HTTP.
    const isOpening = call.method === "initialize" || call.method === "server/discover";
    if (!isOpening && !(this.revision === MODERN && this.kind !== "stdio")) {
      const params = { requestId: call.id, reason };
      const text = JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params });
      this.#post("notifications/cancelled", text, call.exchange.caller);
    }
    call.controller.abort(error);
  }

  /** Sends a message whose loss does not matter. */
  async #post(method: string, text: string, caller: unknown): Promise<void> {
    if (!this.ended) {
      await this.channel.post({ method, text, revision: this.revision, caller }).catch(() => {});
    }
  }

  #timedOut({ method, timeout, began, duration }: Call): ConnectionError {
    const isLong = performance.now() - began >= duration;
    const what = isLong ? `did not finish ${method} within` : `sent nothing for ${method} within`;
    return new ConnectionError("timeout", this.server, `${what} ${isLong ? duration : timeout} ms`);
  }

  #closedBefore(cause: Error): ConnectionError {
    const what = "the connection is closed. Connect again";
    return new ConnectionError("closed", this.server, what, { cause, mayHaveRun: false });
  }

  #malformed(what: string, status: number | undefined): ConnectionError {
    return new ConnectionError("malformed", this.server, what, status === undefined ? {} : { status });
  }
}

/** What a client can do without answering anything. */
function extensionsOf({ extensions }: ClientCapabilities): ClientCapabilities {
  return extensions ? { extensions } : {};
}

/** Calls back. An error of the callback does not concern the connection. */
function safely(callback: () => void): void {
  try {
    callback();
  } catch {
    // The callback belongs to the application, and there is no one to report its error to.
  }
}
