/**
 * The metadata of an OpenID Provider (https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata), cached.
 *
 * @module
 */
import { isLoopbackHost } from "../../http/network/loopback.ts";
import {
  checkConfiguredUrl,
  checkPublicUrl,
  type PublicDocument,
  PublicFetchError,
} from "../../http/network/public_fetch.ts";
import type { ProviderContext } from "./provider.ts";

export interface ProviderMetadata {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly jwks_uri: string;
  readonly userinfo_endpoint?: string | undefined;
  /** RFC 8414 §2 */
  readonly revocation_endpoint?: string | undefined;
  readonly scopes_supported?: readonly string[] | undefined;
  readonly token_endpoint_auth_methods_supported?: readonly string[] | undefined;
  /** RFC 9207 §3: `iss` is in every authorization response. */
  readonly authorization_response_iss_parameter_supported: boolean;
}

/** How long a document is used. */
const LIFETIME_MS = 60 * 60 * 1000;

/**
 * @param issuer as in the configuration
 * @param named the `issuer` that the document must have
 * @throws {PublicFetchError} when it cannot be fetched or is another issuer's
 */
export async function findProviderMetadata(
  { documents }: ProviderContext,
  issuer: string,
  named: string,
): Promise<ProviderMetadata> {
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const read = (document: PublicDocument) => ({
    value: readMetadata(document, named),
    lifetime: LIFETIME_MS,
  });
  return (await documents.get({ kind: "provider", url, network: undefined, isKnown: true, read })).value;
}

function readMetadata({ text }: PublicDocument, issuer: string): ProviderMetadata {
  let metadata: Record<string, unknown> | null;
  try {
    metadata = JSON.parse(text);
  } catch {
    throw new PublicFetchError("The metadata of the provider must be JSON");
  }
  if (typeof metadata !== "object" || metadata?.["issuer"] !== issuer) {
    throw new PublicFetchError(`The metadata must name the issuer ${issuer}`);
  }
  const find = (name: string): string | undefined => {
    const url = metadata[name];
    if (url === undefined) return undefined;
    const problem = typeof url === "string" ? checkEndpoint(url, issuer) : "must be an https URL";
    if (problem) throw new PublicFetchError(`${name} in the metadata of the provider ${problem}`);
    return url as string;
  };
  const findRequired = (name: string): string => {
    const url = find(name);
    if (url === undefined) throw new PublicFetchError(`The metadata of the provider has no ${name}`);
    return url;
  };
  const methods = metadata["token_endpoint_auth_methods_supported"];
  const scopes = metadata["scopes_supported"];
  return {
    issuer,
    authorization_endpoint: findRequired("authorization_endpoint"),
    token_endpoint: findRequired("token_endpoint"),
    jwks_uri: findRequired("jwks_uri"),
    userinfo_endpoint: find("userinfo_endpoint"),
    revocation_endpoint: find("revocation_endpoint"),
    ...(Array.isArray(scopes) && { scopes_supported: scopes.map(String) }),
    ...(Array.isArray(methods) && { token_endpoint_auth_methods_supported: methods.map(String) }),
    authorization_response_iss_parameter_supported:
      metadata["authorization_response_iss_parameter_supported"] === true,
  };
}

/**
 * The rule that an endpoint breaks. Metadata may name the host of the issuer, which the operator chose, and public hosts:
 * it must not lead this server into the operator's network (`provider_test.ts`). A public name that resolves to a private
 * address gains nothing: the service there has no certificate for the name.
 */
function checkEndpoint(url: string, issuer: string): string | undefined {
  const problem = checkConfiguredUrl(url);
  if (problem) return problem;
  const [own, host] = [new URL(issuer).hostname, new URL(url).hostname];
  // On loopback, for development: 127.0.0.1 and localhost are one host.
  if (isLoopbackHost(own) && isLoopbackHost(host)) return undefined;
  return host === own && url.startsWith("https:") ? undefined : checkPublicUrl(url);
}
