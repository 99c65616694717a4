/**
 * What a client of MCP offers, for every revision and transport.
 *
 * @module
 */
import type { ClientLimits, JsonObject } from "./limits.ts";
import type { ClientTransport } from "./transport.ts";

export { ConnectionError, type ConnectionErrorReason, McpError } from "./error.ts";

export type { ClientLimits, JsonObject };

/**
 * The capabilities that a client declares, in the shape of 2026-07-28. Servers of older revisions get them without
 * `extensions`.
 */
export interface ClientCapabilities {
  /** `{}` stands for forms. */
  readonly elicitation?: { readonly form?: JsonObject; readonly url?: JsonObject };
  readonly sampling?: { readonly tools?: JsonObject; readonly context?: JsonObject };
  readonly roots?: { readonly listChanged?: boolean };
  /** Extensions by name, with their settings. */
  readonly extensions?: Readonly<Record<string, JsonObject>>;
}

/** The name of the tasks extension (2026-07-28) in `extensions`. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";
/** The name of the Skills extension (since 2025-11-25) in `extensions`. */
export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";

/** Answers `elicitation/create`, `sampling/createMessage` or `roots/list` with the result. */
export type AnswerServerRequest = (
  method: string,
  params: JsonObject,
  /** Aborts when the server cancels its request, or the call that it belongs to ends. */
  signal: AbortSignal,
) => Promise<JsonObject>;

/** What a client is made from. */
export interface McpClientOptions {
  readonly transport: ClientTransport;
  /** The name and version of this client. */
  readonly name: string;
  readonly version: string;
  readonly title?: string | undefined;
  /** @default {} */
  readonly capabilities?: ClientCapabilities | undefined;
  /** The revision of an earlier connection to this server, tried first. */
  readonly revision?: string | undefined;
  readonly limits?: ClientLimits | undefined;
  /** Whether structured content of tools that were listed is checked against their output schemas. @default true */
  readonly checkOutput?: boolean | undefined;
  /**
   * Notifications that belong to no request: list changes, resource updates, logging. With this, the client keeps a stream
   * open for them where the transport needs one.
   */
  readonly onNotification?: ((method: string, params: JsonObject) => void) | undefined;
  /** Answers requests of the server that belong to no request of the client, or to one without a handler of its own. */
  readonly onServerRequest?: AnswerServerRequest | undefined;
  /** Called once, when the connection ends: with an error unless `close()` ended it. */
  readonly onClosed?: ((reason: Error | undefined) => void) | undefined;
}

/** What belongs to one request. */
export interface ClientExchange {
  /** Cancels the request. It then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds without any message. @default the limit of the client */
  readonly timeout?: number | undefined;
  readonly onProgress?:
    | ((progress: number, total: number | undefined, message: string | undefined) => void)
    | undefined;
  /**
   * Called when the server ends the stream of the request to be polled (2025-11-25, SEP-1699), with the milliseconds after
   * which the client resumes it.
   */
  readonly onPolling?: ((retry: number) => void) | undefined;
  /** Called when the request has become a task, which is followed until it ends. */
  readonly onTask?: (() => void) | undefined;
  /** Log messages of this request. Servers of 2026-07-28 send them only with `logLevel`. */
  readonly onLog?: ((level: string, data: unknown, logger: string | undefined) => void) | undefined;
  /** The level to ask a server of 2026-07-28 for. @default "debug" with `onLog` */
  readonly logLevel?: string | undefined;
  /** Answers requests of the server that belong to this request. Without it, they are refused. */
  readonly onServerRequest?: AnswerServerRequest | undefined;
  /**
   * What to declare with this request (2026-07-28). Sessions of older revisions have declared the capabilities of the client.
   * @default the capabilities of the client; without `onServerRequest`, only its extensions
   */
  readonly capabilities?: ClientCapabilities | undefined;
  /** Members of `_meta`, such as `traceparent`. */
  readonly meta?: Readonly<JsonObject> | undefined;
  /** Called by `listAll` with the milliseconds for which a page may be kept (`ttlMs` of 2026-07-28). */
  readonly onTtl?: ((ttlMs: number) => void) | undefined;
  /** Passed to the transport: whose credentials to send. */
  readonly caller?: unknown;
}

/** What a connection was negotiated to. */
export interface ConnectionInfo {
  readonly revision: string;
  /** `name` and `version`; empty when the server did not say. */
  readonly serverInfo: JsonObject;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  readonly transport: "http" | "sse" | "stdio";
}

/** The lists of a server; `skills` with the Skills extension. */
export type ListName = "tools" | "resources" | "resourceTemplates" | "prompts" | "skills";

/** A connection to one MCP server. */
export interface McpClient {
  /** Set while connected. */
  readonly connection: ConnectionInfo | undefined;
  /**
   * Connects, with the newest revision that both have. Concurrent and later calls share one connection until it fails;
   * requests connect by themselves. One call that cancels does not end the connecting while others wait for it.
   * @throws {ConnectionError} @throws {McpError}
   */
  connect(exchange?: ClientExchange): Promise<ConnectionInfo>;
  /**
   * Sends a request and returns its final result: requests of the server for input are answered by `onServerRequest`, and a
   * task is polled until it ends.
   * @throws {McpError} the server answered with an error
   * @throws {ConnectionError} it did not answer
   */
  request(method: string, params?: Readonly<JsonObject>, exchange?: ClientExchange): Promise<JsonObject>;
  /**
   * Sends a request and returns its result, which in 2026-07-28 may be `{ resultType: "input_required", … }` or
   * `{ resultType: "task", … }`. To retry, add `inputResponses` and `requestState` to the parameters.
   */
  requestOnce(method: string, params?: Readonly<JsonObject>, exchange?: ClientExchange): Promise<JsonObject>;
  /** Sends a notification. */
  notify(method: string, params?: Readonly<JsonObject>, exchange?: ClientExchange): Promise<void>;
  /** All pages of a list. Entries without their name or URI are left out, and tools with invalid `x-mcp-header`. */
  listAll(list: ListName, exchange?: ClientExchange): Promise<JsonObject[]>;
  /** Subscribes to updates of a resource, which come to `onNotification`. */
  subscribe(uri: string, exchange?: ClientExchange): Promise<void>;
  unsubscribe(uri: string, exchange?: ClientExchange): Promise<void>;
  /** Ends the session and the process. Requests that still run reject. Never rejects. */
  close(): Promise<void>;
}
