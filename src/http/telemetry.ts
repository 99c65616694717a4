/**
 * The option `telemetry`: what the server calls around requests, MCP messages and its own requests, so that they are traced
 * and measured. `openTelemetry()` of `trivet/opentelemetry` implements it. Types only: without the option nothing runs.
 *
 * @module
 */
import type { Fetch } from "./network/default_fetch.ts";

/** W3C trace context: header fields of HTTP, and members of `_meta` in MCP (https://www.w3.org/TR/trace-context/). */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** Where a request arrived. */
export interface TracedServer {
  /** Scheme, host and port of the server's address. */
  readonly origin: string;
  /** The path of the address without a slash at its end. */
  readonly base: string;
}

/** A JSON-RPC message of a client. Responses and invalid messages are not traced. */
export interface TracedMessage {
  readonly kind: string;
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: unknown;
}

/** The call of a message. */
export interface TracedCall {
  /** The protocol revision, such as `2026-07-28`. */
  readonly revision: string;
  readonly session: { readonly id: string } | undefined;
  /** What the runtime knows of the HTTP request; absent over stdio. */
  readonly runtime: { readonly ip?: string | undefined } | undefined;
  /** The HTTP request that carries the message. */
  readonly connection: { readonly request?: Request | undefined };
  readonly host: {
    /** Whether the server has a tool or a prompt of this name. */
    offers(kind: "tools" | "prompts", name: string): boolean;
  };
  /** Set to the context of the span while the call runs. */
  trace: TraceContext | undefined;
}

/** A session of a revision with a handshake that has ended. */
export interface EndedSession {
  readonly revision: string;
  readonly seconds: number;
  readonly transport: "tcp" | "pipe";
}

/** Traces and measures what a server does: for the option `telemetry`. */
export interface Telemetry {
  /** Answers an HTTP request in a span. `answer` gets the id of its trace. */
  traceRequest(
    server: TracedServer,
    request: Request,
    ip: string | undefined,
    answer: (trace: string | undefined) => Promise<Response>,
  ): Promise<Response>;
  /**
   * Answers an MCP message in a span, whose parent is the trace context in `_meta`.
   * @param methods the methods that the server has
   */
  traceMessage<Answer>(
    message: TracedMessage,
    call: TracedCall,
    answer: () => Answer,
    methods: Pick<ReadonlyMap<string, unknown>, "has">,
  ): Answer;
  /** Sends a request to an MCP client in a span. `send` gets the trace context to put into `_meta`. */
  traceClientRequest<Result>(
    call: TracedCall,
    method: string,
    send: (trace: TraceContext | undefined) => Promise<Result>,
  ): Promise<Result>;
  /** Records how long a session lasted. */
  recordSession(session: EndedSession): void;
  /** Wraps `fetch`: each request runs in a span, and carries its trace context in header fields. */
  traceFetch(fetch: Fetch): Fetch;
}
