/**
 * Spans and durations of HTTP requests, received and sent, by the semantic conventions
 * (https://opentelemetry.io/docs/specs/semconv/http/http-spans/). No attribute holds a query, a header field that may be a
 * secret, or a body.
 *
 * @module
 */
import {
  type Attributes,
  type Context,
  context,
  type Histogram,
  isSpanContextValid,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import { pathOf } from "../../http/router.ts";
import type { Fetch } from "../../http/network/default_fetch.ts";
import type { TracedServer } from "../../http/telemetry.ts";
import { shortPath } from "../request_outcome.ts";
import { METHODS, routeOf } from "../route.ts";
import { readSpanContext, withParent, writeTraceContext } from "./trace_context.ts";

const MAX_METHOD_CHARACTERS = 50;
const MAX_USER_AGENT_CHARACTERS = 200;

/** The contexts of requests, for spans below theirs where no context manager is set, as on workerd. */
export const requestContexts: WeakMap<Request, Context> = new WeakMap();

export interface HttpSpanOptions {
  readonly tracer: Tracer;
  readonly durations: Histogram;
}

/** Answers a request in its span, which ends when the response begins. */
export async function traceHttpRequest(
  { tracer, durations }: HttpSpanOptions,
  { origin, base }: TracedServer,
  request: Request,
  ip: string | undefined,
  answer: (trace: string | undefined) => Promise<Response>,
): Promise<Response> {
  const began = performance.now();
  const { method, url, headers } = request;
  const path = pathOf(url);
  const found = routeOf(path, base);
  const route = found === "other" ? undefined : base + found;
  const { scheme, ...server } = readOrigin(origin);
  const known = METHODS.has(method);
  const measured: Attributes = {
    "http.request.method": known ? method : "_OTHER",
    "url.scheme": scheme,
    ...(route !== undefined && { "http.route": route }),
  };
  const userAgent = headers.get("user-agent");
  const parent = readSpanContext(headers.get("traceparent"), headers.get("tracestate"));
  const name = known ? method : "HTTP";
  const span = tracer.startSpan(route === undefined ? name : `${name} ${route}`, {
    kind: SpanKind.SERVER,
    attributes: {
      ...measured,
      ...server,
      "url.path": shortPath(path),
      ...(!known && { "http.request.method_original": method.slice(0, MAX_METHOD_CHARACTERS) }),
      ...(ip !== undefined && { "client.address": ip }),
      ...(userAgent !== null && { "user_agent.original": userAgent.slice(0, MAX_USER_AGENT_CHARACTERS) }),
    },
  }, withParent(context.active(), parent));
  return await recordExchange(durations, { span, began, measured, minFailure: 500 }, (active) => {
    requestContexts.set(request, active);
    return answer(isSpanContextValid(span.spanContext()) ? span.spanContext().traceId : undefined);
  });
}

/** Wraps `fetch`: a span for each request, whose header fields pass its context on. */
export function traceFetch({ tracer, durations }: HttpSpanOptions, fetch: Fetch): Fetch {
  return async (url, init) => {
    const began = performance.now();
    const { origin } = new URL(url);
    const { scheme, ...server } = readOrigin(origin);
    const method = (init.method ?? "GET").toUpperCase();
    const measured: Attributes = {
      "http.request.method": METHODS.has(method) ? method : "_OTHER",
      ...server,
      "url.scheme": scheme,
    };
    const span = tracer.startSpan(METHODS.has(method) ? method : "HTTP", {
      kind: SpanKind.CLIENT,
      attributes: { ...measured, "url.full": origin + pathOf(url) },
    });
    const headers = new Headers(init.headers);
    for (const [field, value] of Object.entries(writeTraceContext(span.spanContext()) ?? {})) {
      headers.set(field, value);
    }
    return await recordExchange(
      durations,
      { span, began, measured, minFailure: 400 },
      () => fetch(url, { ...init, headers }),
    );
  };
}

/** A request whose response is still to come. */
interface Exchange {
  readonly span: Span;
  /** By `performance.now()`. */
  readonly began: number;
  /** The attributes of the duration. */
  readonly measured: Attributes;
  /** The least status that is a failure. */
  readonly minFailure: number;
}

/** Runs an exchange in the context of its span, ends the span with the outcome, and records the duration. */
async function recordExchange(
  durations: Histogram,
  { span, began, measured, minFailure }: Exchange,
  run: (active: Context) => Promise<Response>,
): Promise<Response> {
  const outcome: Attributes = {};
  const fail = (type: string): void => {
    outcome["error.type"] = type;
    span.setStatus({ code: SpanStatusCode.ERROR });
  };
  try {
    const active = trace.setSpan(context.active(), span);
    const response = await context.with(active, () => run(active));
    outcome["http.response.status_code"] = response.status;
    if (response.status >= minFailure) fail(String(response.status));
    return response;
  } catch (error) {
    // The message of an error may hold what a client sent, so only its kind is recorded.
    fail(errorName(error));
    throw error;
  } finally {
    span.setAttributes(outcome);
    span.end();
    durations.record((performance.now() - began) / 1000, { ...measured, ...outcome });
  }
}

/** The class of an error: of low cardinality, and without its message. */
function errorName(error: unknown): string {
  return error instanceof Error ? error.name : "_OTHER";
}

const origins = new Map<string, { scheme: string } & Attributes>();
/** Origins whose parts are kept; a server asks few. */
const MAX_ORIGINS = 100;

function readOrigin(origin: string): { scheme: string } & Attributes {
  let parts = origins.get(origin);
  if (!parts) {
    const { protocol, hostname, port } = new URL(origin);
    const scheme = protocol.slice(0, -1);
    parts = {
      scheme,
      "server.address": hostname,
      "server.port": port === "" ? scheme === "https" ? 443 : 80 : Number(port),
    };
    if (origins.size < MAX_ORIGINS) origins.set(origin, parts);
  }
  return parts;
}
