/**
 * A kind of large requests that a fuzzer sends.
 *
 * @module
 */
import type { Measured } from "./budgets.ts";
import type { Random } from "./random.ts";

/** One request, which can be made again. */
export interface Heavy extends Measured {
  /** Which request it is, for whoever reads a finding. */
  readonly label: string;
  request(): Request;
}

export interface HeavyWorld {
  readonly origin: string;
  /** A secret with all scopes of the Skills service. */
  readonly apiKey: string;
  fetch(request: Request): Promise<Response>;
}

export interface HeavyKind {
  next(random: Random, world: HeavyWorld): Promise<Heavy>;
}
