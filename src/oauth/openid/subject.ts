/**
 * Subject identifiers (https://openid.net/specs/openid-connect-core-1_0.html#section-8): the `sub` that a client gets for a
 * user, and the `sid` of a login session.
 *
 * @module
 */
import { encodeBase64url } from "../../crypto/base64url.ts";
import { secretDigest } from "../../crypto/secret.ts";
import { hmacSha256 } from "../../crypto/sha256.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { Client } from "../records/client_record.ts";

/** The subject type of the client. */
export function subjectTypeOf(as: AuthorizationServer, client: Client): "public" | "pairwise" {
  return client.subject_type ?? as.openid!.subjectTypes[0]!;
}

/**
 * The `sub` of the user for this client. User ids are random and never given again, so neither is a subject. A pairwise
 * one is a keyed digest (§8.1): clients of different sectors cannot compare theirs.
 */
export async function subjectOf(as: AuthorizationServer, client: Client, user: string): Promise<string> {
  return subjectTypeOf(as, client) === "public" ? user : await pairwiseSubject(as, sectorOf(client), user);
}

/** The subject of the user in a sector. It does not change when the secret of the server is rotated. */
export async function pairwiseSubject(
  { secret }: AuthorizationServer,
  sector: string,
  user: string,
): Promise<string> {
  const { first } = await secret();
  return encodeBase64url(hmacSha256(first, JSON.stringify(["openid subject", sector, user])));
}

/**
 * §8.1: the host of the sector identifier URI, else of the redirect URIs. A client without an https redirect URI is its own
 * sector: all programs on loopback have the same host. So is one that described itself and gets codes or tokens elsewhere
 * than at the host that it names.
 */
function sectorOf(client: Client): string {
  const { sector_identifier_uri, redirect_uris = [], domain } = client;
  const own = `client ${client.id}`;
  const isOpen = client.source !== "operator";
  if (isOpen && client.grant_types.includes("urn:ietf:params:oauth:grant-type:device_code")) return own;
  if (sector_identifier_uri !== undefined) return new URL(sector_identifier_uri).host;
  const secure = redirect_uris.filter((uri) => uri.startsWith("https://"));
  if (isOpen && secure.length < redirect_uris.length) return own;
  const hosts = new Set(secure.map((uri) => new URL(uri).host));
  if (domain !== undefined) hosts.add(URL.parse(domain)?.host ?? domain);
  return hosts.size === 1 ? [...hosts][0]! : own;
}

/** The `sid` of a login session for one client: two clients cannot compare theirs. @param origin of the session */
export function sessionIdOf(origin: string, client_id: string): string {
  return secretDigest(JSON.stringify(["openid session", origin, client_id]));
}
