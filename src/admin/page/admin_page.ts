/**
 * The page of administration: `GET /admin` for a browser. It is a client of its own server: it signs the administrator in
 * with a code and PKCE, keeps the token in memory only, and calls the administration API, whose OpenAPI description says
 * which lists, forms and buttons there are.
 *
 * @module
 */
import { html } from "../../http/page.ts";
import { type Fields, NO_STORE, respond } from "../../http/response.ts";
import { drawMark, toIcon } from "../../oauth/pages/layout/mark.ts";
import { writeStyle } from "../../oauth/pages/layout/style.ts";
import type { PageSettings } from "../../oauth/pages/settings.ts";
import { ADMIN_CLIENT_ID } from "../client.ts";
import { DESCRIPTION_SCRIPT } from "./description_script.ts";
import { SESSION_SCRIPT } from "./session_script.ts";
import { STYLE } from "./style.ts";
import { FORM_SCRIPT } from "./form_script.ts";
import { VIEW_SCRIPT } from "./view_script.ts";

/** The paths that the page has, below that of the issuer. */
export const PAGE_PATHS = ["/admin", "/admin/page.js", "/admin/page.css"] as const;

/** What the page needs of its server. */
export interface AdminPageOptions {
  readonly issuer: string;
  /** Scheme, host and port, and the path of the address without a slash at its end. */
  readonly origin: string;
  readonly base: string;
  readonly pages: PageSettings;
}

const CACHED: Fields = [["cache-control", "no-cache"], ["x-content-type-options", "nosniff"]];

/** Answers the paths of the page. */
export function createAdminPage(
  { issuer, origin, base, pages }: AdminPageOptions,
): (path: typeof PAGE_PATHS[number]) => Response {
  const place = origin + base;
  const product = pages.name ?? new URL(issuer).host;
  const policy = [
    "default-src 'none'",
    `script-src ${place}/admin/page.js`,
    `style-src ${place}/admin/page.css`,
    `connect-src ${place}/admin/ ${place}/oauth/token`,
    `img-src data:${pages.logo?.startsWith("https:") ? ` ${new URL(pages.logo).origin}` : ""}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");
  const settings = JSON.stringify({ issuer, place, client: ADMIN_CLIENT_ID, resource: `${place}/admin` });
  const document = html`
    <!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Administration · ${product}</title>
        <link rel="icon" href="${toIcon(pages, product)}">
        <link rel="stylesheet" href="${place}/admin/page.css">
        <script src="${place}/admin/page.js" defer></script>
      </head>
      <body data-settings="${settings}">
        <div class="side">
          <header>${pages.logo === undefined
            ? drawMark(pages.name)
            : html`<img src="${pages.logo}" alt="" height="40" referrerpolicy="no-referrer">`}<span>${product}</span></header>
          <nav aria-label="Administration"></nav>
          <footer></footer>
        </div>
        <main
          tabindex="-1"><noscript><h1>Administration</h1><p>This page needs JavaScript. Everything on it is also
          in the command line: <code>trivet --help</code>.</p></noscript></main>
      </body>
    </html>
  `.text.trim();
  const style = writeStyle(pages) + STYLE;
  const script =
    `"use strict";\n(() => {\n${SESSION_SCRIPT}${FORM_SCRIPT}${DESCRIPTION_SCRIPT}${VIEW_SCRIPT}})();\n`;

  const answers: Readonly<Record<typeof PAGE_PATHS[number], () => Response>> = {
    "/admin": () =>
      respond(200, document, [
        ["content-type", "text/html; charset=utf-8"],
        ["content-security-policy", policy],
        ["cross-origin-opener-policy", "same-origin"],
        ["x-frame-options", "DENY"],
        ["x-content-type-options", "nosniff"],
        ["referrer-policy", "no-referrer"],
        NO_STORE,
      ]),
    "/admin/page.js": () =>
      respond(200, script, [["content-type", "text/javascript; charset=utf-8"], ...CACHED]),
    "/admin/page.css": () => respond(200, style, [["content-type", "text/css; charset=utf-8"], ...CACHED]),
  };
  return (path) => answers[path]();
}
