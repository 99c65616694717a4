/**
 * Finds the keys and the introspection endpoint of another issuer in its metadata (https://www.rfc-editor.org/rfc/rfc8414,
 * or the OpenID Connect document that older issuers have instead).
 *
 * @module
 */
import {
  checkConfiguredUrl,
  type PublicDocument,
  PublicFetchError,
} from "../../http/network/public_fetch.ts";
import { OAuthError } from "../error.ts";
import type { RemoteDocuments } from "../clients/remote_document.ts";

export interface IssuerMetadata {
  readonly jwks_uri: string | undefined;
  readonly introspection_endpoint: string | undefined;
}

/** How long a document is used. */
const LIFETIME_MS = 5 * 60 * 1000;

/**
 * Creates a function that returns a URL of the metadata, from the cache or fetched.
 * @throws {PublicFetchError} when the metadata cannot be fetched or does not have it, and what `documents.get` throws
 */
export function createMetadataFinder(
  issuer: string,
  documents: RemoteDocuments,
): (name: keyof IssuerMetadata) => Promise<string> {
  const { origin, pathname } = new URL(issuer);
  // RFC 8414 §3.1 inserts the suffix before the path; OpenID Connect Discovery §4 appends it.
  const urls = [
    `${origin}/.well-known/oauth-authorization-server${pathname.replace(/\/$/, "")}`,
    `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`,
  ];
  const read = (document: PublicDocument) => ({
    value: readMetadata(issuer, document),
    lifetime: LIFETIME_MS,
  });
  return async (name) => {
    for (const url of urls) {
      const known = documents.find<IssuerMetadata>("issuer", url)?.value[name];
      if (known !== undefined) return known;
    }
    let failure: unknown;
    for (const url of urls) {
      try {
        const copy = await documents.get({ kind: "issuer", url, network: undefined, isKnown: true, read });
        const found = copy.value[name];
        if (found !== undefined) return found;
        failure ??= new PublicFetchError(`The metadata of the issuer has no ${name}`);
      } catch (error) {
        if (!(error instanceof PublicFetchError || error instanceof OAuthError)) throw error;
        failure ??= error;
      }
    }
    throw failure;
  };
}

/** @throws {PublicFetchError} for a document that is not the issuer's (RFC 8414 §3.3) */
function readMetadata(issuer: string, { text }: PublicDocument): IssuerMetadata {
  let metadata: Record<string, unknown> | null;
  try {
    metadata = JSON.parse(text);
  } catch {
    throw new PublicFetchError("The metadata of the issuer must be JSON");
  }
  if (metadata?.issuer !== issuer) {
    throw new PublicFetchError(`The metadata must name the issuer ${issuer}`);
  }
  const readUrl = (name: keyof IssuerMetadata): string | undefined => {
    const url = metadata[name];
    if (url === undefined) return undefined;
    // The metadata of an issuer on the internet must not lead to http on loopback.
    const problem = typeof url !== "string" || issuer.startsWith("https:") && !url.startsWith("https:")
      ? "must be an https URL"
      : checkConfiguredUrl(url);
    if (problem) throw new PublicFetchError(`${name} in the metadata of the issuer ${problem}`);
    return url as string;
  };
  return { jwks_uri: readUrl("jwks_uri"), introspection_endpoint: readUrl("introspection_endpoint") };
}
