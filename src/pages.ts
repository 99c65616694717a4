/**
 * `trivet/pages`: types and the `html` tag for the option `pages.render`, which renders pages of your own.
 *
 * @module
 */
export { html, Markup } from "./http/page.ts";
export type { Language } from "./oauth/pages/languages.ts";
export type { PageColors, PageOptions, RenderContext, RenderPage } from "./oauth/pages/settings.ts";
export type { Texts, View } from "./oauth/pages/views.ts";
