/**
 * W3C trace context (https://www.w3.org/TR/trace-context/): reads `traceparent` and `tracestate`, and writes them. Not by the
 * propagator that an app configures: that may add fields, such as baggage, which clients and other servers must not see.
 *
 * @module
 */
import {
  type Context,
  createTraceState,
  isSpanContextValid,
  type SpanContext,
  trace,
  TraceFlags,
} from "@opentelemetry/api";
import type { TraceContext } from "../../http/telemetry.ts";

/** Version, trace id, parent id, flags. Later versions may add members. */
const TRACEPARENT =
  /^(?:00-((?!0{32})[\da-f]{32})-((?!0{16})[\da-f]{16})-([\da-f]{2})|(?!00|ff)[\da-f]{2}-((?!0{32})[\da-f]{32})-((?!0{16})[\da-f]{16})-([\da-f]{2})(?:-.*)?)$/;

/** The span that the two values name; `undefined` without a valid `traceparent`. The values may be of any type. */
export function readSpanContext(traceparent: unknown, tracestate: unknown): SpanContext | undefined {
  const match = typeof traceparent === "string" ? TRACEPARENT.exec(traceparent) : null;
  if (!match) return undefined;
  const [, traceId = match[4]!, spanId = match[5]!, flags = match[6]!] = match;
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
    isRemote: true,
    ...(typeof tracestate === "string" && tracestate !== "" && { traceState: createTraceState(tracestate) }),
  };
}

/** The context of a span, to pass on; `undefined` where no SDK made the span. */
export function writeTraceContext(context: SpanContext): TraceContext | undefined {
  if (!isSpanContextValid(context)) return undefined;
  const { traceId, spanId, traceFlags, traceState } = context;
  const tracestate = traceState?.serialize();
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`,
    ...(tracestate && { tracestate }),
  };
}

/** The context with a remote span as the parent of the next; without one the context as it is. */
export function withParent(active: Context, parent: SpanContext | undefined): Context {
  return parent ? trace.setSpanContext(active, parent) : active;
}
