/**
 * The calls of a connection that have no response yet: cancelled one by one, and all when the input ends.
 *
 * @module
 */
import type { Id } from "../../jsonrpc/message.ts";
import { waitAtMost } from "../../http/wait_at_most.ts";
import type { Call } from "../call.ts";

/** The line of a response, if there is one. */
export type Answer = string | undefined;

/** A call without a response yet. */
export interface RunningCall {
  readonly call: Call;
  answer?: Promise<Answer>;
}

/** How long calls may still run after the input has ended. Clients kill the process after 2 s. */
const FINISH_MS = 1000;
/** How long cancelled calls may take to stop after that. */
const STOP_MS = 500;

export class RunningCalls {
  readonly #requests = new Map<Id, RunningCall>();
  readonly #batched = new Set<Call>();
  /** What the end of the input waits for. */
  readonly #answering = new Set<Promise<Answer>>();
  /** Answers of calls that the client cancelled. */
  readonly #stopping = new Set<Promise<Answer>>();
  #lastCancellation = -Infinity;

  start(id: Id, call: Call): RunningCall {
    const running: RunningCall = { call };
    this.#requests.set(id, running);
    return running;
  }

  finish(id: Id, running: RunningCall | undefined): void {
    // A second request with the same id may have replaced it.
    if (this.#requests.get(id) === running) this.#requests.delete(id);
  }

  startBatched(call: Call): void {
    this.#batched.add(call);
  }

  finishBatched(call: Call): void {
    this.#batched.delete(call);
  }

  /** Has the end of the input wait for an answer. */
  track(answer: Promise<Answer>, send: (answer: Answer) => void): void {
    this.#answering.add(answer);
    const drop = (): void => void (this.#answering.delete(answer) || this.#stopping.delete(answer));
    answer.then(send).then(drop, drop);
  }

  /** Cancels a call whose client wants no response. */
  cancel(id: Id): void {
    const running = this.#requests.get(id);
    if (!running) return;
    running.call.cancel("The client cancelled the request");
    this.#requests.delete(id);
    this.#lastCancellation = performance.now();
    if (running.answer && this.#answering.delete(running.answer)) this.#stopping.add(running.answer);
  }

  /** Cancels the calls of a client that is gone. */
  disconnect(): void {
    for (const { call } of this.#requests.values()) call.cancel("The client disconnected");
  }

  /** Waits until all calls have finished, then cancels those that have not. @returns the ids without a response */
  async end(): Promise<readonly Id[]> {
    await waitAtMost(FINISH_MS, Promise.allSettled(this.#answering));
    const unanswered = [...this.#requests.keys()];
    const cancelled = [...this.#requests.values()].map(({ call }) => call).concat(...this.#batched);
    for (const call of cancelled) call.cancel("Standard input was closed");
    if (cancelled.length > 0) this.#lastCancellation = performance.now();
    const stopMs = this.#lastCancellation + STOP_MS - performance.now();
    const rest = this.#answering.union(this.#stopping);
    if (stopMs > 0) await waitAtMost(stopMs, Promise.allSettled(rest));
    return unanswered;
  }
}
