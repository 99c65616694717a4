/**
 * The data of the pages for signing up.
 *
 * @module
 */
import type { ProblemView } from "../pages/basic_views.ts";
import type { SignUpFormProblem } from "./form.ts";

/** `/login/sign-up` */
export interface SignUpView {
  readonly name: "sign_up";
  /** POST with `username`, `name`, `email` (unless it is fixed) and `password`. */
  readonly action: string;
  /** Whether an account with a password can be created. */
  readonly hasPassword: boolean;
  /** Whether the address may be left out. */
  readonly requiresEmail: boolean;
  /** The address of the invitation, which cannot be changed. */
  readonly fixedEmail?: string;
  /** What was entered before, never the password. */
  readonly entered: { readonly username: string; readonly name: string; readonly email: string };
  /** The least number of characters of a password. */
  readonly minPasswordLength: number;
  /** Identity providers: links that begin a sign-up there. */
  readonly providers: readonly { readonly id: string; readonly name: string; readonly url: string }[];
  /** The sign-in page. */
  readonly signIn: string;
  readonly problem?: ProblemView<
    SignUpFormProblem | "username_taken" | "too_many_attempts" | "busy" | "other_link"
  >;
}

/** A link was sent, or a notice, which the page does not say. */
export interface SignUpSentView {
  readonly name: "sign_up_sent";
  readonly email: string;
}

/** `/login/sign-up/confirm`: the question. */
export interface SignUpConfirmView {
  readonly name: "sign_up_confirm";
  /** POST with `password`, if it is needed. */
  readonly action: string;
  readonly username: string;
  readonly email: string;
  /** The browser is not the one that signed up. */
  readonly needsPassword: boolean;
  readonly problem?: ProblemView<"wrong_password" | "too_many_attempts">;
}

/** Why no account is created. `ended`: the link or invitation was used, has expired or was revoked. */
export interface SignUpRefusedView {
  readonly name: "sign_up_refused";
  readonly reason: "ended" | "not_invited" | "username_taken" | "email_taken";
  readonly signIn: string;
  /** Where to begin again, when that is possible. */
  readonly signUp?: string;
}

export type SignUpPageView =
  | SignUpView
  | SignUpSentView
  | SignUpConfirmView
  | SignUpRefusedView;
