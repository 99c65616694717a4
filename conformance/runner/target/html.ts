/**
 * A template tag for HTML that escapes inserted text, unless it is markup.
 *
 * @module
 */

/** Text that is HTML. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Insert = Markup | string | number | false | undefined | readonly Insert[];

export function html(parts: TemplateStringsArray, ...inserts: readonly Insert[]): Markup {
  return new Markup(parts.reduce((text, part, at) => text + show(inserts[at - 1]) + part));
}

function show(insert: Insert): string {
  if (insert instanceof Markup) return insert.text;
  if (insert === false || insert === undefined) return "";
  if (typeof insert === "string" || typeof insert === "number") return escapeHtml(String(insert));
  return insert.map(show).join("");
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll(
    '"',
    "&quot;",
  )
    .replaceAll("'", "&#39;");
}
