/**
 * The page for an error that must not be sent to a redirect URI
 * (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1).
 *
 * @module
 */
import { html, respondPage } from "../../http/page.ts";
import type { OAuthError } from "../error.ts";

/** The page that shows the error to the user. It links and redirects nowhere. */
export function toErrorPage({ code, message, status, fields }: OAuthError): Response {
  const [title, advice] = code === "temporarily_unavailable"
    ? ["Temporarily unavailable", "Try again later."]
    : [
      "Invalid authorization request",
      "Return to the application and start again. If the error continues, contact the developer of the application.",
    ];
  return respondPage({
    title,
    // 401 asks a program for credentials in a header field (RFC 9110 §15.5.2), which a page cannot send.
    status: code === "invalid_client" && status === 401 ? 400 : status,
    fields,
    formAction: "'none'",
    body: html`
      <h1>${title}</h1>
      <p>${message}.</p>
      <p class="soft">${advice}</p>
    `,
  });
}
