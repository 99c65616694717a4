/**
 * Follows a task of an upstream until it ends (`io.modelcontextprotocol/tasks`, 2026-07-28). For clients with the extension
 * the call becomes a task of the gateway meanwhile.
 *
 * @module
 */
import { isObject } from "../../../json_schema/value.ts";
import type { CallContext } from "../../../mcp/context.ts";
import { MISSING_CLIENT_CAPABILITY } from "../../../mcp/error.ts";
import { Suspension } from "../../../mcp/input/suspension.ts";
import {
  type ClientExchange,
  type JsonObject,
  McpError,
  TASKS_EXTENSION,
} from "../../../mcp_client/client.ts";
import { wait } from "../../../mcp_client/wait.ts";
import { BusyError } from "../../call_limiter.ts";
import { AccessUnavailable } from "../../credentials/access.ts";
import { isOutage, UpstreamFailure, UpstreamPaused } from "../failure.ts";
import { type CallerContext, type CallTarget, uncancelled } from "./call_target.ts";
import { findConnectionRequired } from "./connect_user.ts";

/** What is kept of a task between the runs of a call. */
export interface TaskReference {
  readonly taskId: string;
  readonly ttlMs: number | null;
  readonly pollIntervalMs: number | null;
  /** How long it is followed: milliseconds since the epoch; absent where an earlier version wrote it. */
  readonly until?: number;
}

const MIN_POLL_INTERVAL_MS = 50;
const MAX_POLL_INTERVAL_MS = 30_000;
const DEFAULT_POLL_INTERVAL_MS = 1_000;
const MAX_TTL_MS = 24 * 3_600_000;
/** How long a task without `ttlMs` is followed; tasks of the gateway are kept as long. */
const DEFAULT_TTL_MS = 3_600_000;
/** How long an upstream may be unable to answer. */
const MAX_OUTAGE_MS = 300_000;

/** Reads a `CreateTaskResult`. @throws {UpstreamFailure} */
export function readTask({ taskId, ttlMs, pollIntervalMs }: JsonObject): TaskReference {
  if (typeof taskId !== "string" || taskId.length > 1000) {
    throw new UpstreamFailure("sent a task without taskId. Report this to its operator.");
  }
  const ttl = typeof ttlMs === "number" && ttlMs > 0 ? Math.min(Math.ceil(ttlMs), MAX_TTL_MS) : null;
  return {
    taskId,
    ttlMs: ttl,
    pollIntervalMs: typeof pollIntervalMs === "number" ? toInterval(pollIntervalMs) : null,
    until: endOf(ttl),
  };
}

function endOf(ttlMs: number | null): number {
  return Date.now() + (ttlMs ?? DEFAULT_TTL_MS);
}

/** Whether the upstream needs the tasks extension to execute the call (2026-07-28, -32021). */
export function requiresTasks(error: unknown): boolean {
  if (!(error instanceof McpError) || error.code !== MISSING_CLIENT_CAPABILITY || !isObject(error.data)) {
    return false;
  }
  const { requiredCapabilities: required } = error.data;
  return isObject(required) && isObject(required.extensions) &&
    Object.hasOwn(required.extensions, TASKS_EXTENSION);
}

/**
 * Returns the result of the task. While the upstream cannot answer, it is asked again. A task that is not followed to its
 * end is cancelled at the upstream.
 * @param ask answers the requests of the task for input; it may end the run
 * @throws {McpError} the error that the task failed with
 * @throws {UpstreamFailure} when it does not end in time
 */
export async function followTask(
  target: CallTarget,
  task: TaskReference,
  context: CallContext,
  exchange: ClientExchange,
  ask: (requests: JsonObject) => Promise<JsonObject>,
): Promise<JsonObject> {
  const { taskId, ttlMs, pollIntervalMs, until = endOf(ttlMs) } = task;
  const { signal } = context;
  let interval = toInterval(pollIntervalMs);
  const send = async (method: string, more: JsonObject = {}): Promise<JsonObject> => {
    const end = Math.min(Date.now() + MAX_OUTAGE_MS, until);
    for (;;) {
      try {
        return await sendOnce(target, method, { taskId, ...more }, context, exchange);
      } catch (error) {
        if (!isTemporary(error)) throw error;
        if (Date.now() >= end) {
          const message = "does not answer. Its task may still run: check before you call the tool again.";
          throw new UpstreamFailure(message, { cause: error });
        }
      }
      await wait(interval, signal);
    }
  };
  let state: JsonObject = {};
  try {
    await context.startTask({
      ...(ttlMs !== null && { ttl: ttlMs }),
      ...(pollIntervalMs !== null && { pollInterval: pollIntervalMs }),
    });
    let message: unknown;
    let answered: JsonObject = {};
    for (;;) {
      state = await send("tasks/get");
      switch (state.status) {
        case "completed":
          if (isObject(state.result)) return state.result;
          throw new UpstreamFailure("sent a completed task without a result. Report this to its operator.");
        case "failed": {
          const { code, message, data } = isObject(state.error) ? state.error : {};
          throw new McpError(
            Number.isSafeInteger(code) ? code as number : -32603,
            typeof message === "string" ? message : "The task failed",
            data,
          );
        }
        case "cancelled":
          throw new UpstreamFailure("cancelled the task.");
        case "input_required": {
          const requests = isObject(state.inputRequests) ? state.inputRequests : {};
          const open = Object.fromEntries(
            Object.entries(requests).filter(([key]) => !Object.hasOwn(answered, key)),
          );
          if (Object.keys(open).length > 0) {
            const inputResponses = await ask(open);
            await send("tasks/update", { inputResponses });
            answered = { ...answered, ...inputResponses };
          }
          break;
        }
        default:
          if (typeof state.statusMessage === "string" && state.statusMessage !== message) {
            message = state.statusMessage;
            await context.progress(0, undefined, state.statusMessage);
          }
      }
      const left = until - Date.now();
      if (left <= 0) {
        throw new UpstreamFailure("did not finish its task in time, and was asked to cancel it.");
      }
      interval = toInterval(state.pollIntervalMs ?? pollIntervalMs);
      await wait(Math.min(interval, left), signal);
    }
  } catch (error) {
    const isOver = state.status === "completed" || state.status === "failed" || state.status === "cancelled";
    // The next run follows it when the user has answered or connected.
    if (!isOver && !(error instanceof Suspension) && !findConnectionRequired(error)) {
      const { signal: _, ...rest } = exchange;
      sendOnce(target, "tasks/cancel", { taskId }, uncancelled(context), rest).catch(() => {});
    }
    throw error;
  }
}

/** Sends a request as a call of its own, since the connection may be another by now. */
async function sendOnce(
  target: CallTarget,
  method: string,
  params: JsonObject,
  caller: CallerContext,
  exchange: ClientExchange,
): Promise<JsonObject> {
  const session = await target.enter(caller);
  try {
    const result = await session.client.requestOnce(method, params, exchange);
    target.leave(session);
    return result;
  } catch (error) {
    target.leave(session, error);
    throw error;
  }
}

/** Whether the upstream may answer later. */
function isTemporary(error: unknown): boolean {
  return isOutage(error) || error instanceof UpstreamPaused || error instanceof BusyError ||
    error instanceof AccessUnavailable;
}

function toInterval(value: unknown): number {
  return typeof value === "number" && value >= 0
    ? Math.min(Math.max(Math.ceil(value), MIN_POLL_INTERVAL_MS), MAX_POLL_INTERVAL_MS)
    : DEFAULT_POLL_INTERVAL_MS;
}
