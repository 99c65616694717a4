/**
 * What the client needs of a transport.
 *
 * @module
 */
import type { ClientLimits, JsonObject } from "./limits.ts";

/** A way to reach one server. Made by `httpTransport`, `sseTransport` or `processTransport`. */
export interface ClientTransport {
  /** The URL or command of the server, for errors. Contains no secret. */
  readonly name: string;
  readonly kind: "http" | "sse" | "stdio";
  /** Opens the connection, unless the signal aborts. Called again after it closed. @throws {ConnectionError} */
  open(receiver: Receiver, caller: unknown, signal: AbortSignal): Promise<Channel>;
  /** The transport to try when the server does not support this one. */
  readonly fallback?: ClientTransport | undefined;
}

/** What a channel reports. */
export interface Receiver {
  readonly limits: Required<ClientLimits>;
  /** A request or notification of the server. `origin` is the id of the request on whose stream it came, if there is one. */
  receive(message: JsonObject, origin: number | undefined): void;
  /** The connection ended. Not called after `close()`. */
  closed(error: Error): void;
}

/** A request as it is sent. */
export interface OutgoingRequest {
  readonly id: number;
  readonly method: string;
  readonly params: Readonly<JsonObject>;
  /** The message as JSON. */
  readonly text: string;
  /** The revision, once it is negotiated or claimed. */
  readonly revision: string | undefined;
  /** Header fields that repeat parts of the message (2026-07-28). */
  readonly fields: Readonly<Record<string, string>> | undefined;
  readonly caller: unknown;
  /** Called when the server ended the stream of the request, with the milliseconds after which it is resumed. */
  readonly onPolling: (retry: number) => void;
  /** Aborts when the request is cancelled or timed out. */
  readonly signal: AbortSignal;
}

/** The message that answers a request: `result` or `error` is set, both unchecked. */
export interface IncomingResponse {
  readonly result?: unknown;
  readonly error?: unknown;
  /** Bytes of the message. */
  readonly bytes: number;
  readonly status?: number | undefined;
}

/** An open connection. */
export interface Channel {
  /** Sends a request, and resolves with its response. @throws {ConnectionError} */
  send(request: OutgoingRequest): Promise<IncomingResponse>;
  /** Sends a notification or a response. */
  post(message: OutgoingMessage): Promise<void>;
  /**
   * Opens the stream for messages that belong to no request; resolves when it has ended. Absent where none is needed.
   * `onOpen` learns whether a stream was opened that has nothing from before.
   * @throws {SessionLost} @throws {ConnectionError}
   */
  readonly listen?:
    | ((
      revision: string,
      caller: unknown,
      signal: AbortSignal,
      onOpen: (isNew: boolean) => void,
    ) => Promise<StreamEnd>)
    | undefined;
  /** Ends the session, if there is one, and the connection. Never rejects. */
  close(): Promise<void>;
}

/**
 * How the stream ended, or why it could not be opened: `retry` are the milliseconds after which the server wants to be asked
 * again, if it said so.
 */
export type StreamEnd = "unsupported" | { readonly retry: number | undefined };

/** A notification or a response as it is sent. */
export interface OutgoingMessage {
  readonly method: string | undefined;
  readonly text: string;
  readonly revision: string | undefined;
  readonly caller: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** Thrown by a channel whose session the server has forgotten: the request was not executed. */
export class SessionLost extends Error {
  override readonly name = "SessionLost";
}

/** The response to a request of a client that the server refused for its credentials. */
export interface Refusal {
  /** 401 or 403. */
  readonly status: number;
  /** `WWW-Authenticate`. */
  readonly challenge: string | null;
  readonly url: string;
  /** The header fields that `headers` gave. */
  readonly used: Readonly<Record<string, string>>;
}

/** The options of `httpTransport` and `sseTransport`. */
export interface HttpTransportOptions {
  readonly url: string | URL;
  /** @default the `fetch` of the runtime */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /**
   * Header fields for each request, such as `authorization`, or a function that returns those of a caller. An error that it
   * throws ends the stream for notifications, unless its name is `AccessUnavailable`: the stream is then opened again later.
   */
  readonly headers?:
    | Readonly<Record<string, string>>
    | ((
      caller: unknown,
      signal?: AbortSignal,
    ) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>)
    | undefined;
  /** Called after 401 or 403. `true` sends the request once more, with new `headers`. */
  readonly onRefused?:
    | ((caller: unknown, refusal: Refusal, signal?: AbortSignal) => Promise<boolean>)
    | undefined;
}

/** A process that was started. */
export interface LaunchedProcess {
  /** Writes to standard input. Resolves when more may be written. */
  write(text: string): Promise<void> | undefined;
  /**
   * Closes standard input, then ends the process and its children: SIGTERM after some time, then SIGKILL.
   * @param isFaulty sends SIGTERM at once
   */
  stop(isFaulty?: boolean): Promise<void>;
}

/** What a process reports. */
export interface ProcessEvents {
  onOutput(chunk: Uint8Array): void;
  /** Called once, when the process has ended or could not be started, and its output was read. */
  onExit(description: string, error: Error | undefined): void;
}

/** Starts a process; made by `launchProcess` of `trivet/launch-process`. */
export interface Launch {
  /** The command, for errors. */
  readonly name: string;
  start(events: ProcessEvents): LaunchedProcess;
}
