/**
 * The errors that callers get when an upstream fails: which one, what happened, and what to do. The errors of its own pass
 * through.
 *
 * @module
 */
import { INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR, RpcError } from "../../jsonrpc/error.ts";
import { ToolError } from "../../mcp/definition/definition.ts";
import {
  HEADER_MISMATCH,
  MISSING_CLIENT_CAPABILITY,
  MissingCapabilityError,
  UNSUPPORTED_VERSION,
} from "../../mcp/error.ts";
import { ConnectionError, McpError } from "../../mcp_client/client.ts";
import { isObject } from "../../json_schema/value.ts";
import { AccessDenied, AccessUnavailable } from "../credentials/access.ts";
import { BusyError } from "../call_limiter.ts";

/** Why the gateway did not call an upstream, or gave up. The message says it without the name of the upstream. */
export class UpstreamFailure extends Error {
  override readonly name = "UpstreamFailure";
}

/** The upstream failed too often, and is not called for some time. */
export class UpstreamPaused extends UpstreamFailure {}

/** Errors that only the gateway's own messages can cause. */
const GATEWAY_FAULTS: readonly number[] = [
  PARSE_ERROR,
  INVALID_REQUEST,
  HEADER_MISMATCH,
  UNSUPPORTED_VERSION,
];

/**
 * The text about a failure of an upstream; `undefined` for any other error.
 * @param timeout milliseconds
 */
function describeFailure(upstream: string, error: unknown, timeout: number): string | undefined {
  const name = `Upstream "${upstream}"`;
  if (error instanceof UpstreamFailure) return `${name} ${error.message}`;
  if (error instanceof BusyError) return `${name} is busy: ${error.message}. Try again later.`;
  if (error instanceof AccessDenied) return `${name}: ${error.message}`;
  if (error instanceof AccessUnavailable) return `${name}: ${error.message}`;
  if (error instanceof ConnectionError) return `${name} ${describeConnection(error, timeout)}`;
  if (error instanceof McpError && GATEWAY_FAULTS.includes(error.code)) {
    return `${name} refused the request of the gateway: ${error.message.slice(0, 500)}`;
  }
  return undefined;
}

function describeConnection({ reason, status, mayHaveRun }: ConnectionError, timeout: number): string {
  const retry = mayHaveRun
    ? "The call may have been executed: check before you try again."
    : "The call was not executed. Try again.";
  switch (reason) {
    case "timeout":
      return `does not answer (timeout after ${timeout / 1000} s). ${retry}`;
    case "closed":
      return `closed the connection during the call. ${retry}`;
    case "unreachable":
      return "is not reachable. Try again later.";
    case "too_large":
      return "sent more than the limits of the gateway allow. Request less.";
    case "malformed":
      return "sent an invalid message. Report this to its operator.";
    case "refused":
      return `refused the request (HTTP status ${
        status ?? 403
      }). Its credentials are missing or insufficient.`;
    case "redirected":
      return "redirects requests, which are not followed. Correct its URL in the configuration.";
    case "unsupported":
      return "supports no protocol revision of the gateway.";
    case "status":
      return isOfRequest(status)
        ? `refused the request (HTTP status ${status}).`
        : `answered with HTTP status ${status ?? "without a message"}. Try again later.`;
  }
}

/** Whether an HTTP status is about the request (RFC 9110 section 15.5), such as 413, and does not pass with time. */
function isOfRequest(status = 0): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

/** Whether a failure counts against the upstream (circuit breaker), and not against the caller or the call. */
export function isOutage(error: unknown): boolean {
  return error instanceof ConnectionError && error.reason !== "refused" && error.reason !== "too_large";
}

/**
 * As {@linkcode isOutage}, for a call. A lost connection is counted once, by its session. A caller whose arguments are refused
 * must not pause the upstream for the others.
 */
export function isOutageOfCall(error: unknown): boolean {
  if (!isOutage(error)) return false;
  const { reason, status } = error as ConnectionError;
  return reason !== "closed" && !(reason === "status" && isOfRequest(status));
}

/** The error that the upstream answered with, for the client. */
function toRpcError({ code, message, data }: McpError): RpcError {
  if (code === MISSING_CLIENT_CAPABILITY && isObject(data) && isObject(data.requiredCapabilities)) {
    return new MissingCapabilityError(data.requiredCapabilities);
  }
  return new RpcError(code, message, data);
}

/** The error to throw from a tool: a failure of the upstream is a result that the model sees. */
export function toToolError(upstream: string, error: unknown, timeout: number): unknown {
  const text = describeFailure(upstream, error, timeout);
  if (text !== undefined) return new ToolError(text, { cause: error });
  return error instanceof McpError ? toRpcError(error) : error;
}

/** The error to throw from a resource or prompt. */
export function toMethodError(upstream: string, error: unknown, timeout: number): unknown {
  const text = describeFailure(upstream, error, timeout);
  if (text !== undefined) return new RpcError(INTERNAL_ERROR, text, undefined, { cause: error });
  if (error instanceof ToolError) return new RpcError(INTERNAL_ERROR, error.message);
  return error instanceof McpError ? toRpcError(error) : error;
}
