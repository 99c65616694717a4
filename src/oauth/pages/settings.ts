/**
 * The options of the pages: name, logo, colours, texts, and the hook that renders its own HTML.
 *
 * @module
 */
import { checkNames, type Names } from "../../options/option_check.ts";
import type { Markup } from "../../http/page.ts";
import { contrast, mix, parseColor, type Rgb, toHex } from "./color.ts";
import { type Language, LANGUAGES } from "./languages.ts";
import type { Texts, View } from "./views.ts";

/** What a hook gets beside the data of the page. */
export interface RenderContext {
  readonly language: Language;
  /** The texts in that language, those of the option `texts` included. `{name}` in a text stands for a value. */
  readonly texts: Texts;
  readonly status: number;
  /** The name of the product. */
  readonly product: string;
  readonly logo: string | undefined;
  /** The URL of the script that the page must run (`form_post`: it sends the form), as `<script src defer>`. */
  readonly script: string | undefined;
}

/**
 * Renders a page: returns a whole HTML document (a string, or what the `html` tag of `trivet/pages` makes), a `Response`
 * whose body is one, or `undefined` for the page of this server. Status and security header fields are set by the server; of
 * a `Response` its other header fields are kept. The page runs no script but the one of the context, and loads only what
 * `sources` allows. When it throws, the page of the server is shown and the observer gets a fault.
 */
export type RenderPage = (
  view: View,
  context: RenderContext,
) => Response | Markup | string | undefined | Promise<Response | Markup | string | undefined>;

/** Colours: `#rgb`, `#rrggbb`, `rgb(…)` or `hsl(…)`. Text on them has a contrast of at least 4.5:1, checked at start. */
export interface PageColors {
  /** Buttons and links. */
  readonly accent?: string;
  /** The same in dark mode. @default `accent`, lightened as far as needed */
  readonly accentDark?: string;
  /** Behind the card. */
  readonly background?: string;
  readonly backgroundDark?: string;
}

/** How the pages look, and the texts and links of the operator. */
export interface PageOptions {
  /** The product that users sign in to. @default the host of the issuer */
  readonly name?: string;
  /** The https URL of an image, or a `data:image/…` URL, shown 40 pixels high. @default a mark */
  readonly logo?: string;
  readonly colors?: PageColors;
  /** Texts that replace those of the server, by language and key. */
  readonly texts?: { readonly [Each in Language]?: Partial<Texts> };
  /** The language for a browser that asks for none of `en` and `de`. @default "en" */
  readonly defaultLanguage?: Language;
  readonly render?: RenderPage;
  /**
   * Origins from which pages of `render` load style sheets, images and fonts, such as `https://cdn.example.com`, or
   * `'self'`. @default none: style sheets of `data:` URLs, images of `data:` URLs and the logo
   */
  readonly sources?: {
    readonly style?: readonly string[];
    readonly image?: readonly string[];
    readonly font?: readonly string[];
  };
}

/** The colours of one mode, as `#rrggbb`. */
export interface Palette {
  readonly accent: string;
  /** Text on `accent`. */
  readonly onAccent: string;
  readonly background: string;
  readonly surface: string;
  readonly text: string;
  readonly soft: string;
}

/** The options, complete. */
export interface PageSettings extends Omit<PageOptions, "colors" | "name"> {
  /** `undefined`: the host of the issuer. */
  readonly name: string | undefined;
  readonly light: Palette;
  readonly dark: Palette;
  readonly defaultLanguage: Language;
}

const LIGHT: Palette = {
  accent: "#0b5d4e",
  onAccent: "#ffffff",
  background: "#f4f5f4",
  surface: "#ffffff",
  text: "#1b2125",
  soft: "#566068",
};
const DARK: Palette = {
  accent: "#63cdb3",
  onAccent: "#000000",
  background: "#0f1214",
  surface: "#181c1f",
  text: "#e9eced",
  soft: "#a8b2b8",
};
const NAMES: Names<PageOptions> = {
  name: "string",
  logo: "string",
  colors: "object",
  texts: "object",
  defaultLanguage: "unknown",
  render: "function",
  sources: "object",
};
const COLOR_NAMES: Names<PageColors> = {
  accent: "string",
  accentDark: "string",
  background: "string",
  backgroundDark: "string",
};
const WHITE: Rgb = [255, 255, 255];
const BLACK: Rgb = [0, 0, 0];
/** WCAG 2.2 success criterion 1.4.3. */
const MIN_CONTRAST = 4.5;
/** A source of a Content-Security-Policy: an origin, or this server. */
const SOURCE = /^(?:'self'|https:\/\/[a-z0-9.-]+(?::\d+)?)$/i;

/** The settings of the pages. @throws {TypeError} naming the option and the rule */
export function completePages(options: PageOptions = {}): PageSettings {
  checkNames("oauth.pages", options, NAMES);
  checkNames("oauth.pages.colors", options.colors ?? {}, COLOR_NAMES);
  const { name, logo, colors = {}, texts = {}, defaultLanguage = "en", render, sources } = options;
  if (name !== undefined && !/^[^\p{Cc}]{1,60}$/u.test(name)) {
    fail("name", "must be 1 to 60 characters on one line");
  }
  if (logo !== undefined && !isImage(logo)) {
    fail("logo", "must be an https URL of at most 2048 characters, or a data:image/ URL of at most 65536");
  }
  if (!LANGUAGES.includes(defaultLanguage)) fail("defaultLanguage", `must be one of ${LANGUAGES.join(", ")}`);
  for (const [language, given] of Object.entries(texts)) {
    if (!LANGUAGES.includes(language as Language)) {
      fail(`texts.${language}`, `must be one of ${LANGUAGES.join(", ")}`);
    }
    for (const [key, text] of Object.entries(given)) {
      if (typeof text !== "string" || text === "") fail(`texts.${language}.${key}`, "must be a text");
    }
  }
  for (const [kind, list] of Object.entries(sources ?? {})) {
    for (const source of list) {
      if (!SOURCE.test(source)) {
        fail(`sources.${kind}`, `must list https origins or "'self'", but lists "${source}"`);
      }
    }
  }
  const accent = readColor("accent", colors.accent);
  const dark = readColor("accentDark", colors.accentDark) ?? (accent && lighten(accent));
  return {
    name,
    light: toPalette(LIGHT, "", accent, readColor("background", colors.background)),
    dark: toPalette(DARK, "Dark", dark, readColor("backgroundDark", colors.backgroundDark)),
    texts,
    defaultLanguage,
    ...(logo !== undefined && { logo }),
    ...(render && { render }),
    ...(sources && { sources }),
  };
}

function isImage(url: string): boolean {
  if (/^data:image\/[a-z.+-]+[;,]/i.test(url)) return url.length <= 65_536;
  return url.length <= 2048 && URL.parse(url)?.protocol === "https:";
}

function readColor(name: keyof PageColors, text: string | undefined): Rgb | undefined {
  if (text === undefined) return undefined;
  return parseColor(text) ??
    fail(
      `colors.${name}`,
      `must be a color as in CSS with #, rgb() or hsl(), such as "#0b5d4e", but is "${text}"`,
    );
}

/** @param mode the suffix of the options of this mode */
function toPalette(
  base: Palette,
  mode: "" | "Dark",
  accent: Rgb | undefined,
  background: Rgb | undefined,
): Palette {
  if (!accent && !background) return base;
  accent ??= parseColor(base.accent)!;
  background ??= parseColor(base.background)!;
  const surface = parseColor(base.surface)!;
  checkContrast(`colors.accent${mode}`, accent, surface, "the card");
  checkContrast(`colors.background${mode}`, background, parseColor(base.soft)!, "the text on it");
  const onAccent = contrast(accent, WHITE) >= MIN_CONTRAST ? WHITE : BLACK;
  return { ...base, accent: toHex(accent), onAccent: toHex(onAccent), background: toHex(background) };
}

function checkContrast(name: string, color: Rgb, other: Rgb, where: string): void {
  const ratio = contrast(color, other);
  if (ratio >= MIN_CONTRAST) return;
  fail(
    name,
    `must have a contrast of at least ${MIN_CONTRAST}:1 to ${where} (${toHex(other)}), but ${
      toHex(color)
    } has ${ratio.toFixed(2)}:1`,
  );
}

/** The colour for dark mode: mixed with white until its contrast is well above the minimum. */
function lighten(color: Rgb): Rgb {
  const surface = parseColor(DARK.surface)!;
  for (let part = 0; part < 1; part += 0.05) {
    const lighter = mix(color, WHITE, part);
    if (contrast(lighter, surface) >= 7) return lighter;
  }
  return WHITE;
}

function fail(name: string, rule: string): never {
  throw new TypeError(`Invalid options: "oauth.pages.${name}" ${rule}`);
}
