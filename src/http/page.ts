/**
 * HTML as values: a template tag that escapes what is inserted.
 *
 * @module
 */

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
