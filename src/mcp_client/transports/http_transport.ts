/**
 * Streamable HTTP: each message is a POST, answered by JSON or an event stream
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http, and of 2026-07-28
 * https://modelcontextprotocol.io/specification/draft/basic/transports/streamable-http).
 *
 * @module
 */
import { mediaType } from "../../http/body/media_type.ts";
import { ConnectionError } from "../error.ts";
import { MAX_ERROR_BYTES, readText } from "./http_body.ts";
import { discardBody, HttpSender } from "./http_sender.ts";
import { HttpStreams } from "./http_streams.ts";
import type { JsonObject } from "../limits.ts";
import { isObject, isResponseTo, parseMessages } from "../message.ts";
import { sseTransport } from "./sse_transport.ts";
import {
  type Channel,
  type ClientTransport,
  type HttpTransportOptions,
  type IncomingResponse,
  type OutgoingMessage,
  type OutgoingRequest,
  type Receiver,
  SessionLost,
  type StreamEnd,
} from "../transport.ts";

/**
 * A server at a URL: Streamable HTTP, else HTTP+SSE of 2024-11-05.
 * @throws {TypeError} if the URL is not one of HTTP
 */
export function httpTransport(options: HttpTransportOptions): ClientTransport {
  const sender = new HttpSender(options);
  return {
    name: sender.name,
    kind: "http",
    open: (receiver) => Promise.resolve(new HttpChannel(sender, receiver)),
    fallback: sseTransport(options),
  };
}

/** How long to wait for the server when a session ends. */
const CLOSE_MS = 2000;
/** Visible ASCII (transports, session management); longer ids are not sent back. */
const SESSION_ID = /^[\x21-\x7e]{1,8192}$/;

class HttpChannel implements Channel {
  readonly #sender: HttpSender;
  readonly #receiver: Receiver;
  readonly #streams: HttpStreams;
  #session: string | undefined;
  /** The session before the last handshake. */
  #before: string | undefined;
  #caller: unknown;
  #revision: string | undefined;

  constructor(sender: HttpSender, receiver: Receiver) {
    this.#sender = sender;
    this.#receiver = receiver;
    this.#streams = new HttpStreams(sender, receiver);
  }

  async send(request: OutgoingRequest): Promise<IncomingResponse> {
    const { id, method, text, caller, signal } = request;
    // A handshake that fails leaves the session as it was: the next request finds out that it is lost, and tries again.
    const isHandshake = method === "initialize";
    const session = isHandshake ? undefined : this.#session;
    const fields = this.#fields(request.revision, session, request.fields);
    const response = await this.#sender.send({ method: "POST", body: text, fields, caller, signal });
    if (!response.ok) return await this.#readFailure(response, request, session);
    const type = mediaType(response.headers.get("content-type"));
    let incoming: IncomingResponse;
    if (type === "application/json") {
      const read = await readText(response, this.#receiver.limits.messageBytes, this.#sender.name, signal);
      incoming = this.#pick(parseMessages(read.text, this.#sender.name), id, read.bytes);
    } else if (type === "text/event-stream" && response.body !== null) {
      incoming = await this.#streams.read(response.body, request, fields);
    } else {
      discardBody(response);
      const what = response.status === 202
        ? "accepted a request without answering it"
        : `answered with the content type "${type}" instead of JSON or an event stream`;
      throw this.#malformed(`${what} (HTTP ${response.status})`, response.status);
    }
    if (isHandshake && incoming.error === undefined) {
      this.#begin(response.headers.get("mcp-session-id"), caller);
    }
    return incoming;
  }

  async post(message: OutgoingMessage): Promise<void> {
    try {
      await this.#post(message);
    } catch (error) {
      // The handshake has failed: see `send`.
      if (message.method === "notifications/initialized") this.#session = this.#before ?? this.#session;
      throw error;
    }
  }

  async #post({ method, text, revision, caller, signal }: OutgoingMessage): Promise<void> {
    this.#revision = revision;
    const session = this.#session;
    const named = revision === undefined || method === undefined ? undefined : { "mcp-method": method };
    const fields = this.#fields(revision, session, revision === undefined ? undefined : named);
    const sent = {
      method: "POST",
      body: text,
      fields,
      caller,
      signal: signal ?? this.#streams.signal,
    } as const;
    const response = await this.#sender.send(sent);
    discardBody(response);
    if (response.status === 404 && session !== undefined) throw new SessionLost("session not found");
    if (!response.ok) {
      throw new ConnectionError("status", this.#sender.name, `answered HTTP ${response.status}`, {
        status: response.status,
      });
    }
  }

  listen = (
    revision: string,
    caller: unknown,
    signal: AbortSignal,
    onOpen: (isNew: boolean) => void,
  ): Promise<StreamEnd> =>
    this.#streams.listen(this.#fields(revision, this.#session, undefined), caller, signal, onOpen);

  async close(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    this.#streams.close();
    if (session === undefined) return;
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), CLOSE_MS);
    try {
      const fields = this.#fields(this.#revision, session, undefined);
      const ended = { method: "DELETE", fields, caller: this.#caller, signal: stop.signal } as const;
      // A `fetch` in the same process may ignore the signal.
      const stopped = new Promise<undefined>((resolve) =>
        stop.signal.addEventListener("abort", () => resolve(undefined))
      );
      const response = await Promise.race([this.#sender.send(ended), stopped]);
      if (response) discardBody(response);
    } catch {
      // The server may refuse (405), or be gone: the session then expires by itself.
    } finally {
      clearTimeout(timer);
    }
  }

  #begin(session: string | null, caller: unknown): void {
    if (session !== null && !SESSION_ID.test(session)) {
      throw this.#malformed("sent a session id that is not of visible ASCII characters", undefined);
    }
    this.#before = this.#session;
    this.#session = session ?? undefined;
    this.#streams.forget();
    this.#caller = caller;
  }

  #fields(
    revision: string | undefined,
    session: string | undefined,
    more: Readonly<Record<string, string>> | undefined,
  ): Record<string, string> {
    const fields: Record<string, string> = {
      ...more,
      "content-type": "application/json",
      "accept": "application/json, text/event-stream",
    };
    if (revision !== undefined) fields["mcp-protocol-version"] = revision;
    if (session !== undefined) fields["mcp-session-id"] = session;
    return fields;
  }

  /** The response among the messages of a JSON body. The others go to the receiver. */
  #pick(messages: readonly JsonObject[], id: number, bytes: number): IncomingResponse {
    let found: JsonObject | undefined;
    for (const message of messages) {
      if (isResponseTo(message, id)) found ??= message;
      else this.#receiver.receive(message, id);
    }
    if (found) return { result: found.result, error: found.error, bytes };
    throw this.#malformed("answered with a message that is not the response to the request", 200);
  }

  async #readFailure(
    response: Response,
    { id, method, signal }: OutgoingRequest,
    session: string | undefined,
  ): Promise<IncomingResponse> {
    const { status } = response;
    const error = await this.#readError(response, id, signal);
    const isSessionLost = status === 404 && session !== undefined && method !== "initialize" &&
      !(error && error.isForRequest);
    if (isSessionLost) throw new SessionLost("session not found");
    if (error) return { error: error.error, bytes: 0, status };
    const isElsewhere = status === 404 || status === 405 || status === 415;
    const hint = isElsewhere ? ". Check the URL" : status >= 500 ? ". Try again later" : "";
    const mayHaveRun = status !== 404 && status !== 405 && status !== 429;
    const details = { status, mayHaveRun };
    throw new ConnectionError("status", this.#sender.name, `answered HTTP ${status}${hint}`, details);
  }

  /** The error object of a response with an error status, if it has one. */
  async #readError(
    response: Response,
    id: number,
    signal: AbortSignal,
  ): Promise<{ error: unknown; isForRequest: boolean } | undefined> {
    if (mediaType(response.headers.get("content-type")) !== "application/json") {
      discardBody(response);
      return undefined;
    }
    try {
      const { text } = await readText(response, MAX_ERROR_BYTES, this.#sender.name, signal);
      const [message] = parseMessages(text, this.#sender.name);
      const isUsable = message && isObject(message.error) && (message.id === id || message.id == null);
      return isUsable ? { error: message.error, isForRequest: message.id === id } : undefined;
    } catch (error) {
      if (signal.aborted) throw error;
      return undefined;
    }
  }

  #malformed(what: string, status: number | undefined): ConnectionError {
    return new ConnectionError("malformed", this.#sender.name, what, status === undefined ? {} : { status });
  }
}
