/**
 * What a person enters to sign up, and its checks. None of them says anything about accounts that exist.
 *
 * @module
 */
import { isEmailAddress } from "../users/email_address.ts";
import { checkNewPassword, type PasswordPolicy, type PasswordProblem } from "../users/password_policy.ts";
import { checkUsername, type UsernameProblem } from "../users/username.ts";

/** The fields, trimmed. The password is as entered. */
export interface SignUpForm {
  readonly username: string;
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

/** What is wrong with a field. */
export type SignUpFormProblem =
  | `username_${UsernameProblem}`
  | "username_email"
  | "invalid_email"
  | PasswordProblem;

const MAX_NAME_CHARACTERS = 128;

/**
 * Reads the form. Without a name it is the user name.
 * @param email the address of the invitation, which takes the place of the field
 */
export function readSignUpForm(values: ReadonlyMap<string, string>, email: string | undefined): SignUpForm {
  const read = (name: string) => (values.get(name) ?? "").trim();
  const username = read("username");
  // Strict JSON parsers refuse half of a surrogate pair.
  const name = read("name").replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, " ")
    .slice(0, MAX_NAME_CHARACTERS).toWellFormed();
  return {
    username,
    name: name === "" ? username : name,
    email: email ?? read("email"),
    password: values.get("password") ?? "",
  };
}

/**
 * The first problem of the form; `undefined` when there is none.
 * @param requiresEmail whether the address may be empty
 */
export async function checkSignUpForm(
  { passwordPolicy }: { readonly passwordPolicy: PasswordPolicy },
  { username, email, password }: SignUpForm,
  requiresEmail: boolean,
): Promise<SignUpFormProblem | undefined> {
  const problem = checkUsername(username);
  if (problem !== undefined) return `username_${problem}`;
  // Else a name could look like the address of another person.
  if (/[@＠﹫]/.test(username)) return "username_email";
  if ((requiresEmail || email !== "") && !isEmailAddress(email)) return "invalid_email";
  return await checkNewPassword(passwordPolicy, password, { username, email });
}
