/**
 * The policy of a gateway: who sees what, and what happens with each call.
 *
 * @module
 */
import type { Observe } from "../../events.ts";
import type { Principal } from "../../http/principal.ts";
import type { Service } from "../../http/service.ts";
import type { Middleware } from "../../mcp/definition/group.ts";
import type { Store } from "../../store/store.ts";
import type { OfferedDefinition } from "./offered.ts";

/** What a policy needs of its server. */
export interface PolicyServer {
  readonly store: Store;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly observe: Observe;
  /** The address of the server without a slash at its end, for the pages on which users approve calls. */
  readonly place: string;
  /** Whether users can sign in here, to approve a call on a page. */
  readonly hasPages: boolean;
  /** The other scopes that a scope implies. */
  readonly implied: ReadonlyMap<string, ReadonlySet<string>>;
  /** How the decision point is reached. @default the global fetch */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

/** A policy that is checked and compiled. */
export interface Policy {
  /** Whether the caller sees it in lists. Rules with conditions on arguments hide nothing; nor do those that ask. */
  isVisible(definition: OfferedDefinition, caller: Principal | undefined): boolean;
  /** Decides each use, asks the user where a rule says so, counts limits, and records the event. */
  readonly middleware: Middleware;
  /** Pages that the server must serve beside its own. */
  readonly services: readonly Service[];
}
