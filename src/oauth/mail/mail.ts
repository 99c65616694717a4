/**
 * Mail to users: what `sendMail` gets, and how it is called. The visitor never waits for it and never sees its outcome.
 *
 * @module
 */
import type { Observe } from "../../events.ts";
import type { RequestContext } from "../../http/service.ts";
import type { Language } from "../pages/languages.ts";

/**
 * Why a mail is sent.
 * - `password_reset`: a link to choose a new password.
 * - `password_changed`: a notice.
 * - `email_verification`: a link that proves that the user reads mail at the address.
 * - `email_changed`: a notice to the earlier address.
 * - `email_removed`: a notice to the address that the account had until now.
 * - `sign_up`: a link that completes a sign-up.
 * - `address_in_use`: a notice that a visitor tried to sign up with the address of an account.
 */
export type MailKind =
  | "password_reset"
  | "password_changed"
  | "email_verification"
  | "email_changed"
  | "email_removed"
  | "sign_up"
  | "address_in_use";

/** A mail to one recipient. */
export interface Mail {
  /** One e-mail address. */
  readonly to: string;
  /** One line. */
  readonly subject: string;
  /** Plain text in lines of any length. A link stands on a line of its own. */
  readonly text: string;
  /** The same as HTML; the server itself writes plain text only. */
  readonly html?: string;
  readonly kind: MailKind;
  readonly language: Language;
}

/** Sends a mail, or rejects. Called after the response, once: it retries itself where that is needed. */
export type SendMail = (mail: Mail) => Promise<void>;

/** Characters of a reason in an event. */
const MAX_REASON_CHARACTERS = 200;

/**
 * Sends a mail after the response: neither a failure nor the time that it takes reaches the visitor. `write` is also called
 * later; `undefined` sends nothing, and takes as long for the visitor. A failure is the event `mail_failed`.
 */
export function sendLater(
  { sendMail, observe }: { readonly sendMail: SendMail | undefined; readonly observe: Observe },
  context: RequestContext,
  write: (() => Promise<Mail>) | undefined,
): void {
  const sending = new Promise((resolve) => setTimeout(resolve, 0)).then(async () => {
    const mail = await write?.();
    if (!mail || !sendMail) return;
    try {
      await sendMail(mail);
    } catch (error) {
      observe({ type: "mail_failed", kind: mail.kind, reason: toReason(mail, error) });
    }
  }).catch((error) => observe({ type: "fault", where: "oauth", error }));
  context.waitUntil?.(sending);
}

/** The message of the error without the address, and without the words of the mail that hold a link. */
function toReason({ to, text }: Mail, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const secrets = text.split(/\s+/).filter((word) => word.includes("token="));
  const tokens = secrets.map((link) => link.slice(link.indexOf("token=") + "token=".length));
  return [to, ...secrets, ...tokens].reduce((line, secret) => line.replaceAll(secret, "…"), message)
    .slice(0, MAX_REASON_CHARACTERS);
}
