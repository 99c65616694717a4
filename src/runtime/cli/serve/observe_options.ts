/**
 * The options of `trivet serve` about logs, audit, metrics and stopping.
 *
 * @module
 */
export const OBSERVE_OPTIONS = {
  "log-level": {
    value: "LEVEL",
    words: ["error", "warn", "info", "debug"],
    summary: "the least important lines to write to standard error: error, warn, info or debug",
    default: "info",
  },
  "log-format": {
    value: "FORMAT",
    words: ["auto", "json", "text"],
    summary: "json, text, or auto: text on a terminal, else json",
    default: "auto",
  },
  "log-requests": {
    summary:
      "a line for every request at level info; without it at debug, and for status 500 and above at error",
  },
  audit: {
    value: "WHEN",
    words: ["on", "off"],
    summary: `keep security events in the store: "trivet audit" lists and verifies them`,
    default: "on",
  },
  "audit-days": {
    value: "N",
    range: [1, 36_500],
    unit: "days",
    summary:
      "how long audit records are kept; fewer than before count once the records until now have expired",
    default: 400,
  },
  "metrics-port": {
    value: "N",
    range: [0, 65535],
    summary:
      `a port of its own for /metrics, /healthz and /readyz, on the same address; TRIVET_METRICS_TOKEN is the
      token for /metrics on the main port instead`,
  },
  otel: {
    summary:
      `traces and metrics by OpenTelemetry, where OTEL_EXPORTER_OTLP_ENDPOINT and other variables of its
      SDK say; requires the packages @opentelemetry/api and @opentelemetry/sdk-node`,
  },
  drain: {
    value: "MS",
    range: [0, 600_000],
    unit: "milliseconds",
    summary: "after a signal to stop: how long /readyz is 503 before the server accepts no more connections",
    default: 0,
  },
  "stop-timeout": {
    value: "SECONDS",
    range: [1, 600],
    unit: "seconds",
    summary: "how long requests and tool calls that run then can take to finish",
    default: 10,
  },
} as const;
