/**
 * What a server that refused a request asks for: scopes, its resource metadata and authorization servers (RFC 9728).
 *
 * @module
 */
import { parseChallenge } from "../../../gateway/credentials/challenge.ts";
import { createNetworks } from "../../../gateway/credentials/network.ts";
import { findResourceMetadata } from "../../../gateway/credentials/resource_metadata.ts";
import { checkPublicUrl } from "../../../http/network/public_fetch.ts";
import { ConnectionError } from "../../../mcp_client/error.ts";
import { publicConnect } from "../../connect_publicly.ts";

export interface RequiredAuthorization {
  readonly status: number;
  /** The error code of the challenge. */
  readonly error: string | null;
  readonly scopes: readonly string[];
  readonly resource_metadata: string | null;
  readonly resource: string | null;
  readonly authorization_servers: readonly string[];
  /** Why there is no metadata. */
  readonly problem: string | null;
}

/** What the error of a connection asks for; `undefined` when the server did not refuse credentials. */
export async function findRequiredAuthorization(
  error: unknown,
  url: string | undefined,
): Promise<RequiredAuthorization | undefined> {
  if (!(error instanceof ConnectionError) || error.reason !== "refused" || url === undefined) {
    return undefined;
  }
  const challenge = parseChallenge(error.challenge);
  const networks = createNetworks({ connect: publicConnect, now: Date.now });
  // A public server must not lead into the network of this machine.
  const network = checkPublicUrl(url) === undefined ? networks.public : networks.private;
  const known = {
    status: error.status ?? 401,
    error: challenge.error ?? null,
    resource_metadata: challenge.resource_metadata ?? null,
  };
  try {
    const metadata = await findResourceMetadata(network, url, challenge.resource_metadata);
    return {
      ...known,
      scopes: challenge.scopes.length > 0 ? challenge.scopes : metadata.scopes_supported,
      resource: metadata.resource,
      authorization_servers: metadata.authorization_servers,
      problem: null,
    };
  } catch (problem) {
    return {
      ...known,
      scopes: challenge.scopes,
      resource: null,
      authorization_servers: [],
      problem: problem instanceof Error ? problem.message : String(problem),
    };
  }
}
