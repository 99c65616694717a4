/**
 * Severities of log messages (https://www.rfc-editor.org/rfc/rfc5424#section-6.2.1).
 *
 * @module
 */
import { INVALID_PARAMS, RpcError } from "../jsonrpc/error.ts";
import type { LogLevel } from "./context.ts";

const LEVELS: readonly LogLevel[] = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
];

/** The level of a session that has not set one. */
export const DEFAULT_LEVEL: LogLevel = "info";

/** Increases with the level (RFC 5424 counts in the other direction). */
export function severity(level: LogLevel): number {
  return LEVELS.indexOf(level);
}

/** @throws {RpcError} -32602 for an unknown level */
export function parseLogLevel(value: unknown): LogLevel {
  if (LEVELS.includes(value as LogLevel)) return value as LogLevel;
  throw new RpcError(INVALID_PARAMS, `Invalid params: the log level must be one of ${LEVELS.join(", ")}`);
}
