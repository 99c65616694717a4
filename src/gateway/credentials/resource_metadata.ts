/**
 * The metadata of an upstream as a protected resource (https://www.rfc-editor.org/rfc/rfc9728): its identifier and its
 * authorization servers. And what an upstream says when it is asked without a token.
 *
 * @module
 */
import { PublicFetchError } from "../../http/network/public_fetch.ts";
import { type Challenge, parseChallenge } from "./challenge.ts";
import { ConnectError } from "./connect_error.ts";
import type { Network } from "./network.ts";

export interface ResourceMetadata {
  readonly resource: string;
  readonly authorization_servers: readonly string[];
  readonly scopes_supported: readonly string[];
}

const WELL_KNOWN = "/.well-known/oauth-protected-resource";
const MAX_AUTHORIZATION_SERVERS = 10;
/** Any request serves to see the challenge; this one changes nothing when the upstream accepts it. */
const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

/** The challenge of the upstream for a request without a token; `undefined` when it answers something else. */
export async function askForChallenge(network: Network, upstream: string): Promise<Challenge | undefined> {
  try {
    const { headers } = await network.fetch(upstream, {
      method: "POST",
      body: PING,
      headers: { accept: "application/json, text/event-stream", "content-type": "application/json" },
      statuses: [401],
    });
    return parseChallenge(headers.get("www-authenticate"));
  } catch (error) {
    if (error instanceof PublicFetchError) return undefined;
    throw error;
  }
}

/**
 * The metadata of the upstream.
 * @param named the URL in the challenge. @default the well-known URLs of the upstream
 * @throws {ConnectError} when it cannot be fetched, is invalid, or is that of another resource
 */
export async function findResourceMetadata(
  network: Network,
  upstream: string,
  named?: string,
): Promise<ResourceMetadata> {
  const { origin, pathname } = new URL(upstream);
  const path = pathname.replace(/\/$/, "");
  const candidates = named === undefined
    ? [...new Set([origin + WELL_KNOWN + path, origin + WELL_KNOWN])]
    : [named];
  let last: unknown;
  for (const url of candidates) {
    const problem = network.check(url);
    if (problem) {
      throw new ConnectError("metadata_invalid", `resource_metadata of the challenge ${problem}`);
    }
    try {
      const { text } = await network.fetch(url);
      return readMetadata(text, upstream);
    } catch (error) {
      if (!(error instanceof PublicFetchError)) throw error;
      last = error;
      if (error.status === undefined || error.status >= 500) break;
    }
  }
  const status = last instanceof PublicFetchError ? last.status : undefined;
  if (named === undefined && status !== undefined && status < 500) {
    // Servers of the revision 2025-03-26 have no such document: they are their own authorization servers.
    return { resource: upstream, authorization_servers: [origin], scopes_supported: [] };
  }
  throw new ConnectError("metadata_unavailable", "The metadata of the upstream could not be fetched", {
    cause: last,
  });
}

function readMetadata(text: string, upstream: string): ResourceMetadata {
  let metadata: Record<string, unknown> | null;
  try {
    metadata = JSON.parse(text);
  } catch {
    throw new ConnectError("metadata_invalid", "The metadata of the upstream must be JSON");
  }
  const { resource, authorization_servers: servers, scopes_supported: scopes } = Object(metadata) as Record<
    string,
    unknown
  >;
  if (typeof resource !== "string" || !isResourceOf(resource, upstream)) {
    throw new ConnectError(
      "resource_mismatch",
      "The metadata of the upstream must be that of its URL, or of a path above it",
    );
  }
  if (
    !Array.isArray(servers) || servers.length === 0 || servers.length > MAX_AUTHORIZATION_SERVERS ||
    !servers.every((each) => typeof each === "string")
  ) {
    throw new ConnectError(
      "metadata_invalid",
      `The metadata of the upstream must name 1 to ${MAX_AUTHORIZATION_SERVERS} authorization_servers`,
    );
  }
  return {
    resource,
    authorization_servers: servers,
    scopes_supported: Array.isArray(scopes) ? scopes.filter((each) => typeof each === "string") : [],
  };
}

/**
 * Whether tokens for a resource are for this upstream: its own URL, or a path above it on the same origin, which many
 * servers name. Never another origin: its tokens would be for someone else.
 */
function isResourceOf(resource: string, upstream: string): boolean {
  const [of, at] = [URL.parse(resource), URL.parse(upstream)];
  if (!of || !at || of.origin !== at.origin || resource.includes("#") || of.username !== "") return false;
  if (of.search !== "" && of.search !== at.search) return false;
  const [above, path] = [of.pathname.replace(/\/$/, ""), at.pathname.replace(/\/$/, "")];
  return path === above || path.startsWith(above + "/");
}
