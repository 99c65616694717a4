/**
 * Spans and durations of MCP messages, by the semantic conventions (https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/).
 * No attribute holds arguments, results, or the id by which a client continues its session.
 *
 * @module
 */
import {
  type Attributes,
  context,
  type Histogram,
  isSpanContextValid,
  type Link,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import type { TraceContext, TracedCall, TracedMessage } from "../../http/telemetry.ts";
import { requestContexts } from "./http_spans.ts";
import { readSpanContext, withParent, writeTraceContext } from "./trace_context.ts";

/** Notifications that the server ignores. */
const IGNORED: ReadonlySet<string> = new Set([
  "notifications/initialized",
  "notifications/cancelled",
  "notifications/progress",
  "notifications/roots/list_changed",
]);
const MAX_ID_CHARACTERS = 100;

type Members = Readonly<Record<string, unknown>>;

export interface McpSpanOptions {
  readonly tracer: Tracer;
  readonly durations: Histogram;
}

/** Answers a message in its span, which ends with the response, also where that is the last event of a stream. */
export function traceMcpMessage<Answer>(
  { tracer, durations }: McpSpanOptions,
  message: TracedMessage,
  call: TracedCall,
  answer: () => Answer,
  methods: Pick<ReadonlyMap<string, unknown>, "has">,
): Answer {
  const { method } = message;
  if (method === undefined) return answer();
  const began = performance.now();
  const params = toMembers(message.params);
  const meta = toMembers(params._meta);
  // A name that a client makes up must not become a name of a span, or a series of a metric.
  const name = methods.has(method) || IGNORED.has(method) ? method : "_OTHER";
  const { target, ...named } = readTarget(name, params, call);
  const measured: Attributes = {
    "mcp.method.name": name,
    ...named,
    ...(name === "tools/call" && { "gen_ai.operation.name": "execute_tool" }),
    ...transportOf(call),
  };
  const { id } = message;
  const { request } = call.connection;
  const active = request && requestContexts.get(request) || context.active();
  const ambient = trace.getSpanContext(active);
  const parent = readSpanContext(meta.traceparent, meta.tracestate);
  // The HTTP request that carried the message is not its cause: one stream may carry many.
  const links: Link[] = parent && ambient && isSpanContextValid(ambient) ? [{ context: ambient }] : [];
  const span = tracer.startSpan(target === undefined ? name : `${name} ${target}`, {
    kind: SpanKind.SERVER,
    links,
    attributes: {
      ...measured,
      "mcp.protocol.version": call.revision,
      ...(id !== undefined && id !== null &&
        { "jsonrpc.request.id": String(id).slice(0, MAX_ID_CHARACTERS) }),
      ...(call.session && { "mcp.session.id": call.session.id }),
      ...(call.runtime?.ip !== undefined && { "client.address": call.runtime.ip }),
    },
  }, withParent(active, parent));
  call.trace = writeTraceContext(span.spanContext());
  const answered = context.with(trace.setSpan(active, span), answer);
  Promise.resolve(answered).then((response) => {
    const outcome: Attributes = { "mcp.protocol.version": revisionOf(name, response) ?? call.revision };
    finish(span, outcome, response);
    durations.record((performance.now() - began) / 1000, { ...measured, ...outcome });
  }, () => span.end());
  return answered;
}

/** Sends a request to the client in a span. */
export async function traceMcpClientRequest<Result>(
  { tracer, durations }: McpSpanOptions,
  call: TracedCall,
  method: string,
  send: (trace: TraceContext | undefined) => Promise<Result>,
): Promise<Result> {
  const began = performance.now();
  const attributes: Attributes = {
    "mcp.method.name": method,
    "mcp.protocol.version": call.revision,
    ...transportOf(call),
  };
  const span = tracer.startSpan(
    method,
    {
      kind: SpanKind.CLIENT,
      attributes: { ...attributes, ...(call.session && { "mcp.session.id": call.session.id }) },
    },
    withParent(
      context.active(),
      call.trace && readSpanContext(call.trace.traceparent, call.trace.tracestate),
    ),
  );
  const outcome: Attributes = {};
  try {
    return await context.with(
      trace.setSpan(context.active(), span),
      () => send(writeTraceContext(span.spanContext())),
    );
  } catch (error) {
    setError(span, outcome, error);
    throw error;
  } finally {
    span.setAttributes(outcome);
    span.end();
    durations.record((performance.now() - began) / 1000, { ...attributes, ...outcome });
  }
}

/** `network.transport` and `network.protocol.name`. */
export function transportOf({ runtime }: Pick<TracedCall, "runtime">): Attributes {
  return runtime
    ? { "network.transport": "tcp", "network.protocol.name": "http" }
    : { "network.transport": "pipe" };
}

/** The tool or prompt of a request, if the server has it, and the resource. */
function readTarget(method: string, params: Members, call: TracedCall): Attributes & { target?: string } {
  const { name } = params;
  if (typeof name !== "string") return {};
  if (method === "tools/call" && call.host.offers("tools", name)) {
    return { target: name, "gen_ai.tool.name": name };
  }
  return method === "prompts/get" && call.host.offers("prompts", name)
    ? { target: name, "gen_ai.prompt.name": name }
    : {};
}

/** The revision that `initialize` agreed on. */
function revisionOf(method: string, response: unknown): string | undefined {
  if (method !== "initialize") return undefined;
  const { result, json } = toMembers(response);
  const { protocolVersion } = toMembers(typeof json === "string" ? JSON.parse(json) : result);
  return typeof protocolVersion === "string" ? protocolVersion : undefined;
}

function finish(span: Span, outcome: Attributes, response: unknown): void {
  const { error, result } = toMembers(response);
  if (error !== undefined) setError(span, outcome, error);
  // The response is right, but the model sees a failure.
  else if (toMembers(result).isError === true) {
    outcome["error.type"] = "tool_error";
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.setAttributes(outcome);
  span.end();
}

/** Not the message of the error: it may hold what a client sent. */
function setError(span: Span, outcome: Attributes, error: unknown): void {
  const { code } = toMembers(error);
  if (typeof code === "number") {
    outcome["error.type"] = outcome["rpc.response.status_code"] = String(code);
  } else outcome["error.type"] = error instanceof Error ? error.name : "_OTHER";
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function toMembers(value: unknown): Members {
  return typeof value === "object" && value !== null ? value as Members : {};
}
