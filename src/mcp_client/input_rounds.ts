/**
 * Brings a request of 2026-07-28 to its final result: answers what the server asks and sends the request again
 * (https://modelcontextprotocol.io/specification/draft/basic/patterns/mrtr), and polls tasks
 * (https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md).
 *
 * @module
 */
import type { AnswerServerRequest, ClientCapabilities, ClientExchange } from "./client.ts";
import { ConnectionError, isPassing, McpError } from "./error.ts";
import type { JsonObject } from "./limits.ts";
import { isObject } from "./message.ts";
import { isDeclared } from "./server_requests.ts";
import { wait } from "./wait.ts";

const MAX_ROUNDS = 32;
const MAX_INPUT_REQUESTS = 100;
/** Keys that were answered are kept until a task ends. */
const MAX_TASK_INPUTS = 1000;
const MAX_KEY_CHARACTERS = 1024;
/** The wait before a request is sent again although nothing was asked. */
const RETRY_MS = 200;
const DEFAULT_POLL_MS = 1000;
const MIN_POLL_MS = 50;
const MAX_POLL_MS = 60_000;
/** How long a server that has a task may be away. */
const MAX_OUTAGE_MS = 60_000;

/** A request that has a first result. */
export interface Unfinished {
  readonly method: string;
  readonly params: Readonly<JsonObject>;
  readonly exchange: ClientExchange;
  readonly answer: AnswerServerRequest | undefined;
  /** What was declared. */
  readonly capabilities: ClientCapabilities;
  readonly server: string;
  /** Milliseconds that a task may take. */
  readonly duration: number;
  /** Sends a request, and returns its first result. */
  readonly send: (method: string, params: JsonObject, exchange: ClientExchange) => Promise<JsonObject>;
}

/**
 * The final result.
 * @throws {ConnectionError} unsupported: nothing can answer; too_large: it asks too often
 */
export async function finish(first: JsonObject, request: Unfinished): Promise<JsonObject> {
  const { method, params, exchange, server, send } = request;
  let result = first;
  for (let round = 0;; round++) {
    if (result.resultType === "task") return await pollTask(result, request);
    if (result.resultType !== "input_required") return result;
    if (round >= MAX_ROUNDS) {
      throw new ConnectionError("too_large", server, `asked for input more than ${MAX_ROUNDS} times`);
    }
    const { inputRequests, requestState } = result;
    if (inputRequests === undefined && typeof requestState !== "string") {
      throw malformed(server, "asked for input without saying what it needs");
    }
    const inputResponses = await answerAll(inputRequests, new Set(), request);
    const isWaiting = Object.keys(inputResponses).length === 0;
    if (isWaiting) await wait(RETRY_MS, exchange.signal ?? new AbortController().signal);
    result = await send(method, {
      ...params,
      ...(!isWaiting && { inputResponses }),
      ...(requestState !== undefined && { requestState }),
    }, exchange);
  }
}

/** The results of what the server asks, except for keys that were answered before. */
async function answerAll(
  inputRequests: unknown,
  answered: Set<string>,
  { answer, capabilities, exchange, server }: Unfinished,
): Promise<JsonObject> {
  if (inputRequests !== undefined && !isObject(inputRequests)) {
    throw malformed(server, "asked for input in an invalid form");
  }
  const asked = Object.entries(inputRequests ?? {}).filter(([key]) => !answered.has(key));
  const excess = asked.length > MAX_INPUT_REQUESTS
    ? `more than ${MAX_INPUT_REQUESTS} inputs at once`
    : answered.size + asked.length > MAX_TASK_INPUTS
    ? `more than ${MAX_TASK_INPUTS} inputs in one task`
    : asked.some(([key]) => key.length > MAX_KEY_CHARACTERS)
    ? `inputs whose keys have more than ${MAX_KEY_CHARACTERS} characters`
    : undefined;
  if (excess !== undefined) throw new ConnectionError("too_large", server, `asked for ${excess}`);
  // Aborts when one of them fails, so that the user is not asked for the others in vain.
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(exchange.signal!.reason);
  exchange.signal?.addEventListener("abort", onAbort);
  if (exchange.signal?.aborted) onAbort();
  try {
    const results = await Promise.all(asked.map(async ([key, each]) => {
      const { method, params = {} } = isObject(each) ? each : {};
      if (typeof method !== "string" || !isObject(params)) {
        throw malformed(server, "asked for input in an invalid form");
      }
      if (!answer || !isDeclared(method, params, capabilities)) {
        throw new ConnectionError(
          "unsupported",
          server,
          `asks for ${method.slice(0, 50)}, which is not supported`,
        );
      }
      const result = await answer(method, params, stop.signal);
      answered.add(key);
      return [key, result] as const;
    }));
    return Object.fromEntries(results);
  } catch (error) {
    stop.abort(error);
    throw error;
  } finally {
    exchange.signal?.removeEventListener("abort", onAbort);
  }
}

async function pollTask(created: JsonObject, request: Unfinished): Promise<JsonObject> {
  const { exchange, server, send, duration } = request;
  const taskId = created.taskId as string;
  const signal = exchange.signal ?? new AbortController().signal;
  const answered = new Set<string>();
  const began = performance.now();
  const readTask = createTaskReader(taskId, request);
  /** Answers that may not have reached the server, because it was away. */
  let unsent: JsonObject = {};
  /** @returns what has to be sent again */
  const update = async (inputResponses: JsonObject): Promise<JsonObject> => {
    try {
      await send("tasks/update", { taskId, inputResponses }, exchange);
    } catch (error) {
      if (!isPassing(error)) throw error;
      return inputResponses;
    }
    return {};
  };
  let task = created;
  try {
    for (;;) {
      const { pollIntervalMs, status } = task;
      if (status === "completed") {
        if (isObject(task.result)) return task.result;
        throw malformed(server, "completed a task without a result");
      }
      if (status === "failed") throw toTaskError(task.error);
      if (status === "cancelled") throw new ConnectionError("closed", server, "cancelled the task");
      if (performance.now() - began >= duration) {
        throw new ConnectionError("timeout", server, `did not finish the task within ${duration} ms`);
      }
      if (status === "input_required") {
        const more = await answerAll(task.inputRequests, answered, request);
        unsent = { ...keepAsked(unsent, task.inputRequests), ...more };
        if (Object.keys(unsent).length > 0) unsent = await update(unsent);
      }
      await wait(toPollInterval(pollIntervalMs), signal);
      task = await readTask(task);
    }
  } catch (error) {
    const isOver = task.status === "completed" || task.status === "failed" || task.status === "cancelled";
    if (!isOver) send("tasks/cancel", { taskId }, { ...exchange, signal: undefined }).catch(() => {});
    throw error;
  }
}

/** Those of the answers that the server still asks for. */
function keepAsked(answers: JsonObject, inputRequests: unknown): JsonObject {
  const asked = isObject(inputRequests) ? inputRequests : {};
  return Object.fromEntries(Object.entries(answers).filter(([key]) => Object.hasOwn(asked, key)));
}

/** Reads a task again and again: what was read last counts while the server is away, for up to a minute at a time. */
export function createTaskReader(
  taskId: unknown,
  { exchange, send }: Pick<Unfinished, "exchange" | "send">,
): (last: JsonObject) => Promise<JsonObject> {
  let away: number | undefined;
  return async (last) => {
    try {
      const task = await send("tasks/get", { taskId }, exchange);
      away = undefined;
      return task;
    } catch (error) {
      away ??= performance.now();
      if (!isPassing(error) || performance.now() - away > MAX_OUTAGE_MS) throw error;
      return last;
    }
  };
}

/** Milliseconds until a task is polled again. @param wanted by the server */
export function toPollInterval(wanted: unknown): number {
  const interval = typeof wanted === "number" ? wanted : DEFAULT_POLL_MS;
  return Math.min(Math.max(interval, MIN_POLL_MS), MAX_POLL_MS);
}

function toTaskError(error: unknown): McpError {
  const { code, message, data } = isObject(error) ? error : {};
  return new McpError(
    Number.isInteger(code) ? code as number : -32603,
    typeof message === "string" ? message : "The task failed",
    data,
  );
}

function malformed(server: string, what: string): ConnectionError {
  return new ConnectionError("malformed", server, what);
}
