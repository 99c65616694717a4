/**
 * Fields of the sign-in form beside user name and password, for embedders whose users need them: a tenant, a code of a
 * token, a branch.
 *
 * @module
 */
import { checkNames, type Names } from "../../options/option_check.ts";
import type { Language } from "../pages/languages.ts";

/** A field of the login form beside user name and password. */
export interface LoginField {
  /** The name in the form that `authenticateUser` gets: letters, digits, `_`, `.` and `-`. */
  readonly name: string;
  /** The label, in one language or by language; one that is missing is taken from another language. */
  readonly label: string | Readonly<Partial<Record<Language, string>>>;
  /** The `type` of the `input` element. A `password` is never shown again. @default "text" */
  readonly type?: "text" | "password" | "email" | "tel" | "url" | "number";
  /** A value of the HTML attribute, such as `one-time-code`. @default "off" */
  readonly autocomplete?: string;
  /** Whether a form without it is refused. @default false */
  readonly required?: boolean;
}

const NAMES: Names<LoginField> = {
  name: "string",
  label: "unknown",
  type: "unknown",
  autocomplete: "string",
  required: "boolean",
};
const TYPES = ["text", "password", "email", "tel", "url", "number"];
const RESERVED = ["username", "password", "redirect"];

/** The fields, checked. @throws {TypeError} naming the field and the rule */
export function checkLoginFields(
  { loginFields = [], authenticateUser }: {
    readonly loginFields?: readonly LoginField[] | undefined;
    readonly authenticateUser?: unknown;
  },
): readonly LoginField[] {
  if (loginFields.length > 0 && !authenticateUser) {
    throw new TypeError('Invalid options: "oauth.loginFields" needs "oauth.authenticateUser"');
  }
  const names = new Set<string>(RESERVED);
  for (const field of loginFields) {
    checkNames("oauth.loginFields", field, NAMES);
    const { name, label, type = "text", autocomplete = "off" } = field;
    const fail = (rule: string) => {
      throw new TypeError(`Invalid options: the field "${name}" in "oauth.loginFields" ${rule}`);
    };
    if (!/^[A-Za-z][\w.-]{0,63}$/.test(name)) fail("must have a name of letters, digits, _, . and -");
    if (names.has(name)) fail("has a name that is taken");
    if (labelOf(label, "en") === "") fail("must have a label");
    if (!TYPES.includes(type)) fail(`must have one of the types ${TYPES.join(", ")}`);
    if (!/^[a-z -]{1,64}$/.test(autocomplete)) fail("must have a valid autocomplete attribute");
    names.add(name);
  }
  return loginFields;
}

/** The label in a language. */
export function labelOf(label: LoginField["label"], language: Language): string {
  if (typeof label === "string") return label;
  return label[language] || Object.values(label).find((text) => text) || "";
}
