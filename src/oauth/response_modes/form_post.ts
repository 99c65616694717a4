/**
 * The authorization response as a form that the browser posts to the client
 * (https://openid.net/specs/oauth-v2-form-post-response-mode-1_0.html). The script that posts it is a file of this server,
 * so that the Content-Security-Policy allows no inline script; without scripts the user presses the button.
 *
 * @module
 */
import { html, respondPage } from "../../http/page.ts";
import { respond } from "../../http/response.ts";
import type { AuthorizationServer } from "../authorization_server.ts";

/** The path of the script, after the path of the issuer. */
export const FORM_POST_SCRIPT = "/oauth/form_post.js";

const SCRIPT = "document.forms[0].submit();\n";

/** 200 with the page whose form has these parameters and posts itself to the redirect URI. */
export function respondByForm(
  as: AuthorizationServer,
  redirect_uri: string,
  parameters: Readonly<Record<string, string>>,
): Response {
  const fields = Object.entries(parameters).map(([name, value]) =>
    html`
      <input type="hidden" name="${name}" value="${value}">
    `
  );
  return respondPage({
    title: "Back to the application",
    script: as.origin + as.base + FORM_POST_SCRIPT,
    body: html`
      <h1>Back to the application</h1>
      <p>You return to <strong>${new URL(redirect_uri).host}</strong>.</p>
      <form method="post" action="${redirect_uri}">
        ${fields}
        <button>Continue</button>
      </form>
    `,
  });
}

/** Serves the script. */
export function serveFormPostScript(): Response {
  return respond(200, SCRIPT, [
    ["content-type", "text/javascript; charset=utf-8"],
    ["cache-control", "public, max-age=86400"],
    ["x-content-type-options", "nosniff"],
  ]);
}
