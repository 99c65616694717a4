/**
 * The histograms of the semantic conventions, with the buckets that these recommend
 * (https://opentelemetry.io/docs/specs/semconv/http/http-metrics/, https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/).
 *
 * @module
 */
import { type Histogram, type Meter, ValueType } from "@opentelemetry/api";

/** Seconds. */
const HTTP_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const MCP_BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** Each records seconds. */
export interface Instruments {
  readonly request: Histogram;
  readonly operation: Histogram;
  readonly clientOperation: Histogram;
  readonly session: Histogram;
  readonly fetch: Histogram;
}

/** Creates them. */
export function createInstruments(meter: Meter): Instruments {
  const create = (name: string, description: string, explicitBucketBoundaries: number[]): Histogram =>
    meter.createHistogram(name, {
      description,
      unit: "s",
      valueType: ValueType.DOUBLE,
      advice: { explicitBucketBoundaries },
    });
  return {
    request: create("http.server.request.duration", "Duration of HTTP server requests.", HTTP_BUCKETS),
    operation: create(
      "mcp.server.operation.duration",
      "Duration of MCP requests and notifications, from receipt to the response.",
      MCP_BUCKETS,
    ),
    clientOperation: create(
      "mcp.client.operation.duration",
      "Duration of MCP requests to the client, until its response.",
      MCP_BUCKETS,
    ),
    session: create("mcp.server.session.duration", "Duration of MCP sessions that ended.", MCP_BUCKETS),
    fetch: create("http.client.request.duration", "Duration of HTTP client requests.", HTTP_BUCKETS),
  };
}
