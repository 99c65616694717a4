/**
 * HTML pages without inline scripts: a template tag that escapes, the style sheet, and the security header fields.
 *
 * @module
 */
import { type Fields, NO_STORE, respond } from "./response.ts";

/** Markup that is inserted without escaping. Only {@linkcode html} creates it. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Insertion = Markup | string | number | undefined | false | readonly Markup[];

/** A template tag: insertions are escaped unless they are {@linkcode Markup}. */
export function html(strings: TemplateStringsArray, ...insertions: readonly Insertion[]): Markup {
  let text = strings[0]!;
  insertions.forEach((insertion, i) => text += toMarkup(insertion) + strings[i + 1]!);
  return new Markup(text);
}

function toMarkup(insertion: Insertion): string {
  if (insertion === undefined || insertion === false) return "";
  if (insertion instanceof Markup) return insertion.text;
  if (Array.isArray(insertion)) return insertion.map((markup: Markup) => markup.text).join("");
  return escape(String(insertion));
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

export interface PageOptions {
  readonly title: string;
  readonly body: Markup;
  /** @default 200 */
  readonly status?: number;
  /**
   * The CSP `form-action` sources of the page. Without it, the targets of forms are not restricted: Chromium applies the
   * restriction to redirects too, and would block the redirect to a client.
   */
  readonly formAction?: string;
  /** The URL of a script of this server, the only one that the page runs. */
  readonly script?: string;
  readonly fields?: Fields;
}

/** A complete page: no scripts but the one named, no external resources, no framing, no caching, no Referer. */
export function respondPage(
  { title, body, status = 200, formAction, script, fields = [] }: PageOptions,
): Response {
  const page = html`
    <!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>${title}</title>
        <link rel="stylesheet" href="data:text/css,${STYLE}">
        ${script !== undefined && html`<script src="${script}" defer></script>`}
      </head>
      <body>
        <main>${body}</main>
      </body>
    </html>
  `;
  return respond(status, page.text.trim(), [
    ["content-type", "text/html; charset=utf-8"],
    [
      "content-security-policy",
      POLICY + (formAction === undefined ? "" : `; form-action ${formAction}`) +
      (script === undefined ? "" : `; script-src ${script}`),
    ],
    ["x-frame-options", "DENY"],
    ["x-content-type-options", "nosniff"],
    ["referrer-policy", "no-referrer"],
    NO_STORE,
    ...fields,
  ]);
}

const POLICY = "default-src 'none'; style-src data:; base-uri 'none'; frame-ancestors 'none'";

const STYLE = encodeURIComponent(`
:root { color-scheme: light dark; --ink: #1d2327; --soft: #5a646c; --paper: #fff; --back: #f3f4f2; --line: #c9cfd3; --act: #0b5d4e; --on-act: #fff; --bad: #a3231a }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebec; --soft: #a9b3b9; --paper: #1b2023; --back: #121517; --line: #454e54; --act: #63cdb3; --on-act: #0b1f1a; --bad: #ff9d92 } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; background: var(--back); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif }
main { width: 100%; max-width: 27rem; padding: 2rem; background: var(--paper); border: 1px solid var(--line); border-radius: .75rem }
main:has(.wide) { max-width: 44rem }
h1 { margin: 0 0 .75rem; font-size: 1.4rem; line-height: 1.25; overflow-wrap: anywhere }
h2 { margin: 1.5rem 0 .25rem; font-size: 1.05rem }
p, ul, dl { margin: 0 0 1rem }
ul { padding-left: 1.25rem }
strong, code, dd, li { overflow-wrap: anywhere }
code, pre { font: .875rem/1.5 ui-monospace, monospace }
pre { margin: 0 0 1rem; padding: .75rem; overflow-x: auto; background: var(--back); border: 1px solid var(--line); border-radius: .5rem }
dt { font-weight: 600 } dd { margin: 0 0 .5rem; color: var(--soft) }
label { display: block; margin: 0 0 .25rem; font-weight: 600 }
input { width: 100%; margin: 0 0 1rem; padding: .6rem .7rem; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--soft); border-radius: .5rem }
button { padding: .6rem 1.2rem; font: inherit; font-weight: 600; color: var(--on-act); background: var(--act); border: 1px solid var(--act); border-radius: .5rem; cursor: pointer }
a.button { display: block; padding: .6rem 1.2rem; text-align: center; font-weight: 600; text-decoration: none; border: 1px solid var(--act); border-radius: .5rem }
button.plain { color: var(--ink); background: none; border-color: var(--soft) }
:focus-visible { outline: 3px solid var(--act); outline-offset: 2px }
a { color: var(--act) }
.row { display: flex; flex-wrap: wrap; gap: .75rem }
.note { padding: .6rem .8rem; border: 1px solid var(--line); border-left: .25rem solid var(--soft); border-radius: .5rem }
.soft { color: var(--soft) } .bad { color: var(--bad); font-weight: 600 }
`.replace(/\s+/g, " "));
