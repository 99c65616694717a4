/**
 * Answers to an authorization request: back to the client with a code or an error
 * (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2), always naming the issuer
 * (https://www.rfc-editor.org/rfc/rfc9207), or a page where no client can be trusted with it.
 *
 * @module
 */
import { html, respondPage } from "../../http/page.ts";
import { type Fields, respond } from "../../http/response.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { OAuthErrorCode } from "../error.ts";

type Answer = { readonly code: string } | {
  readonly error: OAuthErrorCode;
  readonly error_description: string;
};

/** 302 to a redirect URI that was checked, with `state` as it came. */
export function respondToClient(
  as: AuthorizationServer,
  { redirect_uri, state }: { redirect_uri: string; state: string | undefined },
  answer: Answer,
): Response {
  const parameters = { ...answer, ...(state !== undefined && { state }), iss: as.issuer };
  // Percent-encoded throughout: "+" for a blank is lost on clients that only undo percent signs.
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");
  // RFC 6749 §3.1.2: a query of the redirect URI is kept as it is.
  const separator = !redirect_uri.includes("?") ? "?" : /[?&]$/.test(redirect_uri) ? "" : "&";
  return respond(302, null, [
    ["location", redirect_uri + separator + query],
    ["cache-control", "no-store"],
    ["referrer-policy", "no-referrer"],
  ]);
}

/** 400 with a page: the request cannot be tied to a client, so it leads nowhere. */
export function refuseOnPage(reason: string, status = 400, fields: Fields = []): Response {
  return respondPage({
    title: "Request refused",
    status,
    fields,
    formAction: "'none'",
    body: html`
      <h1>This request cannot go on</h1>
      <p>The application that sent you here made a request that this server does not accept. ${reason}</p>
      <p class="soft">Go back to the application and start again. If it happens again, tell its developers.</p>
    `,
  });
}
