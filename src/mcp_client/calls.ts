/**
 * The requests of a client without a response yet, and their deadlines: one timer for all.
 *
 * @module
 */
import { timerDelay } from "../timer.ts";
import type { ClientExchange } from "./client.ts";

/** A request without a response yet. */
export interface Call {
  readonly id: number;
  readonly method: string;
  /** The task of `tasks/result` (2025-11-25). */
  readonly task?: unknown;
  readonly exchange: ClientExchange;
  /** Ends what the transport does for the call. */
  readonly controller: AbortController;
  readonly reject: (error: unknown) => void;
  /** When it began, and when the last message came, by `performance.now()`. */
  readonly began: number;
  lastMessage: number;
  /** Requests of the server that wait for an answer of this client: meanwhile, the server cannot send a message. */
  answering?: number;
  /** Milliseconds without a message, and in all. */
  readonly timeout: number;
  readonly duration: number;
}

/** Calls by id. */
export class Calls {
  readonly #onTimeout: (call: Call) => void;
  readonly #calls = new Map<number, Call>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #due = Infinity;

  constructor(onTimeout: (call: Call) => void) {
    this.#onTimeout = onTimeout;
  }

  get(id: unknown): Call | undefined {
    return typeof id === "number" ? this.#calls.get(id) : undefined;
  }

  all(): Call[] {
    return [...this.#calls.values()];
  }

  add(call: Call): void {
    this.#calls.set(call.id, call);
    const due = deadline(call);
    if (due < this.#due) this.#arm(due, call.began);
  }

  /** Whether it was there. */
  remove(id: number): boolean {
    const found = this.#calls.delete(id);
    if (found && this.#calls.size === 0) {
      clearTimeout(this.#timer);
      this.#due = Infinity;
    }
    return found;
  }

  #arm(due: number, now: number): void {
    clearTimeout(this.#timer);
    this.#due = due;
    // Infinity: calls without a deadline need no timer.
    if (due !== Infinity) this.#timer = setTimeout(() => this.#check(), timerDelay(due - now));
  }

  #check(): void {
    const now = performance.now();
    let due = Infinity;
    this.#due = Infinity;
    for (const call of this.all()) {
      const callDue = deadline(call);
      if (callDue <= now) this.#onTimeout(call);
      else if (callDue < due) due = callDue;
    }
    if (this.#calls.size > 0 && due < this.#due) this.#arm(due, now);
  }
}

function deadline({ began, lastMessage, answering = 0, timeout, duration }: Call): number {
  return Math.min(answering > 0 ? performance.now() + timeout : lastMessage + timeout, began + duration);
}
