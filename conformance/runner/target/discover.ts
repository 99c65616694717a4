/**
 * The metadata of an authorization server (RFC 8414): endpoints and all that it says of itself.
 *
 * @module
 */
import { toStrictText } from "../exchange/bytes.ts";
import { exchange, type Limits, type Sender } from "../exchange/exchange.ts";
import { parseJson } from "../vector/match.ts";
import type { TargetDescription } from "./target_description.ts";
import { isMembers, type Members } from "../vector/vector_file.ts";

const OAUTH = "/.well-known/oauth-authorization-server";
const OPENID = "/.well-known/openid-configuration";
/** So many levels of a document are looked at; no metadata has more, and deeper ones break their readers. */
const MAX_DEPTH = 100;

export interface Discovered {
  readonly description: TargetDescription;
  /** Where metadata was found. */
  readonly discovered?: string;
  /** Why none was. */
  readonly why?: string;
}

/** What is given by hand wins. @throws {Error} when `discover` names what is no metadata */
export async function discover(
  description: TargetDescription,
  sender: Sender,
  limits: Limits,
  isOAuth: boolean,
): Promise<Discovered> {
  const { discover: asked, base = "", endpoints = {} } = description;
  if (asked !== undefined) {
    const { metadata, why } = await fetchMetadata(new URL(asked, base).href, sender, limits);
    if (!metadata) {
      throw new Error(`Cannot use the target: ${why} (its "discover" says that metadata is there)`);
    }
    const url = new URL(asked, base).href;
    return { description: withMetadata(description, metadata, url), discovered: url };
  }
  if (!isOAuth || endpoints["authorization"] !== undefined || endpoints["token"] !== undefined) {
    return { description };
  }
  // An issuer with a path: RFC 8414 section 3.1 puts it behind the well-known one, OpenID Connect before.
  const path = new URL(base).pathname.replace(/\/$/, "");
  let first: string | undefined;
  for (const place of new Set([`${OAUTH}${path}`, `${OPENID}${path}`, `${path}${OPENID}`])) {
    const url = new URL(place, base).href;
    const { metadata, why = `${url} answers 200, but with no metadata` } = await fetchMetadata(
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
): Promise<{ readonly metadata?: Members; readonly why?: string }> {
  const common = { fields: [], without: [], body: undefined, raw: false, wire: undefined };
  try {
    const { status, body } = await exchange(sender, { method: "GET", url, ...common }, limits);
    if (status !== 200) return { why: `${url} answers ${status}` };
    const metadata = parseJson(toStrictText(body) ?? "");
    if (!isMembers(metadata) || isDeep(metadata)) return { why: `${url} answers 200, but with no metadata` };
    return { metadata };
  } catch (error) {
    return { why: `${url}: ${error instanceof Error ? error.message : error}` };
  }
}

function isDeep(value: unknown, level: number = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  return level > MAX_DEPTH || Object.values(value).some((each) => isDeep(each, level + 1));
}

function withMetadata(description: TargetDescription, metadata: Members, url: string): TargetDescription {
  const found = Object.entries(metadata).flatMap(([name, value]) =>
    typeof value !== "string"
      ? []
      : name === "jwks_uri"
      ? [["jwks", value]]
      : name.endsWith("_endpoint")
      ? [[name.slice(0, -"_endpoint".length), value]]
      : []
  );
  const endpoints = { metadata: url, ...Object.fromEntries(found), ...description.endpoints };
  return { ...description, endpoints, vars: { metadata, ...description.vars } };
}
