/**
 * The authorization response as a form that the browser posts to the client
 * (https://openid.net/specs/oauth-v2-form-post-response-mode-1_0.html). The script that posts it is a file of this server,
 * so that the Content-Security-Policy allows no inline script; without scripts the user presses the button.
 *
 * @module
 */
import { respond } from "../../http/response.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { showPage } from "../pages/page.ts";

/** The path of the script, after the path of the issuer. */
const FORM_POST_SCRIPT = "/oauth/form_post.js";

const SCRIPT = "document.forms[0].submit();\n";

/** 200 with the page whose form has these parameters and posts itself to the redirect URI. */
export async function respondByForm(
  as: AuthorizationServer,
  browser: Request,
  redirect_uri: string,
  parameters: Readonly<Record<string, string>>,
): Promise<Response> {
  return await showPage(as, browser, {
    name: "form_post",
    action: redirect_uri,
    hidden: parameters,
    host: new URL(redirect_uri).host,
  }, { script: as.origin + as.base + FORM_POST_SCRIPT });
}

/** Serves the script. */
export function serveFormPostScript(): Response {
  return respond(200, SCRIPT, [
    ["content-type", "text/javascript; charset=utf-8"],
    ["cache-control", "public, max-age=86400"],
    ["x-content-type-options", "nosniff"],
  ]);
}
