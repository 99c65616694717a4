/**
 * The languages of the pages.
 *
 * @module
 */
export const LANGUAGES = ["en", "de"] as const;

/** The languages of the pages, as language tags (RFC 5646). */
export type Language = typeof LANGUAGES[number];
