/**
 * Follows a task of 2025-11-25 to the result of the call
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks).
 *
 * @module
 */
import type { ClientExchange } from "./client.ts";
import { ConnectionError, isPassing } from "./error.ts";
import { createTaskReader, toPollInterval, type Unfinished } from "./input_rounds.ts";
import type { JsonObject } from "./limits.ts";
import { isObject } from "./message.ts";
import { wait } from "./wait.ts";

/** The task that the result of `tools/call` is, also where the call did not ask for one. */
export function findLegacyTask({ task, content, structuredContent }: JsonObject): JsonObject | undefined {
  const isTask = content === undefined && structuredContent === undefined && isObject(task) &&
    typeof task.taskId === "string";
  return isTask ? task : undefined;
}

/**
 * The result of the call: `tasks/result` answers when the task has ended, and its stream is where servers ask for input.
 * Polling shows that the task still runs.
 * @throws {McpError} the error of the call
 * @throws {ConnectionError} closed: the server cancelled the task; timeout
 */
export async function followLegacyTask(created: JsonObject, request: Unfinished): Promise<JsonObject> {
  const { exchange, send, duration } = request;
  const { taskId } = created;
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(exchange.signal!.reason);
  exchange.signal?.addEventListener("abort", onAbort);
  if (exchange.signal?.aborted) onAbort();
  const { onProgress, ...others } = exchange;
  const followed: ClientExchange = { ...others, signal: stop.signal };
  try {
    const ask = () => send("tasks/result", { taskId }, { ...followed, timeout: duration });
    const polled = poll(created, { ...request, exchange: followed }, onProgress);
    // Where the connection is lost, the result is asked for again when the task has ended.
    const result = ask().catch(async (error) => {
      if (!isPassing(error)) throw error;
      await polled;
      return await ask();
    });
    return await Promise.race([result, polled.then(() => result)]);
  } catch (error) {
    // A task that has ended cannot be cancelled, and says so.
    send("tasks/cancel", { taskId }, { ...exchange, signal: undefined }).catch(() => {});
    throw error;
  } finally {
    exchange.signal?.removeEventListener("abort", onAbort);
    stop.abort();
  }
}

/** Resolves when the task has ended. @throws {ConnectionError} closed, timeout */
async function poll(
  created: JsonObject,
  { exchange, server, send, duration }: Unfinished,
  onProgress: ClientExchange["onProgress"],
): Promise<void> {
  const { taskId } = created;
  const began = performance.now();
  let messages = 0;
  let message: unknown;
  const readTask = createTaskReader(taskId, { exchange, send });
  for (let task = created; task.status !== "completed" && task.status !== "failed";) {
    if (task.status === "cancelled") throw new ConnectionError("closed", server, "cancelled the task");
    if (performance.now() - began >= duration) {
      throw new ConnectionError("timeout", server, `did not finish the task within ${duration} ms`);
    }
    if (typeof task.statusMessage === "string" && task.statusMessage !== message) {
      message = task.statusMessage;
      onProgress?.(++messages, undefined, task.statusMessage);
    }
    await wait(toPollInterval(task.pollInterval), exchange.signal!);
    task = await readTask(task);
  }
}
