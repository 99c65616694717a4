/**
 * The value of options that name a protected resource.
 *
 * @module
 */

/** A resource indicator (RFC 8707 section 2). */
export const RESOURCE_VALUE: {
  readonly parse: (text: string) => string | undefined;
  readonly expected: string;
} = {
  parse: (text) => URL.canParse(text) && !text.includes("#") ? text : undefined,
  expected: "an absolute URI without fragment",
};
