/**
 * One question to a user, whether a call may be made, and what its end may be.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import type { CallContext } from "../../mcp/context.ts";
import { principalKey } from "../../mcp/session/principal_key.ts";
import type { Approval } from "../../oauth/approvals/approval.ts";
import type { RecordedUse } from "./call_record.ts";
import { digestJson } from "./canonical_json.ts";
import type { PolicyServer } from "./policy_server.ts";
import type { Verdict } from "./rules.ts";
import type { ShownCall } from "./shown_call.ts";

export interface Question {
  readonly use: RecordedUse;
  readonly verdict: Verdict;
  readonly context: CallContext;
  readonly caller: Principal;
  /** Of caller, tool and arguments. */
  readonly digest: string;
  readonly memory: Approval["memory"];
  readonly shown: ShownCall;
}

/** The user did not approve the call, or cannot. */
export class NotApproved extends Error {
  override readonly name = "NotApproved";
  /** `asked`: the user has not answered yet. */
  readonly outcome: "denied" | "asked";
  /** A code for the audit trail. */
  readonly reason: string;

  constructor(outcome: "denied" | "asked", reason: string, message: string) {
    super(message);
    this.outcome = outcome;
    this.reason = reason;
  }
}

/** The user answered no. */
export function refused(): NotApproved {
  return new NotApproved("denied", "refused_by_user", "The user did not allow this call");
}

export type ApprovalEvent = "approval_requested" | "approval_given" | "approval_refused";

/** Reports what became of a question to the audit trail. */
export function reportApproval(
  { observe }: PolicyServer,
  { use: { definition, name }, caller, digest }: Question,
  type: ApprovalEvent,
  by: "form" | "page",
): void {
  observe({
    type,
    user: caller.subject,
    client: caller.client,
    tool: name,
    upstream: definition.upstream,
    by,
    arguments_digest: digest,
  });
}

/** A user of this server sees and takes back what is remembered for them; other callers have no page. */
export function ownerOf(caller: Principal): string {
  const { subject, issuer } = caller;
  return subject !== undefined && issuer === undefined
    ? subject
    : digestJson(["other", principalKey(caller)]);
}
