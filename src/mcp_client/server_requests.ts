/**
 * Answers requests of the server (up to 2025-11-25): elicitation, sampling, roots and ping.
 *
 * @module
 */
import { INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND } from "../jsonrpc/error.ts";
import type { Call, Calls } from "./calls.ts";
import type { AnswerServerRequest, ClientCapabilities } from "./client.ts";
import { unrefTimer } from "../timer.ts";
import { isPassing, McpError } from "./error.ts";
import type { JsonObject } from "./limits.ts";
import { isObject } from "./message.ts";
import { META_PREFIX } from "./revision.ts";

/** Requests of the server that are answered at the same time. */
const MAX_CONCURRENT = 100;
/** Responses that are being sent. A server that floods the client with requests gets no more. */
const MAX_RESPONDING = 200;
/** Pauses before a response is sent again: six, of half a minute in all. */
const MIN_PAUSE_MS = 500;
const MAX_PAUSE_MS = 16_000;
/** Calls during which servers ask for input. */
const MAY_ASK = ["tools/call", "tasks/result", "prompts/get", "resources/read", "completion/complete"];

export interface ServerRequestsOptions {
  readonly calls: Calls;
  readonly capabilities: ClientCapabilities;
  readonly onServerRequest: AnswerServerRequest | undefined;
  /** Sends a response, with the credentials of a caller. @throws when it cannot be sent, as after the end of the connection */
  readonly respond: (text: string, caller: unknown) => Promise<void>;
}

/** A request that is being answered. */
interface Answering {
  readonly call: Call | undefined;
  readonly controller: AbortController;
}

/** Requests of the server over one connection. */
export class ServerRequests {
  readonly #options: ServerRequestsOptions;
  readonly #answering = new Map<unknown, Answering>();
  #responding = 0;

  constructor(options: ServerRequestsOptions) {
    this.#options = options;
  }

  /** Answers a request. `origin`: the call on whose stream it came. */
  receive(message: JsonObject, origin: Call | undefined): void {
    const { id, method } = message;
    const params = isObject(message.params) ? message.params : {};
    if (typeof id !== "string" && typeof id !== "number") return;
    const call = origin ?? findOwner(this.#options.calls, taskOf(params));
    const respond = (answer: JsonObject, retries = () => false): void =>
      this.#respond(JSON.stringify({ jsonrpc: "2.0", id, ...answer }), call?.exchange.caller, retries);
    const refuse = (code: number, text: string): void => respond({ error: { code, message: text } });
    if (method === "ping") return respond({ result: {} });
    if (!isDeclared(String(method), params, this.#options.capabilities)) {
      return refuse(METHOD_NOT_FOUND, "Method not found: the client did not declare this capability");
    }
    const answer = call?.exchange.onServerRequest ?? this.#options.onServerRequest;
    if (!answer) {
      return refuse(INVALID_REQUEST, "Invalid Request: it belongs to no call whose caller can answer");
    }
    if (this.#answering.has(id)) return refuse(INVALID_REQUEST, "Invalid Request: this id is in use");
    if (this.#answering.size >= MAX_CONCURRENT) return refuse(INTERNAL_ERROR, "Too many requests at once");
    const controller = new AbortController();
    this.#answering.set(id, { call, controller });
    if (call) call.answering = (call.answering ?? 0) + 1;
    this.#answer(answer, String(method), params, controller.signal).then((outcome) => {
      this.#answering.delete(id);
      if (call) {
        call.answering!--;
        call.lastMessage = performance.now();
      }
      // A request that was cancelled gets no response.
      const { calls } = this.#options;
      if (!controller.signal.aborted) respond(outcome, () => !call || calls.get(call.id) === call);
    });
  }

  #respond(text: string, caller: unknown, retries: () => boolean): void {
    if (this.#responding >= MAX_RESPONDING) return;
    this.#responding++;
    this.#send(text, caller, retries).finally(() => this.#responding--);
  }

  /** One that is lost makes the server, and the call of this client, wait for what the user answered. */
  async #send(text: string, caller: unknown, retries: () => boolean): Promise<void> {
    for (let pause = MIN_PAUSE_MS;; pause *= 2) {
      try {
        return await this.#options.respond(text, caller);
      } catch (error) {
        // Servers ignore a response that they have already.
        if (!isPassing(error) || pause > MAX_PAUSE_MS || !retries()) return;
      }
      await new Promise<void>((resolve) => unrefTimer(setTimeout(resolve, pause)));
      if (!retries()) return;
    }
  }

  /** The server cancelled its request. */
  cancel(id: unknown): void {
    this.#answering.get(id)?.controller.abort(new Error("The server cancelled its request"));
  }

  /** A call has ended, or all have: their requests need no answer. */
  end(call?: Call): void {
    for (const [id, answering] of this.#answering) {
      if (call && answering.call !== call) continue;
      this.#answering.delete(id);
      answering.controller.abort(new Error("The call of this request has ended"));
    }
  }

  get size(): number {
    return this.#answering.size;
  }

  async #answer(
    answer: AnswerServerRequest,
    method: string,
    params: JsonObject,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    try {
      return toWritable({ result: await answer(method, params, signal) });
    } catch (error) {
      // Other errors may contain what the server must not know.
      if (!(error instanceof McpError)) return FAILED;
      const { code, message, data } = error;
      return toWritable({ error: { code, message, data } });
    }
  }
}

const FAILED: JsonObject = { error: { code: INTERNAL_ERROR, message: "The client could not answer" } };

/** The answer, unless it cannot be written as JSON. */
function toWritable(answer: JsonObject): JsonObject {
  try {
    JSON.stringify(answer);
    return answer;
  } catch {
    return FAILED;
  }
}

/**
 * The call that a message on a shared channel belongs to: that of the task which it names, else the only one that runs. With
 * several, the message for one caller could reach another.
 */
export function findOwner(calls: Calls, task?: unknown): Call | undefined {
  const running = calls.all().filter((call) =>
    task === undefined ? MAY_ASK.includes(call.method) : call.task === task
  );
  return running.length === 1 ? running[0] : undefined;
}

/** The task that a request of the server belongs to (2025-11-25). */
function taskOf({ _meta }: JsonObject): unknown {
  const related = isObject(_meta) ? _meta[META_PREFIX + "related-task"] : undefined;
  return isObject(related) ? related.taskId : undefined;
}

/** Whether the capability that a request needs was declared. */
export function isDeclared(
  method: string,
  params: JsonObject,
  { elicitation, sampling, roots }: ClientCapabilities,
): boolean {
  if (method === "sampling/createMessage") return sampling !== undefined;
  if (method === "roots/list") return roots !== undefined;
  if (method !== "elicitation/create" || elicitation === undefined) return false;
  if (params.mode === "url") return elicitation.url !== undefined;
  return elicitation.form !== undefined || elicitation.url === undefined;
}
