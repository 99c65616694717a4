/**
 * What a flow is: vectors in an order that tells a story, and what documents ask of requests that many vectors begin with.
 *
 * @module
 */
import type { Exchange } from "../runner/world.ts";

export interface Flow {
  readonly name: string;
  readonly title: string;
  /** What it is for, in a sentence or two. */
  readonly about: string;
  /** Said of an exchange that no vector asks about by itself; the first that fits. */
  readonly points: readonly Point[];
  readonly parts: readonly Part[];
}

export interface Point {
  readonly fits: Fit;
  /** What happens here. */
  readonly says: string;
  /** Ids of rows of the requirements. */
  readonly rows: readonly string[];
}

/** All that is given has to be so. */
export interface Fit {
  /** Of the request. */
  readonly method?: string;
  /** Name among the target's endpoints; the request goes to its path. */
  readonly endpoint?: string;
  /** Stands in the request. */
  readonly request?: string;
  /** Any of them is that of the answer. */
  readonly status?: readonly number[];
  /** Name of the procedure that the step calls. */
  readonly call?: string;
}

export interface Part {
  /** Why this comes next. */
  readonly says: string;
  readonly vector: string;
}

/** Whether a point is about an exchange. @param call the procedure that it belongs to */
export function fits(
  { method, endpoint, request, status, call }: Fit,
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
