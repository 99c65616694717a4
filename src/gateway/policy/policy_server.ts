/**
 * The server of a policy.
 *
 * @module
 */
import type { Observe } from "../../events.ts";
import type { Store } from "../../store/store.ts";

/** What a policy needs of its server. */
export interface PolicyServer {
  readonly store: Store;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly observe: Observe;
  /** The address of the server without a slash at its end, for the pages on which users approve calls. */
  readonly place: string;
  /** Whether users can sign in here, to approve a call on a page of the authorization server. */
  readonly hasPages: boolean;
  /** The other scopes that a scope implies. */
  readonly implied: ReadonlyMap<string, ReadonlySet<string>>;
  /** How the decision point is reached. @default the global fetch */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}
