/**
 * A generator of large requests.
 *
 * @module
 */
import type { Measured } from "./budgets.ts";
import type { Random } from "./random.ts";

/** One large request, which can be sent again. */
export interface Heavy extends Measured {
  /** Describes the request in a finding. */
  readonly label: string;
  request(): Request;
}

export interface HeavySetup {
  readonly origin: string;
  /** An API key with all scopes of the Skills service. */
  readonly apiKey: string;
  fetch(request: Request): Promise<Response>;
}

export interface HeavyKind {
  next(random: Random, setup: HeavySetup): Promise<Heavy>;
}
