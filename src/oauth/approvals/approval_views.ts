/**
 * The data of the pages on which a user approves a call of a tool.
 *
 * @module
 */
import type { AccountView, ApplicationView, HiddenFields } from "../pages/basic_views.ts";
import type { ShownArgument } from "./approval.ts";

/** `/account/approvals/ID` */
export interface ApprovalView {
  readonly name: "approval";
  /** POST with `decision`: `approve` or `deny`, and `remember`: `on` when the user wants it. */
  readonly action: string;
  readonly hidden: HiddenFields;
  /** The application that calls. */
  readonly application: ApplicationView;
  readonly account: AccountView;
  readonly tool: string;
  /** The MCP server that the tool comes from. */
  readonly upstream?: string;
  readonly arguments: readonly ShownArgument[];
  /** Arguments that are not shown. */
  readonly more: number;
  /** Why the operator wants it approved. */
  readonly reason?: string;
  /** Seconds for which the user can have the approval remembered. */
  readonly remember?: number;
}

/** The outcome. */
export interface ApprovalDoneView {
  readonly name: "approval_given" | "approval_refused";
}

export type ApprovalRoomView = ApprovalView | ApprovalDoneView;
