/**
 * The metadata of an authorization server of an upstream: RFC 8414 (https://www.rfc-editor.org/rfc/rfc8414) or OpenID Connect
 * Discovery, cached for an hour.
 *
 * @module
 */
import { type PublicDocument, PublicFetchError } from "../../http/network/public_fetch.ts";
import { OAuthError } from "../../oauth/error.ts";
import { ConnectError } from "./connect_error.ts";
import type { Network } from "./network.ts";

export interface IssuerMetadata {
  readonly issuer: string;
  readonly token_endpoint: string;
  readonly authorization_endpoint?: string;
  readonly registration_endpoint?: string;
  readonly revocation_endpoint?: string;
  readonly scopes_supported: readonly string[];
  readonly code_challenge_methods_supported: readonly string[];
  /** RFC 8414 section 2: without the member, the server supports `client_secret_basic`. */
  readonly token_endpoint_auth_methods_supported: readonly string[];
  readonly client_id_metadata_document_supported: boolean;
  /** RFC 9207 section 3: `iss` is in every authorization response. */
  readonly authorization_response_iss_parameter_supported: boolean;
}

const LIFETIME_MS = 60 * 60 * 1000;
const ENDPOINTS = ["authorization_endpoint", "registration_endpoint", "revocation_endpoint"] as const;

/**
 * The metadata of an issuer.
 * @throws {ConnectError} when there is none, it is invalid or names another issuer
 */
export async function findIssuerMetadata(network: Network, issuer: string): Promise<IssuerMetadata> {
  const problem = network.check(issuer) ?? (/[?]/.test(issuer) ? "must not have a query" : undefined);
  if (problem) {
    throw new ConnectError("metadata_invalid", `The issuer of the authorization server ${problem}`);
  }
  const read = (document: PublicDocument) => ({
    value: readMetadata(network, document, issuer),
    lifetime: LIFETIME_MS,
  });
  let last: unknown;
  for (const url of candidatesOf(issuer)) {
    try {
      const request = { kind: "issuer", url, network: undefined, isKnown: true, read } as const;
      return (await network.documents.get(request)).value;
    } catch (error) {
      if (!(error instanceof PublicFetchError) && !(error instanceof OAuthError)) throw error;
      last = error;
    }
  }
  throw new ConnectError(
    "metadata_unavailable",
    "The metadata of the authorization server could not be fetched",
    { cause: last },
  );
}

/** RFC 8414 section 3.1 and section 5: the places where it may be, in the order of MCP authorization. */
function candidatesOf(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const [oauth, openid] = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];
  return path === ""
    ? [origin + oauth, origin + openid]
    : [origin + oauth + path, origin + openid + path, origin + path + openid];
}

function readMetadata(network: Network, { text }: PublicDocument, issuer: string): IssuerMetadata {
  let metadata: Record<string, unknown> | null;
  try {
    metadata = JSON.parse(text);
  } catch {
    throw new ConnectError("metadata_invalid", "The metadata of the authorization server must be JSON");
  }
  if (metadata?.["issuer"] !== issuer) {
    // RFC 8414 section 3.3: another issuer's metadata must not be used.
    throw new ConnectError(
      "issuer_mismatch",
      "The metadata of the authorization server names another issuer than the upstream",
    );
  }
  const find = (name: string): string | undefined => {
    const url = metadata[name];
    if (url === undefined) return undefined;
    const problem = typeof url === "string" ? network.check(url) : "must be an https URL";
    if (problem) {
      throw new ConnectError(
        "metadata_invalid",
        `${name} in the metadata of the authorization server ${problem}`,
      );
    }
    return url as string;
  };
  const list = (name: string): string[] => {
    const value = metadata[name];
    return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
  };
  const token_endpoint = find("token_endpoint");
  if (token_endpoint === undefined) {
    throw new ConnectError(
      "metadata_invalid",
      "The metadata of the authorization server has no token_endpoint",
    );
  }
  const methods = list("token_endpoint_auth_methods_supported");
  return {
    issuer,
    token_endpoint,
    ...Object.fromEntries(
      ENDPOINTS.map((name) => [name, find(name)] as const).filter(([, url]) => url !== undefined),
    ),
    scopes_supported: list("scopes_supported"),
    code_challenge_methods_supported: list("code_challenge_methods_supported"),
    token_endpoint_auth_methods_supported: methods.length > 0 ? methods : ["client_secret_basic"],
    client_id_metadata_document_supported: metadata["client_id_metadata_document_supported"] === true,
    authorization_response_iss_parameter_supported:
      metadata["authorization_response_iss_parameter_supported"] === true,
  };
}
