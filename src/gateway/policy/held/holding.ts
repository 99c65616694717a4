/**
 * Tools of MCP servers are offered with the description that was approved: the options, and what the gateway uses.
 *
 * @module
 */
import type { Observe } from "../../../events.ts";
import type { Store } from "../../../store/store.ts";
import type { OfferedDefinition } from "../offered.ts";

/** Options of the gateway for tools whose description changes. */
export interface HoldingOptions {
  /** Approves the first list of each MCP server. @default true */
  readonly approveFirst?: boolean;
  /** What happens with a tool that was not in the first list. `approve` needs `approveFirst`. @default "hold" */
  readonly newTools?: "hold" | "approve";
  /** Whether a changed tool is still offered, with the description that was approved; a skill never is. @default "hide" */
  readonly whileHeld?: "hide" | "approved";
  /**
   * `each`: descriptions differ between users, and the first list of each user is approved. Otherwise a description that
   * one user gets is compared with those that were approved for all.
   * @default "all"
   */
  readonly users?: "all" | "each";
}

/** What holding needs of its server. */
export interface HoldingServer {
  readonly store: Store;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly observe: Observe;
}

/** What is offered of a list. */
export interface FilteredList<Each extends OfferedDefinition> {
  readonly offered: readonly Each[];
  /** Tools that are held: not offered, or offered by another object that has the approved description. */
  readonly held: readonly Each[];
}

/** Decides which tools of MCP servers are offered. */
export interface Holding {
  /** Whether users have approvals of their own: then the same list is filtered differently for each. */
  readonly isPerUser: boolean;
  /**
   * What of a list of one MCP server is offered, in its order; resources that are no skills, and prompts, always are. Call it with each new list,
   * and again when {@linkcode watch} says so.
   * @param partition as `UpstreamAccess.partition` of the caller: "" for the list of all
   * @throws {StoreUnavailableError} offer nothing new then
   */
  filter<Each extends OfferedDefinition>(
    upstream: string,
    partition: string,
    definitions: readonly Each[],
  ): Promise<FilteredList<Each>>;
  /**
   * Calls `onChange` with the name of an MCP server when approvals of its tools may have changed, at any instance;
   * `undefined` for all of them. Returns the function that ends it.
   */
  watch(onChange: (upstream: string | undefined) => void): () => void;
}
