/**
 * The requests of a connection whose messages share one channel: standard output, or the event stream of HTTP+SSE.
 *
 * @module
 */
import type { JsonObject } from "../limits.ts";
import { parseMessages } from "../message.ts";
import type { IncomingResponse, OutgoingRequest, Receiver } from "../transport.ts";

interface Pending {
  readonly resolve: (response: IncomingResponse) => void;
  readonly reject: (error: unknown) => void;
}

/** Requests without a response yet, by id. */
export class PendingRequests {
  readonly #receiver: Receiver;
  readonly #server: string;
  readonly #pending = new Map<number, Pending>();

  constructor(receiver: Receiver, server: string) {
    this.#receiver = receiver;
    this.#server = server;
  }

  /** Writes a request, and resolves with its response. */
  send({ id, signal }: OutgoingRequest, write: () => Promise<void> | undefined): Promise<IncomingResponse> {
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#pending.delete(id);
        reject(signal.reason);
      };
      const settle = <Value>(how: (value: Value) => void) => (value: Value): void => {
        this.#pending.delete(id);
        signal.removeEventListener("abort", stop);
        how(value);
      };
      const pending = { resolve: settle(resolve), reject: settle(reject) };
      this.#pending.set(id, pending);
      signal.addEventListener("abort", stop);
      write()?.catch(pending.reject);
    });
  }

  /**
   * Delivers the messages in a text: responses to their requests, the others to the receiver.
   * @returns the number of responses
   * @throws {ConnectionError} for invalid JSON
   */
  deliver(text: string): number {
    let responses = 0;
    for (const message of parseMessages(text, this.#server)) {
      if (message.method !== undefined) this.#receiver.receive(message, undefined);
      else if (this.#respond(message, text.length)) responses++;
    }
    return responses;
  }

  /** Rejects all. */
  fail(error: unknown): void {
    for (const { reject } of [...this.#pending.values()]) reject(error);
  }

  #respond({ id, result, error }: JsonObject, bytes: number): boolean {
    const pending = typeof id === "number" ? this.#pending.get(id) : undefined;
    pending?.resolve({ result, error, bytes });
    return pending !== undefined;
  }
}
