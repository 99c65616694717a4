/**
 * The types of requests and responses, the interface of a sender, and an exchange within limits of time and
 * size.
 *
 * @module
 */
import { GrowingBytes } from "./growing_bytes.ts";
import { toTimerMs } from "./timer.ts";

export type HeaderField = readonly [name: string, value: string];

/** A request, complete except for the fields that a sender adds. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly fields: readonly HeaderField[];
  /** Lower-case names of fields that the sender must not add. */
  readonly without: readonly string[];
  readonly body: Uint8Array | undefined;
  /** The fields are sent unchanged, in order, and no others. */
  readonly raw: boolean;
  /** The bytes of the whole request, in place of everything else. */
  readonly wire: Uint8Array | undefined;
}

export type BreakKind = "refused" | "closed" | "hung" | "flooded" | "garbled";

/** The exchange failed: no connection, or no complete response. */
export class BrokenExchange extends Error {
  override readonly name = "BrokenExchange";
  readonly kind: BreakKind;
  /** The part of the response received before the failure. */
  readonly response: Partial<HttpResponse>;

  constructor(kind: BreakKind, message: string, response: Partial<HttpResponse> = {}) {
    super(message);
    this.kind = kind;
    this.response = response;
  }
}

export interface HttpResponse {
  readonly status: number;
  readonly fields: readonly HeaderField[];
  readonly body: Uint8Array;
}

/** A response whose body is still arriving. `next` returns its chunks, then `undefined`. */
export interface OpenResponse {
  readonly status: number;
  readonly fields: readonly HeaderField[];
  /** @throws {BrokenExchange} */
  next(): Promise<Uint8Array | undefined>;
  /** Closes the connection. */
  cancel(): void;
}

export interface Limits {
  /** Time limit of one exchange. */
  readonly seconds: number;
  /** Limit of one body. */
  readonly bytes: number;
}

export interface Sender {
  /**
   * Sends a request and waits for the header fields of the response. The caller measures the time and aborts. @throws {BrokenExchange}
   */
  open(outgoing: HttpRequest, limits: Limits, signal: AbortSignal): Promise<OpenResponse>;
  close(): Promise<void>;
}

/** Waits for a promise. @throws {BrokenExchange} `hung` when the time limit is exceeded */
export function withTimeout<T>(
  promise: Promise<T>,
  seconds: number,
  what: string | (() => BrokenExchange),
  onLate?: () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      onLate?.();
      reject(
        typeof what === "string"
          ? new BrokenExchange("hung", `${what} took longer than ${Math.round(seconds * 10) / 10} s`)
          : what(),
      );
    }, toTimerMs(seconds));
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/**
 * Sends a request and reads the whole response within the limits.
 * @param since start of the exchange, if the header fields were read before
 * @throws {BrokenExchange} with the part received until then
 */
export async function exchange(
  sender: Sender,
  outgoing: HttpRequest,
  limits: Limits,
  since: number = performance.now(),
): Promise<HttpResponse> {
  const end = since + limits.seconds * 1000;
  const opened = await openWithTimeout(sender, outgoing, limits);
  const body = new GrowingBytes();
  const toResponse = (): HttpResponse => ({
    status: opened.status,
    fields: opened.fields,
    body: body.take(),
  });
  try {
    while (true) {
      const remaining = Math.max((end - performance.now()) / 1000, 0);
      const createTimeout = () =>
        new BrokenExchange("hung", `The response did not end within ${limits.seconds} s`);
      const chunk = await withTimeout(opened.next(), remaining, createTimeout);
      if (!chunk) return toResponse();
      body.add(chunk);
      if (body.length > limits.bytes) {
        throw new BrokenExchange("flooded", `The body is longer than ${limits.bytes} bytes`);
      }
    }
  } catch (error) {
    opened.cancel();
    throw error instanceof BrokenExchange
      ? new BrokenExchange(error.kind, error.message, toResponse())
      : error;
  }
}

/** Sends a request and waits for the header fields. A response after the time limit is cancelled. */
export function openWithTimeout(
  sender: Sender,
  outgoing: HttpRequest,
  limits: Limits,
): Promise<OpenResponse> {
  const leave = new AbortController();
  const opening = sender.open(outgoing, limits, leave.signal);
  return withTimeout(opening, limits.seconds, "The response", () => {
    leave.abort();
    opening.then((late) => late.cancel(), () => {});
  });
}
