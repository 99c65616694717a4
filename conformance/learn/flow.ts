/**
 * The types of a flow: vectors in a teaching order, and explanations of exchanges that many vectors share.
 *
 * @module
 */
import type { Exchange } from "../runner/context.ts";

export interface Flow {
  readonly name: string;
  readonly title: string;
  /** The purpose of the flow. */
  readonly summary: string;
  /** Explanations of exchanges. The first that matches is shown. */
  readonly explanations: readonly Explanation[];
  readonly parts: readonly Part[];
}

export interface Explanation {
  readonly exchange: ExchangePattern;
  /** What happens here. */
  readonly text: string;
  /** Ids of requirement rows. */
  readonly rows: readonly string[];
}

/** Every given member must match. */
export interface ExchangePattern {
  /** Method of the request. */
  readonly method?: string;
  /** Name of the endpoint that receives the request. */
  readonly endpoint?: string;
  /** Text that the request contains. */
  readonly request?: string;
  /** Allowed statuses of the response. */
  readonly status?: readonly number[];
  /** Name of the procedure that the step calls. */
  readonly call?: string;
}

export interface Part {
  /** What this part shows. */
  readonly text: string;
  readonly vector: string;
}

/** Whether an exchange matches. @param called the procedure to which the exchange belongs */
export function fits(
  { method, endpoint, request, status, call }: ExchangePattern,
  exchange: Exchange,
  endpoints: Readonly<Record<string, string>>,
  base: string,
  called: string | undefined,
): boolean {
  const [, sentMethod, sentPath] = /^([A-Z]+) ([^\s?]+)/.exec(exchange.request) ?? [];
  return (method === undefined || method === sentMethod) &&
    (endpoint === undefined || pathOf(endpoints[endpoint], base) === sentPath) &&
    (request === undefined || exchange.request.includes(request)) &&
    (status === undefined || status.some((each) => exchange.answer.startsWith(`${each}`))) &&
    (call === undefined || call === called);
}

function pathOf(address: string | undefined, base: string): string | undefined {
  return address === undefined ? undefined : URL.parse(address, base)?.pathname;
}
