/**
 * The words of mails: plain text in the language of the page that caused it, with the operator's texts and product name.
 *
 * @module
 */
import type { AuthorizationServer } from "../authorization_server.ts";
import type { Language } from "../pages/languages.ts";
import { fillText } from "../pages/text.ts";
import type { Mail, MailKind } from "./mail.ts";
import type { MailTexts } from "./texts_en.ts";

/** The subject and the text of each kind. */
const KEYS = {
  password_reset: ["mailResetSubject", "mailResetText"],
  password_changed: ["mailChangedSubject", "mailChangedText"],
  email_verification: ["mailVerifySubject", "mailVerifyText"],
  email_changed: ["mailAddressSubject", "mailAddressText"],
  email_removed: ["mailRemovedSubject", "mailRemovedText"],
  sign_up: ["mailSignUpSubject", "mailSignUpText"],
  address_in_use: ["mailInUseSubject", "mailInUseText"],
} as const satisfies Readonly<Record<MailKind, readonly [keyof MailTexts, keyof MailTexts]>>;

/** What a text can name. */
export interface MailValues {
  /** The user name or the name of the user. */
  readonly user?: string;
  /** The one-time link. */
  readonly link?: string;
  readonly email?: string;
}

/** The mail of a kind. The text of users is one line each: nothing in it adds a header field or looks like the server's. */
export async function writeMail(
  { issuer, pages }: Pick<AuthorizationServer, "issuer" | "pages">,
  { kind, to, language }: { readonly kind: MailKind; readonly to: string; readonly language: Language },
  values: MailValues,
): Promise<Mail> {
  const { TEXTS } = language === "de" ? await import("./texts_de.ts") : await import("./texts_en.ts");
  const texts: MailTexts = { ...TEXTS, ...pages.texts?.[language] };
  const { host } = new URL(issuer);
  const all = { product: pages.name ?? host, host, issuer, ...values };
  const lines = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, toLine(value)]));
  const [subject, text] = KEYS[kind];
  return { to, subject: fillText(texts[subject], lines), text: fillText(texts[text], lines), kind, language };
}

function toLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, " ");
}
