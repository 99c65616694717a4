/**
 * Notices to the owner of an account: who changed it may be someone else.
 *
 * @module
 */
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { chooseLanguage } from "../pages/language.ts";
import { sendLater } from "./mail.ts";
import { writeMail } from "./message.ts";

/** Sends a notice after the response, in the language of the page. */
export function sendNotice(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  kind: "password_changed" | "email_removed",
  { username, email: to }: { readonly username: string; readonly email: string },
): void {
  const language = chooseLanguage(request, undefined, as.pages.defaultLanguage);
  sendLater(as, context, () => writeMail(as, { kind, to, language }, { user: username }));
}
