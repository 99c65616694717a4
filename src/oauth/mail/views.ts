/**
 * The data of the pages for forgotten passwords and for e-mail addresses.
 *
 * @module
 */
import type { ProblemView } from "../pages/basic_views.ts";
import type { PasswordProblem } from "../users/password_policy.ts";

/** `/login/forgot` */
export interface ForgotPasswordView {
  readonly name: "forgot_password";
  /** POST with `identifier`: a user name or an e-mail address. */
  readonly action: string;
  readonly identifier: string;
  /** The sign-in page. */
  readonly signIn: string;
  readonly problem?: ProblemView<"missing" | "too_many_attempts">;
}

/** A link was sent, if there is such an account, which the page does not say. */
export interface ResetSentView {
  readonly name: "reset_sent";
  readonly signIn: string;
}

/** `/login/reset` */
export interface ResetPasswordView {
  readonly name: "reset_password";
  /** POST with `password`, and `end_grants=yes` to end what the user allowed applications. */
  readonly action: string;
  /** Whose password it is. */
  readonly username: string;
  readonly minPasswordLength: number;
  readonly problem?: ProblemView<PasswordProblem | "busy" | "other_link">;
}

/** The password was changed: the user signs in with it. */
export interface ResetDoneView {
  readonly name: "reset_done";
  readonly signIn: string;
}

/** `/login/verify-email`: the question. */
export interface VerifyEmailView {
  readonly name: "verify_email";
  /** POST without fields. */
  readonly action: string;
  readonly username: string;
  readonly email: string;
}

export interface EmailVerifiedView {
  readonly name: "email_verified";
  readonly email: string;
  readonly signIn: string;
}

/** A link that does nothing. `ended`: it was used, has expired, or was replaced. `in_use`: another account has the address. */
export interface LinkRefusedView {
  readonly name: "link_refused";
  readonly reason: "ended" | "in_use";
  /** Where to get a new one: the page for forgotten passwords, or the sign-in page. */
  readonly next: string;
  readonly isPasswordReset: boolean;
}

export type MailPageView =
  | ForgotPasswordView
  | ResetSentView
  | ResetPasswordView
  | ResetDoneView
  | VerifyEmailView
  | EmailVerifiedView
  | LinkRefusedView;
