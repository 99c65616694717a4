/**
 * What a connection consists of, and one that is being opened, for all calls that wait for it: a call that cancels does not
 * end it for the others.
 *
 * @module
 */
import type { ConnectionInfo } from "./client.ts";
import type { ListedTools } from "./listed_tools.ts";
import type { Listening } from "./listening.ts";
import { waitFor } from "./wait.ts";
import type { Wire } from "./wire.ts";

/** What a connection consists of. */
export interface Connected {
  readonly wire: Wire;
  readonly tools: ListedTools;
  info: ConnectionInfo;
  listening: Listening;
  /** Counts the sessions. */
  session: number;
  renewing: Promise<void> | undefined;
}

export class Connecting {
  readonly connection: Promise<Connected>;
  readonly #giveUp = new AbortController();
  #waiting = 0;

  /** @param open ends when the signal aborts */
  constructor(open: (signal: AbortSignal) => Promise<Connected>) {
    this.connection = open(this.#giveUp.signal);
  }

  get isGivenUp(): boolean {
    return this.#giveUp.signal.aborted;
  }

  /**
   * @param mayEnd whether it is given up when this call cancels and no other waits
   * @throws the reason of the signal, and what opening throws
   */
  async wait(signal: AbortSignal | undefined, mayEnd: boolean): Promise<Connected> {
    this.#waiting++;
    try {
      return await waitFor(this.connection, signal);
    } finally {
      this.#waiting--;
      if (mayEnd && signal?.aborted && this.#waiting === 0) this.#giveUp.abort(signal.reason);
    }
  }
}
