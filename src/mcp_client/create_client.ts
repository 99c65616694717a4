/**
 * The client: connects, sends requests, and renews a session that the server has forgotten.
 *
 * @module
 */
import { METHOD_NOT_FOUND } from "../jsonrpc/error.ts";
import type { ClientExchange, ConnectionInfo, ListName, McpClient, McpClientOptions } from "./client.ts";
import { type Connected, Connecting } from "./connecting.ts";
import { ConnectionError, McpError } from "./error.ts";
import { isHeaderMismatch } from "./header_fields.ts";
import { finish, type Unfinished } from "./input_rounds.ts";
import { findLegacyTask, followLegacyTask } from "./legacy_task.ts";
import { type ClientLimits, completeLimits, type JsonObject } from "./limits.ts";
import { ListedTools } from "./listed_tools.ts";
import { Listening } from "./listening.ts";
import { hasList, listPages } from "./list_pages.ts";
import { initialize } from "./negotiate.ts";
import { openConnection } from "./open_connection.ts";
import { MODERN } from "./revision.ts";
import { SessionLost } from "./transport.ts";
import { waitFor } from "./wait.ts";
import { type Sized, Wire } from "./wire.ts";

/**
 * Creates a client of one server. It connects when `connect` is called, or with its first request.
 * @throws {RangeError} for a limit that is not positive
 */
export function createMcpClient(options: McpClientOptions): McpClient {
  return new Client(options);
}

class Client implements McpClient {
  readonly #options: McpClientOptions;
  readonly #limits: Required<ClientLimits>;
  #connecting: Connecting | undefined;
  #connected: Connected | undefined;
  #closing: Promise<void> | undefined;
  /** Why the client cannot be used any more. */
  #ended: Error | undefined;
  /** Ends what `connect` waits for. */
  readonly #stop = new AbortController();
  /** Subscribed resources, and the log level, which a new session needs too. */
  readonly #uris = new Set<string>();
  #logLevel: JsonObject | undefined;

  constructor(options: McpClientOptions) {
    this.#options = options;
    this.#limits = completeLimits(options.limits);
  }

  get connection(): ConnectionInfo | undefined {
    return this.#connected?.info;
  }

  async connect(exchange: ClientExchange = {}): Promise<ConnectionInfo> {
    if (this.#connected) return this.#connected.info;
    exchange.signal?.throwIfAborted();
    return (await this.#connect(exchange).wait(exchange.signal, true)).info;
  }

  async request(
    method: string,
    params: Readonly<JsonObject> = {},
    exchange: ClientExchange = {},
  ): Promise<JsonObject> {
    const connected = this.#connected ?? await this.#ready(exchange);
    const { result: first } = await this.#send(connected, method, params, exchange, false);
    const { resultType } = first;
    const isModern = connected.info.revision === MODERN;
    const task = isModern || method !== "tools/call" ? undefined : findLegacyTask(first);
    if (!task && (!isModern || resultType === undefined || resultType === "complete")) return first;
    if (task || resultType === "task") exchange.onTask?.();
    const request: Unfinished = {
      method,
      params,
      exchange,
      answer: exchange.onServerRequest ?? this.#options.onServerRequest,
      capabilities: exchange.capabilities ?? this.#options.capabilities ?? {},
      server: connected.wire.server,
      duration: this.#limits.duration,
      send: async (...given) => (await this.#send(connected, ...given, false)).result,
    };
    const result = await (task ? followLegacyTask(task, request) : finish(first, request));
    if (method === "tools/call") await this.#checkOutput(connected, params, result);
    return result;
  }

  async requestOnce(
    method: string,
    params: Readonly<JsonObject> = {},
    exchange: ClientExchange = {},
  ): Promise<JsonObject> {
    const connected = this.#connected ?? await this.#ready(exchange);
    return (await this.#send(connected, method, params, exchange, true)).result;
  }

  async notify(
    method: string,
    params: Readonly<JsonObject> = {},
    exchange: ClientExchange = {},
  ): Promise<void> {
    const { wire } = this.#connected ?? await this.#ready(exchange);
    await wire.notify(method, params, exchange);
  }

  async listAll(list: ListName, exchange: ClientExchange = {}): Promise<JsonObject[]> {
    const connected = this.#connected ?? await this.#ready(exchange);
    if (!hasList(list, connected.info.capabilities)) return [];
    try {
      return await listPages(
        list,
        connected.wire.server,
        this.#limits,
        (method, params) => this.#send(connected, method, params, exchange, false),
        exchange.onTtl,
      );
    } catch (error) {
      // Servers may have resources without templates.
      const isMissing = error instanceof McpError && error.code === METHOD_NOT_FOUND;
      if (isMissing && list === "resourceTemplates") return [];
      throw error;
    }
  }

  async subscribe(uri: string, exchange: ClientExchange = {}): Promise<void> {
    const connected = this.#connected ?? await this.#ready(exchange);
    if (connected.info.revision === MODERN) return await connected.listening.subscribe(uri);
    await this.#send(connected, "resources/subscribe", { uri }, exchange, false);
    this.#uris.add(uri);
  }

  async unsubscribe(uri: string, exchange: ClientExchange = {}): Promise<void> {
    const connected = this.#connected ?? await this.#ready(exchange);
    if (connected.info.revision === MODERN) return await connected.listening.unsubscribe(uri);
    this.#uris.delete(uri);
    await this.#send(connected, "resources/unsubscribe", { uri }, exchange, false);
  }

  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    const isFirst = this.#ended === undefined;
    const closed = this.#ended ??= new ConnectionError(
      "closed",
      this.#options.transport.name,
      "the connection was closed",
      { mayHaveRun: true },
    );
    this.#stop.abort(closed);
    const connected = this.#connected ?? await this.#connecting?.connection.catch(() => undefined);
    if (connected) {
      connected.listening.stop();
      connected.wire.end(closed);
      await connected.wire.channel.close();
    }
    if (isFirst) this.#options.onClosed?.(undefined);
  }

  /** Connects for a request. What belongs to the request is not for connecting, which goes on when it cancels. */
  async #ready({ caller, signal }: ClientExchange): Promise<Connected> {
    signal?.throwIfAborted();
    return await this.#connect({ caller }).wait(signal, false);
  }

  #connect(exchange: ClientExchange): Connecting {
    if (this.#ended) {
      const { name } = this.#options.transport;
      const details = { cause: this.#ended, mayHaveRun: false };
      throw new ConnectionError("closed", name, "the connection is closed", details);
    }
    if (this.#connecting && !this.#connecting.isGivenUp) return this.#connecting;
    const connecting = new Connecting((signal) =>
      this.#open({ ...exchange, signal }).catch((error) => {
        if (this.#connecting === connecting) this.#connecting = undefined;
        throw error;
      })
    );
    return this.#connecting = connecting;
  }

  async #open(exchange: ClientExchange): Promise<Connected> {
    const { wire, info } = await openConnection({
      options: this.#options,
      limits: this.#limits,
      stop: this.#stop.signal,
      onClosed: (wire, error) => this.#onClosed(wire, error),
    }, exchange);
    if (wire.ended) throw wire.ended;
    const connected: Connected = {
      wire,
      tools: new ListedTools(wire.marked, this.#options.checkOutput ?? true),
      info,
      listening: this.#listening(wire, info, exchange.caller, 0),
      session: 0,
      renewing: undefined,
    };
    this.#connected = connected;
    connected.listening.start();
    return connected;
  }

  #listening(wire: Wire, info: ConnectionInfo, caller: unknown, session: number): Listening {
    const { capabilities: { elicitation, sampling, roots } = {}, onNotification, onServerRequest } =
      this.#options;
    return new Listening({
      wire,
      info,
      caller,
      hasReceiver: onNotification !== undefined,
      answers: [elicitation, sampling, roots, onServerRequest].some((each) => each !== undefined),
      onNotification: (method, params) => onNotification?.(method, params),
      onSessionLost: () => this.#renew(this.#connected!, session, { caller }),
    }, this.#uris);
  }

  #onClosed(wire: Wire, error: Error): void {
    // Before it is connected, `connect` rejects.
    if (this.#connected?.wire !== wire || this.#ended) return wire.end(error);
    this.#ended = error;
    this.#connected.listening.stop();
    wire.end(error);
    this.#options.onClosed?.(error);
  }

  async #send(
    connected: Connected,
    method: string,
    params: Readonly<JsonObject>,
    exchange: ClientExchange,
    once: boolean,
  ): Promise<Sized> {
    const { wire, session, listening } = connected;
    if (exchange.onServerRequest && listening.opening) await listening.opening;
    let sized: Sized;
    try {
      sized = await wire.send(method, params, exchange, { once });
    } catch (error) {
      if (error instanceof SessionLost) await this.#renew(connected, session, exchange);
      else if (isHeaderMismatch(error, method, connected.info)) await this.listAll("tools", exchange);
      else throw error;
      // In both cases the server did not execute the request.
      sized = await wire.send(method, params, exchange, { once }).catch((again) => {
        throw again instanceof SessionLost ? this.#sessionLost() : again;
      });
    }
    const { result, bytes } = sized;
    if (method === "tools/call") {
      if (connected.tools.hasOutput(params.name)) await this.#checkOutput(connected, params, result);
    } else if (method === "tools/list" && Array.isArray(result.tools)) {
      const hasFields = connected.info.revision === MODERN && wire.kind !== "stdio";
      return { result: { ...result, tools: connected.tools.accept(result.tools, hasFields, params) }, bytes };
    } else if (method === "logging/setLevel") this.#logLevel = params;
    return sized;
  }

  async #checkOutput(
    { tools, wire }: Connected,
    params: Readonly<JsonObject>,
    result: JsonObject,
  ): Promise<void> {
    const { resultType = "complete" } = result;
    const isFinal = resultType === "complete" && !findLegacyTask(result);
    if (!isFinal || !tools.hasOutput(params.name)) return;
    await tools.check(params.name as string, result, wire.server);
  }

  /** Begins a new session, once for all requests that lost the same one. */
  async #renew(connected: Connected, lost: number, exchange: ClientExchange): Promise<void> {
    if (connected.session !== lost) return;
    connected.renewing ??= this.#beginSession(connected, exchange).finally(() =>
      connected.renewing = undefined
    );
    await waitFor(connected.renewing, exchange.signal);
  }

  async #beginSession(connected: Connected, { caller, timeout }: ClientExchange): Promise<void> {
    const { wire, info } = connected;
    const renewed = { caller, timeout };
    try {
      connected.info = await initialize(wire, this.#options.capabilities ?? {}, info.revision, renewed);
    } catch (error) {
      throw error instanceof SessionLost ? this.#sessionLost() : error;
    }
    connected.listening.stop();
    connected.listening = this.#listening(wire, connected.info, caller, ++connected.session);
    connected.listening.start();
    await connected.listening.restore(() => this.#logLevel, timeout);
  }

  #sessionLost(): ConnectionError {
    const what = "ends each session at once. Report this to its operator";
    return new ConnectionError("closed", this.#options.transport.name, what, { mayHaveRun: false });
  }
}
