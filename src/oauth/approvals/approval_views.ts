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
  /** The page with the calls that the user need not approve again. */
  readonly allowedCalls: string;
}

/** `/account/approvals` */
export interface AllowedCallsView {
  readonly name: "allowed_calls";
  readonly calls: readonly AllowedCallView[];
  /** Whether one was just taken back. */
  readonly isDone: boolean;
}

/** A call that the user need not approve again. */
export interface AllowedCallView {
  readonly tool: string;
  readonly upstream?: string;
  readonly application: ApplicationView;
  /** Absent for any arguments. */
  readonly arguments?: readonly ShownArgument[];
  /** Milliseconds since the epoch. */
  readonly until: number;
  /** POST: takes it back. */
  readonly end: { readonly action: string; readonly hidden: HiddenFields };
}

export type ApprovalPageView = ApprovalView | ApprovalDoneView | AllowedCallsView;
