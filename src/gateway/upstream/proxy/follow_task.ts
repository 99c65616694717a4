/**
 * Follows a task of an upstream until it ends (`io.modelcontextprotocol/tasks`, 2026-07-28). For clients with the extension
 * the call becomes a task of the gateway meanwhile.
 *
 * @module
 */
import { isObject } from "../../../json_schema/value.ts";
import type { CallContext } from "../../../mcp/context.ts";
import { MISSING_CLIENT_CAPABILITY } from "../../../mcp/error.ts";
import {
  type ClientExchange,
  type JsonObject,
  McpError,
  TASKS_EXTENSION,
} from "../../../mcp_client/client.ts";
import { UpstreamFailure } from "../failure.ts";
import type { ConnectedSession } from "./call_target.ts";

/** What is kept of a task between the runs of a call. */
export interface TaskReference {
  readonly taskId: string;
  readonly ttlMs: number | null;
  readonly pollIntervalMs: number | null;
  /** How long it is followed: milliseconds since the epoch. */
  readonly until: number;
}

const MIN_POLL_INTERVAL_MS = 50;
const MAX_POLL_INTERVAL_MS = 30_000;
const DEFAULT_POLL_INTERVAL_MS = 1_000;
const MAX_TTL_MS = 24 * 3_600_000;
/** How long a task without `ttlMs` is followed; tasks of the gateway are kept as long. */
const DEFAULT_TTL_MS = 3_600_000;

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
    until: Date.now() + (ttl ?? DEFAULT_TTL_MS),
  };
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
 * Returns the result of the task. After its time to live, the upstream is asked to cancel it.
 * @param ask answers the requests of the task for input; it may end the run
 * @throws {McpError} the error that the task failed with
 * @throws {UpstreamFailure} when it does not end in time
 */
export async function followTask(
  { client }: ConnectedSession,
  task: TaskReference,
  context: CallContext,
  exchange: ClientExchange,
  ask: (requests: JsonObject) => Promise<JsonObject>,
): Promise<JsonObject> {
  const { taskId, ttlMs, pollIntervalMs, until } = task;
  await context.startTask({
    ...(ttlMs !== null && { ttl: ttlMs }),
    ...(pollIntervalMs !== null && { pollInterval: pollIntervalMs }),
  });
  const { signal } = context;
  const cancel = (): void => {
    const { signal: _, ...rest } = exchange;
    client.requestOnce("tasks/cancel", { taskId }, rest).catch(() => {});
  };
  if (signal.aborted) cancel();
  else signal.addEventListener("abort", cancel, { once: true });
  try {
    let message: unknown;
    let answered: JsonObject = {};
    for (;;) {
      const state = await client.requestOnce("tasks/get", { taskId }, exchange);
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
            await client.requestOnce("tasks/update", { taskId, inputResponses }, exchange);
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
        cancel();
        throw new UpstreamFailure("did not finish its task in time, and was asked to cancel it.");
      }
      await pause(Math.min(toInterval(state.pollIntervalMs ?? pollIntervalMs), left), signal);
    }
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

function toInterval(value: unknown): number {
  return typeof value === "number" && value >= 0
    ? Math.min(Math.max(Math.ceil(value), MIN_POLL_INTERVAL_MS), MAX_POLL_INTERVAL_MS)
    : DEFAULT_POLL_INTERVAL_MS;
}

/** Waits. @throws the reason of the signal when it aborts */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let onAbort = (): void => {};
  try {
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(resolve, milliseconds);
      onAbort = () => reject(signal.reason);
      signal.addEventListener("abort", onAbort);
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
