/**
 * Who calls the token endpoint (https://www.rfc-editor.org/rfc/rfc6749#section-2.3): `client_secret_basic`,
 * `client_secret_post`, or `none` for public clients.
 *
 * @module
 */
import { equalInConstantTime, secretDigest } from "../crypto/secret.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import { findClient } from "./client.ts";
import { OAuthError } from "./error.ts";
import type { Client } from "./records.ts";

interface Credentials {
  readonly id: string;
  /** One secret, or two readings of it; none for a public client. */
  readonly secrets: readonly string[];
}

/**
 * The client that made the request.
 * @throws {OAuthError} invalid_client (401) with one text for unknown client, wrong and missing secret;
 * invalid_request when two methods are used at once (RFC 6749 §2.3)
 */
export async function authenticateClient(
  as: AuthorizationServer,
  request: Request,
  form: ReadonlyMap<string, string>,
): Promise<Client> {
  const { id, secrets } = readCredentials(request, form);
  const client = await findClient(as, id);
  const expected = client?.secret_digest ?? "";
  // An unknown client costs the same digests as a known one.
  let matches = false;
  for (const secret of secrets) matches = equalInConstantTime(secretDigest(secret), expected) || matches;
  const known = client !== undefined && (client.secret_digest === undefined ? secrets.length === 0 : matches);
  if (!known) {
    as.observe({ type: "client_refused", client: id.slice(0, 256), reason: "Client authentication failed" });
    throw new OAuthError("invalid_client", "Client authentication failed: check client_id and client_secret");
  }
  return client;
}

function readCredentials(request: Request, form: ReadonlyMap<string, string>): Credentials {
  const id = form.get("client_id");
  const secret = form.get("client_secret");
  const field = request.headers.get("authorization");
  if (field === null) {
    if (!id) {
      throw new OAuthError("invalid_client", "Send client_id and client_secret, in the body or by Basic");
    }
    return { id, secrets: secret === undefined ? [] : [secret] };
  }
  const basic = parseBasic(field);
  if (!basic) {
    throw new OAuthError("invalid_client", "The Authorization field must be Basic with id and secret");
  }
  if (secret !== undefined) {
    throw new OAuthError("invalid_request", "Send client_secret in the body or by Basic, not both");
  }
  if (id !== undefined && id !== basic.id && id !== decode(basic.id)) {
    throw new OAuthError("invalid_request", "client_id differs from the one in the Authorization field");
  }
  return id === undefined ? basic : { ...basic, id };
}

/**
 * RFC 6749 §2.3.1 has id and secret form-encoded inside Basic; many clients send them raw. Both readings of
 * the secret are tried.
 */
function parseBasic(field: string): Credentials | undefined {
  const encoded = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(field)?.[1];
  if (encoded === undefined) return undefined;
  let pair: string;
  try {
    pair = new TextDecoder("utf-8", { fatal: true }).decode(
      Uint8Array.from(atob(encoded), (c) => c.charCodeAt(0)),
    );
  } catch {
    return undefined;
  }
  const colon = pair.indexOf(":");
  if (colon < 1) return undefined;
  const raw = pair.slice(colon + 1);
  const decoded = decode(raw);
  // Our ids need no encoding unless an operator chose odd ones: then the decoded spelling is the standard's.
  return { id: decode(pair.slice(0, colon)), secrets: decoded === raw ? [raw] : [raw, decoded] };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
