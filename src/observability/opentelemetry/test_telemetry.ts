/**
 * Test kit: a server with telemetry whose spans and metrics are kept in memory.
 *
 * @module
 */
import type { Attributes, HrTime } from "@opentelemetry/api";
import {
  AggregationTemporality,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { openTelemetry } from "./open_telemetry.ts";

/** No metric is exported by itself during a test. */
const NEVER_MS = 2 ** 30;

export interface Measurement {
  readonly attributes: Attributes;
  readonly startTime: HrTime;
  readonly value: Histogram;
  readonly boundaries: readonly number[];
}

export interface TestTelemetry {
  readonly telemetry: ReturnType<typeof openTelemetry>;
  /** The spans that ended since the last call, in the order of their ends. */
  takeSpans(): readonly ReadableSpan[];
  /** The data points of a metric. */
  readMetric(name: string): Promise<readonly Measurement[]>;
}

export function createTestTelemetry(): TestTelemetry {
  const spans = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  const exported = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({
    exporter: exported,
    exportIntervalMillis: NEVER_MS,
    exportTimeoutMillis: NEVER_MS,
  });
  const meterProvider = new MeterProvider({ readers: [reader] });
  return {
    telemetry: openTelemetry({ tracerProvider, meterProvider }),
    takeSpans() {
      const taken = spans.getFinishedSpans().slice();
      spans.reset();
      return taken;
    },
    async readMetric(name) {
      await reader.forceFlush();
      const scopes = exported.getMetrics().at(-1)?.scopeMetrics ?? [];
      const metric = scopes.flatMap(({ metrics }) => metrics).find(({ descriptor }) =>
        descriptor.name === name
      );
      return (metric?.dataPoints ?? []).map(({ attributes, startTime, value }) => ({
        attributes,
        startTime,
        value: value as Histogram,
        boundaries: (value as Histogram).buckets.boundaries,
      }));
    },
  };
}
