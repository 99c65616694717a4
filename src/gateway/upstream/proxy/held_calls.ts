/**
 * Calls of an upstream that waits for input while the client of 2026-07-28 asks its user: the run of the tool has ended, but
 * the request to the upstream is still open. It is held on this instance until the client retries the call with its answers.
 *
 * @module
 */
import { randomId } from "../../../crypto/secret.ts";
import type { Principal } from "../../../http/principal.ts";
import type { CallContext } from "../../../mcp/context.ts";
import { userKey } from "../../../mcp/session/principal_key.ts";
import type { JsonObject } from "../../../mcp_client/client.ts";
import { unrefTimer } from "../../../timer.ts";
import { UpstreamFailure } from "../failure.ts";

/** A request of the upstream that has no answer yet. */
export interface OpenRequest {
  /** The same in every run. */
  readonly key: string;
  readonly method: string;
  readonly params: JsonObject;
  answer(result: Promise<JsonObject>): void;
}

/** How many calls of one session may be held, and how many of those by one user: users can share a session. */
const MAX_HELD = 256;
const MAX_HELD_BY_USER = 64;

/** A request to an upstream that outlives the run that sent it. */
export class HeldCall {
  readonly id: string = randomId("");
  /** The requests that wait for an answer. */
  readonly open: Map<string, OpenRequest> = new Map();
  /** The context of the run that waits now. */
  context: CallContext;
  readonly result: Promise<JsonObject>;
  readonly #controller = new AbortController();
  #isOver = false;
  #isTask = false;
  #onTask = (): void => {};
  #wake: (() => void) | undefined;
  #requests = 0;
  #detach = (): void => {};

  /** @param send sends the request; its signal ends it, its function answers requests of the upstream */
  constructor(
    context: CallContext,
    send: (
      signal: AbortSignal,
      onServerRequest: (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>,
      current: () => CallContext,
    ) => Promise<JsonObject>,
  ) {
    this.context = context;
    this.result = send(
      this.#controller.signal,
      (method, params, signal) => this.#ask(method, params, signal),
      () => this.context,
    ).finally(() => {
      this.#isOver = true;
      this.#wake?.();
    });
    this.result.catch(() => {});
  }

  /** Resolves when the upstream asks for something or has answered: `true` when it has answered. */
  async next(): Promise<boolean> {
    while (!this.#isOver && this.open.size === 0) await new Promise<void>((resolve) => this.#wake = resolve);
    return this.#isOver;
  }

  /**
   * Makes a run the one that waits: when it is cancelled, so is the request.
   * @param onTask called when the upstream makes the call a task, or has done so
   */
  attach(context: CallContext, onTask: () => void = () => {}): void {
    this.detach();
    this.context = context;
    this.#onTask = onTask;
    if (this.#isTask) onTask();
    const { signal } = context;
    const onAbort = (): void => this.cancel(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort);
    this.#detach = () => signal.removeEventListener("abort", onAbort);
  }

  detach(): void {
    this.#detach();
    this.#detach = () => {};
  }

  /** The upstream has made the call a task. */
  becomeTask(): void {
    this.#isTask = true;
    this.#onTask();
  }

  cancel(reason: unknown): void {
    this.#controller.abort(reason);
    this.detach();
  }

  #ask(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const kind = method.slice(0, method.indexOf("/"));
    const key = `upstream_${kind}_${++this.#requests}`;
    return new Promise((resolve, reject) => {
      const close = (): void => {
        this.open.delete(key);
        signal.removeEventListener("abort", onAbort);
      };
      const onAbort = (): void => {
        close();
        reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort);
      this.open.set(key, {
        key,
        method,
        params,
        answer(result) {
          close();
          resolve(result);
        },
      });
      this.#wake?.();
    });
  }
}

/** The held calls of one session. */
export class HeldCalls {
  readonly #timeout: number;
  readonly #calls = new Map<
    string,
    { readonly call: HeldCall; readonly timer: ReturnType<typeof setTimeout> }
  >();

  /** @param timeout milliseconds for which a call waits for its client */
  constructor(timeout: number) {
    this.#timeout = timeout;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Holds a call until its client retries. @throws {UpstreamFailure} when too many are held */
  hold(call: HeldCall): void {
    call.detach();
    this.#forget(call.id);
    const { principal } = call.context;
    if (this.#calls.size >= MAX_HELD || principal && this.#countOf(principal) >= MAX_HELD_BY_USER) {
      call.cancel(new DOMException("Too many calls wait for input", "AbortError"));
      throw new UpstreamFailure(
        "waits for input in too many calls already. Answer them, or try again later.",
      );
    }
    const timer = setTimeout(() => {
      this.#calls.delete(call.id);
      call.cancel(new DOMException("The client did not answer in time", "TimeoutError"));
    }, this.#timeout);
    unrefTimer(timer);
    this.#calls.set(call.id, { call, timer });
  }

  /** The call, which is not held any more. */
  take(id: string): HeldCall | undefined {
    const call = this.#calls.get(id)?.call;
    this.#forget(id);
    return call;
  }

  /** Cancels all. */
  close(): void {
    for (const [id, { call }] of this.#calls) {
      this.#forget(id);
      call.cancel(new DOMException("The connection was closed", "AbortError"));
    }
  }

  #countOf(principal: Principal): number {
    const user = userKey(principal);
    let count = 0;
    for (const { call } of this.#calls.values()) if (userKey(call.context.principal) === user) count++;
    return count;
  }

  #forget(id: string): void {
    clearTimeout(this.#calls.get(id)?.timer);
    this.#calls.delete(id);
  }
}
