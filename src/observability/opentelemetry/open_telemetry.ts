/**
 * `trivet/opentelemetry`: traces and metrics by OpenTelemetry, for the option `telemetry`. Uses `@opentelemetry/api` only: the
 * app decides by its SDK what is sampled, and where it is sent.
 *
 * @module
 */
import { type MeterProvider, metrics, trace, type TracerProvider } from "@opentelemetry/api";
import type { Telemetry } from "../../http/telemetry.ts";
import { checkNames, type Names } from "../../options/option_check.ts";
import { VERSION } from "../../version.ts";
import { traceFetch, traceHttpRequest } from "./http_spans.ts";
import { createInstruments } from "./instruments.ts";
import { traceMcpClientRequest, traceMcpMessage } from "./mcp_spans.ts";

export type { Fetch } from "../../http/network/default_fetch.ts";
export type {
  EndedSession,
  Telemetry,
  TraceContext,
  TracedCall,
  TracedMessage,
  TracedServer,
} from "../../http/telemetry.ts";

/** Options of {@linkcode openTelemetry}. */
export interface OpenTelemetryOptions {
  /** @default the global one, which your SDK sets */
  readonly tracerProvider?: TracerProvider;
  /** @default the global one, which your SDK sets */
  readonly meterProvider?: MeterProvider;
}

const NAMES: Names<OpenTelemetryOptions> = { tracerProvider: "object", meterProvider: "object" };

/**
 * Makes the telemetry of a server. Start your SDK before: metrics of a provider that is set later are lost. Spans of a tool
 * become children of its call where the SDK has a context manager.
 * @throws {TypeError} for an option that does not exist
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Telemetry {
  checkNames("openTelemetry", options, NAMES);
  const { tracerProvider = trace.getTracerProvider(), meterProvider = metrics.getMeterProvider() } = options;
  const tracer = tracerProvider.getTracer("trivet", VERSION);
  const instruments = createInstruments(meterProvider.getMeter("trivet", VERSION));
  const requests = { tracer, durations: instruments.request };
  const operations = { tracer, durations: instruments.operation };
  const clientOperations = { tracer, durations: instruments.clientOperation };
  const fetches = { tracer, durations: instruments.fetch };
  return {
    traceRequest: (...given) => traceHttpRequest(requests, ...given),
    traceMessage: (...given) => traceMcpMessage(operations, ...given),
    traceClientRequest: (...given) => traceMcpClientRequest(clientOperations, ...given),
    recordSession: ({ revision, seconds, transport }) =>
      instruments.session.record(seconds, {
        "mcp.protocol.version": revision,
        "network.transport": transport,
        ...(transport === "tcp" && { "network.protocol.name": "http" }),
      }),
    traceFetch: (fetch) => traceFetch(fetches, fetch),
  };
}
