/**
 * The layout of all pages: the HTML document around a page, and its Content-Security-Policy.
 *
 * @module
 */
import { html, Markup } from "../../../http/page.ts";
import { sha256 } from "../../../crypto/sha256.ts";
import type { Language } from "../languages.ts";
import { drawMark, toIcon } from "./mark.ts";
import type { ShowOptions } from "../page_server.ts";
import type { PageContent } from "../page_module.ts";
import type { PageSettings } from "../settings.ts";
import { writeStyle } from "./style.ts";

export interface DocumentParts {
  readonly pages: PageSettings;
  readonly content: PageContent;
  readonly language: Language;
  readonly product: string;
  readonly host: string;
  readonly script: string | undefined;
}

/** The style sheet of a server and its hash, by which the policy allows it. */
interface StyleSheet {
  readonly text: string;
  readonly source: string;
}

const styles = new WeakMap<PageSettings, StyleSheet>();

function styleOf(pages: PageSettings): StyleSheet {
  let style = styles.get(pages);
  if (!style) {
    const text = writeStyle(pages);
    style = { text, source: `'sha256-${btoa(String.fromCharCode(...sha256(text)))}'` };
    styles.set(pages, style);
  }
  return style;
}

/** The whole document. */
export function writeDocument({ pages, content, language, product, host, script }: DocumentParts): string {
  const { title, body, isWide = false } = content;
  const document = html`
    <!doctype html>
    <html lang="${language}">
      <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="theme-color" media="(prefers-color-scheme: light)" content="${pages.light.background}">
    <meta name="theme-color" media="(prefers-color-scheme: dark)" content="${pages.dark.background}">
    <title>${title} · ${product}</title>
    <link rel="icon" href="${toIcon(pages, product)}">
    <style>${new Markup(styleOf(pages).text)}</style>
    ${script !== undefined && html`<script src="${script}" defer></script>`}
      </head>
      <body>
    <div class="card${isWide && " wide"}">
    <header>${pages.logo === undefined
      ? drawMark(pages.name)
      : html`<img src="${pages.logo}" alt="" height="40" referrerpolicy="no-referrer">`}<span>${product}</span></header>
    <main>${body}</main>
    </div>
    ${product !== host && html`<footer>${host}</footer>`}
      </body>
    </html>
  `;
  return document.text.trim();
}

/**
 * The policy of a page: no scripts but the one named, no external resources but the logo, no framing.
 * @param isOwn whether the operator's hook wrote the page: `pages.sources` applies
 */
export function contentSecurityPolicy(
  pages: PageSettings,
  { formAction, script }: ShowOptions,
  isOwn: boolean,
): string {
  const { style = [], image = [], font = [] } = isOwn ? pages.sources ?? {} : {};
  const logo = pages.logo?.startsWith("https:") ? [toSource(pages.logo)] : [];
  return [
    "default-src 'none'",
    `style-src ${isOwn ? ["data:", ...style].join(" ") : styleOf(pages).source}`,
    `img-src ${["data:", ...logo, ...image].join(" ")}`,
    ...(font.length > 0 ? [`font-src ${font.join(" ")}`] : []),
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ...(formAction === undefined ? [] : [`form-action ${formAction}`]),
    ...(script === undefined ? [] : [`script-src ${script}`]),
  ].join("; ");
}

/** A URL as a source expression: without its query, and with the characters encoded that end one (CSP section 2.3.1). */
function toSource(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replaceAll(";", "%3B").replaceAll(",", "%2C");
}
