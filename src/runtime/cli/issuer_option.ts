/**
 * The option `--issuer`: the URL under which clients and people reach the server; and options that name a resource.
 *
 * @module
 */
import { toCanonicalIssuer } from "../../options/canonical_issuer.ts";
import { checkAddress } from "../../options/server_options.ts";
import { checked } from "./options.ts";
import { UsageError } from "./output.ts";

/**
 * The URL, if `createTrivet` accepts it: an option is checked before anything is opened.
 * @throws {UsageError} with the canonical form of another one
 */
export function parseIssuer(text: string): string | undefined {
  if (checked(text, () => checkAddress("issuer", text)) === undefined) return undefined;
  const canonical = toCanonicalIssuer(text);
  if (canonical === text) return text;
  throw new UsageError(`--issuer must be in its canonical form, "${canonical}", but is "${text}"`);
}

/** The end of the sentence "--issuer must be". */
export const EXPECTED_ISSUER: string =
  "an https URL (http on loopback) without query, fragment or user, such as https://agents.example.com";

/** The URI, if it is a resource indicator (RFC 8707 section 2). */
export function parseResource(text: string): string | undefined {
  return URL.canParse(text) && !text.includes("#") ? text : undefined;
}

export const EXPECTED_RESOURCE: string = "an absolute URI without fragment";

/** The option of a command on a store, which does not contain the URL. */
export const ISSUER_OPTION: {
  readonly value: "URL";
  readonly summary: string;
  readonly default: string;
  readonly parse: typeof parseIssuer;
  readonly expected: string;
} = {
  value: "URL",
  summary: "for a store: the URL under which people reach the server",
  default: "http://127.0.0.1:8787",
  parse: parseIssuer,
  expected: EXPECTED_ISSUER,
};
