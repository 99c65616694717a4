/**
 * Rules for passwords that people choose themselves (NIST SP 800-63B section 3.1.1.2): a minimum length, no known breached
 * password, not the own name. No rules about kinds of characters, and no regular change.
 *
 * @module
 */
import { checkNames, checkWhole, type Names } from "../../options/option_check.ts";
import { canonicalUsername } from "./username.ts";

/** Which passwords people can choose. */
export interface PasswordPolicy {
  /** In code points. @default 12 */
  readonly minLength: number;
  /** In UTF-16 code units: longer passwords are never hashed. @default 1024, which is the maximum */
  readonly maxLength: number;
  /** Whether the password is known from a breach, as `trivet serve --breached-passwords` finds out. @default none is */
  isBreached?(password: string): Promise<boolean> | boolean;
}

/** What is wrong with a new password. */
export type PasswordProblem = "too_short" | "too_long" | "breached" | "same_as_name";

/** Whose password it is to be; an empty text is compared with nothing. */
export interface PasswordOwner {
  readonly username: string;
  readonly email: string;
}

/** Longer passwords are refused at login without a hash. */
export const MAX_PASSWORD_CHARACTERS = 1024;

const NAMES: Names<PasswordPolicy> = { minLength: "number", maxLength: "number", isBreached: "function" };

/**
 * The policy with every default.
 * @param option the option that holds it
 * @throws {TypeError} for a member that does not exist @throws {RangeError} for an invalid length
 */
export function completePasswordPolicy(
  given: Partial<PasswordPolicy> = {},
  option: string = "oauth.passwordPolicy",
): PasswordPolicy {
  checkNames(option, given, NAMES);
  const { minLength = 12, maxLength = MAX_PASSWORD_CHARACTERS } = given;
  checkWhole(`${option}.minLength`, minLength, 1);
  checkWhole(`${option}.maxLength`, maxLength, minLength);
  if (maxLength > MAX_PASSWORD_CHARACTERS) {
    throw new RangeError(
      `Invalid options: "${option}.maxLength" must be at most ${MAX_PASSWORD_CHARACTERS}`,
    );
  }
  return { ...given, minLength, maxLength };
}

/** The first rule that a new password breaks; `undefined` when it breaks none. Rejects as `isBreached` does. */
export async function checkNewPassword(
  policy: PasswordPolicy,
  password: string,
  { username, email }: PasswordOwner,
): Promise<PasswordProblem | undefined> {
  // Long ones first: nothing is computed from them.
  if (password.length > policy.maxLength) return "too_long";
  if ([...password].length < policy.minLength) return "too_short";
  const own = [username, email, email.split("@", 1)[0]!].filter((each) => each !== "").map(canonicalUsername);
  if (own.includes(canonicalUsername(password))) return "same_as_name";
  return await policy.isBreached?.(password) ? "breached" : undefined;
}
