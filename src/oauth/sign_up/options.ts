/**
 * The option `signUp`: who may create an account.
 *
 * @module
 */

import { checkNames, checkOneOf, type Names } from "../../options/option_check.ts";

/** `open`: everyone. `invitation`: with a one-time link of the operator. `closed`: no one. */
export type SignUpMode = "open" | "invitation" | "closed";

/** Who can create an account, by way of sign-in. */
export interface SignUpSettings {
  /** Accounts with a password of this server. */
  readonly passwords: SignUpMode;
  /** Identities of providers that are admitted there (`Admission`) and have no account here yet. */
  readonly providers: SignUpMode;
}

/** Who can create an account: one mode for all, or one for each way of sign-in. */
export type SignUpOption = SignUpMode | Partial<SignUpSettings>;

const NAMES: Names<SignUpSettings> = { passwords: "unknown", providers: "unknown" };

/** The settings. @throws {TypeError} naming the option and the rule */
export function completeSignUp(
  { signUp = {}, sendMail, authenticateUser, passwordLogin = true }: {
    readonly signUp?: SignUpOption | undefined;
    readonly sendMail?: unknown;
    readonly authenticateUser?: unknown;
    readonly passwordLogin?: boolean | undefined;
  },
): SignUpSettings {
  const both = typeof signUp === "string";
  if (!both) checkNames("oauth.signUp", signUp, NAMES);
  const { passwords = "closed", providers = "open" } = both
    ? { passwords: signUp, providers: signUp }
    : signUp;
  for (const mode of [passwords, providers]) checkOneOf("oauth.signUp", mode, "open", "invitation", "closed");
  // Users of `authenticateUser` are stored elsewhere, and where no one has a password no one gets one.
  const hasPasswords = passwordLogin && !authenticateUser;
  if (!hasPasswords) return { passwords: "closed", providers };
  if (passwords === "open" && !sendMail) {
    throw new TypeError(
      'Invalid options: "oauth.signUp" with "open" passwords needs "oauth.sendMail" to verify addresses',
    );
  }
  return { passwords, providers };
}
