/**
 * A page module: the pages of one feature, with the type of their data, their texts in each language, and the functions that write
 * them. All is loaded with the first page.
 *
 * @module
 */
import type { Markup } from "../../http/page.ts";
import type { Language } from "./languages.ts";

/** What a page consists of, inside the layout of all pages. */
export interface PageContent {
  /** The title of the document. */
  readonly title: string;
  /** The content of `main`, with one `h1`. */
  readonly body: Markup;
  /** A wider card, for lists and tables. */
  readonly isWide?: boolean;
}

/** What a page is written with, beside its data. */
export interface Writing<Texts> {
  /** The texts in the language of the page, those of the operator included. */
  readonly texts: Texts;
  readonly language: Language;
  /** The name of the product. */
  readonly product: string;
  /** The host of this server, port included. */
  readonly host: string;
}

interface Named {
  readonly name: string;
}

/** For each view of a page module the function that writes its page. */
export type Writers<View extends Named, Texts> = {
  readonly [Name in View["name"]]: (
    view: Extract<View, { readonly name: Name }>,
    writing: Writing<Texts>,
  ) => PageContent;
};

export interface PageModuleDefinition<View extends Named, Texts> {
  readonly texts: { readonly [Each in Language]: () => Promise<{ readonly TEXTS: Texts }> };
  readonly writers: () => Promise<{ readonly WRITERS: Writers<View, Texts> }>;
}

/** A page module whose types are checked: it writes the pages of its own views. */
export interface PageModule {
  texts(language: Language): Promise<Readonly<Record<string, string>>>;
  write(view: Named, writing: Writing<Readonly<Record<string, string>>>): Promise<PageContent>;
}

/** Makes a page module of its views and texts. */
export function definePageModule<View extends Named, Texts extends Readonly<Record<string, string>>>(
  { texts, writers }: PageModuleDefinition<View, Texts>,
): PageModule {
  return {
    texts: async (language) => (await texts[language]()).TEXTS,
    async write(view, writing) {
      const { WRITERS } = await writers();
      // `PAGE_MODULES` gives each module its own views only.
      const write = WRITERS[view.name as View["name"]] as (view: Named, writing: unknown) => PageContent;
      return write(view, writing);
    },
  };
}
