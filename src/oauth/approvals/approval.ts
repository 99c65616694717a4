/**
 * A call of a tool that waits for the approval of a user: the record that the gateway's policy writes, and that the page at
 * `/account/approvals/ID` answers.
 *
 * @module
 */
import type { Key } from "../../store/store.ts";

/** A call that the user is asked about. Its key has the digest of caller, tool and arguments: it approves nothing else. */
export interface Approval {
  /** The user who must approve it. */
  readonly user: string;
  /** The id of the client that calls. */
  readonly client?: string;
  readonly tool: string;
  /** The MCP server that the tool comes from. */
  readonly upstream?: string;
  /** The arguments, on one line each, without special characters. */
  readonly arguments: readonly ShownArgument[];
  /** How many more arguments there are. */
  readonly more: number;
  /** Why the operator wants it approved. */
  readonly reason?: string;
  /** What the user can have remembered. */
  readonly memory?: { readonly digest: string; readonly seconds: number };
  readonly status: "pending" | "approved" | "refused";
}

/** An argument as it is shown to the user. */
export interface ShownArgument {
  readonly name: string;
  readonly value: string;
}

/** How long a call waits for the approval, and an approval for the call. */
export const APPROVAL_LIFETIME_MS: number = 10 * 60_000;

/** The path of the page below the address of the server. */
export const APPROVALS_PATH = "/account/approvals";

export const approvalKey = (digest: string): Key => ["approval", digest];
/** Calls that the user allowed for some time. The value is the id of the user. */
export const approvalMemoryKey = (digest: string): Key => ["approval_memory", digest];
/** A form that was answered. */
export const usedApprovalKey = (digest: string): Key => ["approval_used", digest];
