/**
 * Tools of MCP servers are offered with the description that was approved: one that is new or changed is held until an
 * administrator approves it.
 *
 * @module
 */
import type { Observe } from "../../../events.ts";
import type { Definition } from "../../../mcp/definition/definition.ts";
import type { Store } from "../../../store/store.ts";
import type { OfferedDefinition } from "../offered.ts";

export interface HoldingOptions {
  /** Approves the first list of each MCP server. @default true */
  readonly approveFirst?: boolean;
  /** What happens with a tool that was not in the first list. @default "hold" */
  readonly newTools?: "hold" | "approve";
  /** Whether a changed tool is still offered, with the description that was approved. @default "hide" */
  readonly whileHeld?: "hide" | "approved";
  /**
   * `each`: descriptions differ between users, and are approved for each; otherwise a description that one user gets and
   * that is not approved is held for this user. @default "all"
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

/** What a list of an MCP server is filtered to. */
export interface FilteredList<Each extends Definition> {
  readonly offered: readonly Each[];
  /** Names of tools that are held. */
  readonly held: readonly string[];
}

export interface Holding {
  /**
   * What of a list is offered. Call it with each new list of an upstream, and again when {@linkcode watch} says so.
   * @param partition as `UpstreamAccess.partition` of the caller: "" for the list of all
   * @throws {StoreUnavailableError} then offer nothing new
   */
  filter<Each extends OfferedDefinition>(
    upstream: string,
    partition: string,
    definitions: readonly Each[],
  ): Promise<FilteredList<Each>>;
  /** Calls `onChange` with the name of an upstream when an administrator, at any instance, approved or rejected a tool. */
  watch(onChange: (upstream: string) => void): () => void;
}
