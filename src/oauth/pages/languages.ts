/**
 * The languages of the pages.
 *
 * @module
 */
export const LANGUAGES = ["en", "de"] as const;

export type Language = typeof LANGUAGES[number];
