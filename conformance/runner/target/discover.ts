/**
 * Fetches the metadata of an authorization server (RFC 8414) and reads its endpoints.
 *
 * @module
 */
import { toStrictText } from "../exchange/bytes.ts";
import { exchange, type Limits, type Sender } from "../exchange/exchange.ts";
import { parseJson } from "../vector/match.ts";
import type { TargetDescription } from "./target_description.ts";
import { isJsonObject, type JsonObject } from "../vector/vector_file.ts";

const OAUTH = "/.well-known/oauth-authorization-server";
const OPENID = "/.well-known/openid-configuration";
/** Limit of nesting. Deeper documents would overflow the stack of later steps. */
const MAX_DEPTH = 100;

export interface Discovered {
  readonly description: TargetDescription;
  /** URL of the metadata. */
  readonly discovered?: string;
  /** Why no metadata was found. */
  readonly why?: string;
}

/** Adds metadata to a description, whose own members take precedence. @throws {Error} if `discover` has no metadata */
export async function discover(
  description: TargetDescription,
  sender: Sender,
  limits: Limits,
  isOAuth: boolean,
): Promise<Discovered> {
  const { discover: metadataPath, base = "", endpoints = {} } = description;
  if (metadataPath !== undefined) {
    const { metadata, why } = await fetchMetadata(new URL(metadataPath, base).href, sender, limits);
    if (!metadata) {
      throw new Error(`No metadata found: ${why}. Correct "discover" in the target file.`);
    }
    const url = new URL(metadataPath, base).href;
    return { description: withMetadata(description, metadata, url), discovered: url };
  }
  if (!isOAuth || endpoints["authorization"] !== undefined || endpoints["token"] !== undefined) {
    return { description };
  }
  // The path of an issuer follows the well-known path in RFC 8414 section 3.1, and precedes it in OpenID Connect.
  const path = new URL(base).pathname.replace(/\/$/, "");
  let first: string | undefined;
  for (const place of new Set([`${OAUTH}${path}`, `${OPENID}${path}`, `${path}${OPENID}`])) {
    const url = new URL(place, base).href;
    const { metadata, why = `${url} returned no metadata object` } = await fetchMetadata(
      url,
      sender,
      limits,
    );
    first ??= why;
    if (metadata) return { description: withMetadata(description, metadata, url), discovered: url };
  }
  return { description, ...(first !== undefined && { why: first }) };
}

async function fetchMetadata(
  url: string,
  sender: Sender,
  limits: Limits,
): Promise<{ readonly metadata?: JsonObject; readonly why?: string }> {
  const common = { fields: [], without: [], body: undefined, raw: false, wire: undefined };
  try {
    const { status, body } = await exchange(sender, { method: "GET", url, ...common }, limits);
    if (status !== 200) return { why: `${url} returned status ${status}` };
    const metadata = parseJson(toStrictText(body) ?? "");
    if (!isJsonObject(metadata) || isTooDeep(metadata)) {
      return { why: `${url} returned no metadata object` };
    }
    return { metadata };
  } catch (error) {
    return { why: `${url}: ${error instanceof Error ? error.message : error}` };
  }
}

function isTooDeep(value: unknown, level: number = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  return level > MAX_DEPTH || Object.values(value).some((each) => isTooDeep(each, level + 1));
}

function withMetadata(description: TargetDescription, metadata: JsonObject, url: string): TargetDescription {
  const found = Object.entries(metadata).flatMap(([name, value]) =>
    typeof value !== "string"
      ? []
      : name === "jwks_uri"
      ? [["jwks", value]]
      : name.endsWith("_endpoint")
      ? [[name.slice(0, -"_endpoint".length), value]]
      : []
  );
  const { issuer } = metadata;
  const endpoints = {
    metadata: url,
    // A final slash of the issuer is removed before the path is appended (OpenID Connect Discovery section 4.1).
    ...(typeof issuer === "string" && { openid_configuration: issuer.replace(/\/$/, "") + OPENID }),
    ...Object.fromEntries(found),
    ...description.endpoints,
  };
  return { ...description, endpoints, vars: { metadata, ...description.vars } };
}
