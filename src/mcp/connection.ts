/**
 * The connection of a call: how messages reach its client while it runs, and what the transport learns from it.
 *
 * @module
 */
import type { Id } from "../jsonrpc/message.ts";
import type { Handshake } from "./session/session.ts";

/** Sends messages to the client while a call runs. */
export interface Outlet {
  /** Sends a notification. Resolves when the next may be sent. */
  notify(method: string, params: Record<string, unknown>): Promise<void>;
  /** Sends a request and waits for its result; absent where the transport or revision does not allow it. */
  sendRequest?: ((method: string, params: unknown, signal: AbortSignal) => Promise<unknown>) | undefined;
  /** Closes the connection; the client resumes the stream after `retry` milliseconds. */
  disconnect?(retry: number): Promise<void>;
}

export interface Connection {
  /** Absent when the client takes no message before the response. */
  readonly outlet?: Outlet | undefined;
  /** The HTTP request, whose signal aborts when the client disconnects. */
  readonly request?: Request | undefined;
  /** Called with the content of `initialize`, where it starts a session. */
  readonly onHandshake?: ((handshake: Handshake) => void | Promise<void>) | undefined;
  /** Called with the id of a cancelled request, where the connection itself is the session. */
  readonly onCancelled?: ((id: Id) => void) | undefined;
}

/** Of a call that continues without its client, as a task. */
export const NO_CONNECTION: Connection = {};
