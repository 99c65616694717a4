/**
 * What became of a request: the line of an access log. Made by `observe_request.ts` for the option `onRequest`, never with a query, a
 * header field of the client or a body, which may hold secrets.
 *
 * @module
 */

/** One request, when its response begins. */
export interface RequestOutcome {
  /** The value of the header field `X-Request-Id` of the response. */
  readonly id: string;
  readonly method: string;
  /** At most 200 characters, as it was sent: percent-encoded. */
  readonly path: string;
  readonly status: number;
  /** Until the header fields of the response. An event stream goes on after that. */
  readonly milliseconds: number;
  /** The caller's address, as `trustedProxies` finds it. */
  readonly ip?: string | undefined;
  /** The trace id of `traceparent` (https://www.w3.org/TR/trace-context/#traceparent-header), if the request has one. */
  readonly trace?: string | undefined;
}

/** Receives outcomes. Must return at once and must not throw, since responses wait for it. */
export type ObserveRequest = (outcome: RequestOutcome) => void;

const MAX_PATH_CHARACTERS = 200;

/** The path for a log line. */
export function shortPath(path: string): string {
  return path.slice(0, MAX_PATH_CHARACTERS);
}

/** Names requests: random for the process, then a number, because a random id for each request costs more. */
export function createRequestIds(): () => string {
  let prefix: string | undefined;
  let number = 0;
  // Made with the first request: workerd has no random values before.
  return () =>
    `${prefix ??= crypto.randomUUID().replaceAll("-", "").slice(0, 12)}-${(++number).toString(36)}`;
}
