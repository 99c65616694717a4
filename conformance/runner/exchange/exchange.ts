/**
 * What goes out and what comes back, before anyone looks at it, and the contract of a sender.
 *
 * @module
 */
import { GrowingBytes } from "./growing_bytes.ts";
import { timerDelay } from "./timer.ts";

export type Field = readonly [name: string, value: string];

/** A request, complete in every byte that its sender leaves to it. */
export interface Outgoing {
  readonly method: string;
  readonly url: string;
  readonly fields: readonly Field[];
  /** Names of fields, in lower case, that the sender shall not add. */
  readonly without: readonly string[];
  readonly body: Uint8Array | undefined;
  /** Fields go out as they are, in order, with nothing added. */
  readonly raw: boolean;
  /** Replaces everything: the bytes of the whole request. */
  readonly wire: Uint8Array | undefined;
}

export type BrokenWord = "refused" | "closed" | "hung" | "flooded" | "garbled";

/** The exchange came to no right end. */
export class Broken extends Error {
  override readonly name = "Broken";
  readonly word: BrokenWord;
  /** What had come before it broke. */
  readonly answer: Partial<Answer>;

  constructor(word: BrokenWord, message: string, answer: Partial<Answer> = {}) {
    super(message);
    this.word = word;
    this.answer = answer;
  }
}

export interface Answer {
  readonly status: number;
  readonly fields: readonly Field[];
  readonly body: Uint8Array;
}

/** An answer whose body is still on its way. `next` gives its chunks, then nothing. */
export interface OpenAnswer {
  readonly status: number;
  readonly fields: readonly Field[];
  /** @throws {Broken} */
  next(): Promise<Uint8Array | undefined>;
  /** Goes away, whatever is still to come. */
  cancel(): void;
}

export interface Limits {
  /** For one exchange. */
  readonly seconds: number;
  /** Of one body. */
  readonly bytes: number;
}

export interface Sender {
  /**
   * Sends and waits for the fields of the answer. The caller keeps the time and says by the signal that it waits no
   * longer. @throws {Broken}
   */
  open(outgoing: Outgoing, limits: Limits, signal: AbortSignal): Promise<OpenAnswer>;
  close(): Promise<void>;
}

/** Whatever `promise` gives, or Broken("hung") once the time is over. */
export function within<T>(
  promise: Promise<T>,
  seconds: number,
  what: string | (() => Broken),
  onLate?: () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      onLate?.();
      reject(
        typeof what === "string"
          ? new Broken("hung", `${what} did not come within ${Math.round(seconds * 10) / 10} s`)
          : what(),
      );
    }, timerDelay(seconds));
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/**
 * Sends, and reads the answer to its end, within limits.
 * @param since when the exchange began, for an answer whose fields are there already
 * @throws {Broken} with what had come until then
 */
export async function exchange(
  sender: Sender,
  outgoing: Outgoing,
  limits: Limits,
  since: number = performance.now(),
): Promise<Answer> {
  const end = since + limits.seconds * 1000;
  const opened = await openWithin(sender, outgoing, limits);
  const body = new GrowingBytes();
  const answer = (): Answer => ({ status: opened.status, fields: opened.fields, body: body.take() });
  try {
    while (true) {
      const left = Math.max((end - performance.now()) / 1000, 0);
      const late = () => new Broken("hung", `The answer did not end within ${limits.seconds} s`);
      const chunk = await within(opened.next(), left, late);
      if (!chunk) return answer();
      body.add(chunk);
      if (body.length > limits.bytes) {
        throw new Broken("flooded", `The body is longer than ${limits.bytes} bytes`);
      }
    }
  } catch (error) {
    opened.cancel();
    throw error instanceof Broken ? new Broken(error.word, error.message, answer()) : error;
  }
}

/** Sends and waits for the answer's fields, within the time. An answer that comes later is let go. */
export function openWithin(sender: Sender, outgoing: Outgoing, limits: Limits): Promise<OpenAnswer> {
  const leave = new AbortController();
  const opening = sender.open(outgoing, limits, leave.signal);
  return within(opening, limits.seconds, "An answer", () => {
    leave.abort();
    opening.then((late) => late.cancel(), () => {});
  });
}
