/**
 * `trivet/observability`: log lines, the audit trail, metrics and health checks, for the options `onEvent` and `onRequest`.
 *
 * @module
 */
export { type Audit, type AuditOptions, type AuditRecord, createAudit } from "./observability/audit.ts";
export { type AuditQuery, listAudit, readAuditGroups } from "./observability/read_audit.ts";
export {
  type AuditVerification,
  type NotedGroup,
  verifyAudit,
  type VerifyOptions,
} from "./observability/verify_audit.ts";
export { createHealth, type Health, type HealthOptions } from "./observability/health.ts";
export {
  createLog,
  type Log,
  type LogFields,
  type LogFormat,
  type LogLevel,
  type LogOptions,
} from "./observability/log.ts";
export {
  type Counter,
  createRegistry,
  type Histogram,
  METRICS_MEDIA_TYPE,
  type Registry,
} from "./observability/metrics.ts";
export type { ObserveRequest, RequestOutcome } from "./observability/request_outcome.ts";
export { createServerMetrics, type ServerMetrics } from "./observability/server_metrics.ts";
