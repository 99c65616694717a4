/**
 * A call of a tool that waits for the approval of a user: the record that the gateway's policy writes, and that the page at
 * `/account/approvals/ID` answers.
 *
 * @module
 */
import type { Key, Put } from "../../store/store.ts";

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
  readonly memory?: {
    readonly digest: string;
    readonly seconds: number;
    /** Whether it is about these arguments, and not about the tool with any. */
    readonly hasArguments: boolean;
  };
  readonly status: "pending" | "approved" | "refused";
}

/** An argument as it is shown to the user. */
export interface ShownArgument {
  readonly name: string;
  readonly value: string;
}

/** A call that the user allowed for some time. */
export interface ApprovalMemory {
  readonly tool: string;
  readonly upstream?: string;
  readonly client?: string;
  /** As they were shown; absent for any arguments. */
  readonly arguments?: readonly ShownArgument[];
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** How long a call waits for the approval, and an approval for the call. */
export const APPROVAL_LIFETIME_MS: number = 10 * 60_000;

/** The path of the page below the address of the server. */
export const APPROVALS_PATH = "/account/approvals";

export const approvalKey = (digest: string): Key => ["approval", digest];
export const approvalMemoriesPrefix = (owner: string): Key => ["approval_memory", owner];
/** @param owner the id of the user of this server, or a digest of another caller */
export const approvalMemoryKey = (owner: string, digest: string): Key => [
  ...approvalMemoriesPrefix(owner),
  digest,
];

/** The write of what the user wants remembered. */
export function rememberApproval(
  owner: string,
  { tool, upstream, client, arguments: shown }: Omit<Approval, "memory" | "status" | "user">,
  { digest, seconds, hasArguments }: NonNullable<Approval["memory"]>,
  now: number,
): Put {
  const value: ApprovalMemory = {
    tool,
    ...(upstream !== undefined && { upstream }),
    ...(client !== undefined && { client }),
    ...(hasArguments && { arguments: shown }),
    since: now,
  };
  return { key: approvalMemoryKey(owner, digest), value, expires: now + seconds * 1000 };
}

/**
 * An answer of a form, or the state of an admitted call between two runs, that was used: `true`, or the digest of a task's
 * id.
 */
export const usedApprovalKey = (digest: string): Key => ["approval_used", digest];
