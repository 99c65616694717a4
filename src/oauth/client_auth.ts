/**
 * Who calls an endpoint for clients (https://www.rfc-editor.org/rfc/rfc6749#section-2.3): a secret by Basic or in the
 * body, an assertion, a certificate, or nothing but a name for public clients.
 *
 * @module
 */
import { equalInConstantTime, secretDigest } from "../crypto/secret.ts";
import { addressBlock } from "../http/ip_address.ts";
import type { RequestContext } from "../http/service.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import { findClient } from "./client.ts";
import { ASSERTION_TYPE, checkClientAssertion, clientIdOf } from "./client_assertion.ts";
import { certificateMatches, readCertificate } from "./client_certificate.ts";
import { OAuthError } from "./error.ts";
import type { Parameters } from "./parameters.ts";
import type { Client } from "./records.ts";
import type { Series } from "./throttle.ts";

/** What a request shows of its client. */
interface Credentials {
  readonly id: string;
  /** One secret, or two readings of it; none when no secret was shown. */
  readonly secrets: readonly string[];
  readonly assertion?: string;
}

const REFUSED = "Client authentication failed: check client_id and what the client proves itself with";
/** Wrong secrets of one client from one address that cost no wait, and the longest wait in seconds. */
const PATIENCE = { free: 10, longest: 60 };
/** Which clients failed from where, as this instance remembers it: only for these is the store asked. */
const failing = new WeakMap<AuthorizationServer, Map<string, number>>();
const MOST_REMEMBERED = 10_000;

/**
 * The client that made the request.
 * @throws {OAuthError} invalid_client (401) with one text for unknown client, wrong and missing secret;
 * invalid_request when two methods are used at once (RFC 6749 §2.3)
 */
export async function authenticateClient(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  form: Parameters,
): Promise<Client> {
  const credentials = readCredentials(request, form);
  const { id, secrets } = credentials;
  // RFC 6749 §2.3.1: whoever takes a password must not let it be guessed.
  const remembered = failing.get(as);
  const place = remembered && secrets.length > 0 ? placeOf(id, context) : "";
  const watched = remembered?.has(place) === true;
  if (watched) {
    const wait = await as.throttle.begin(seriesOf(place));
    if (wait > 0) {
      throw new OAuthError(
        "invalid_client",
        "Too many wrong secrets for this client: wait before the next attempt",
        {
          status: 429,
          fields: [["retry-after", String(wait)]],
        },
      );
    }
  }
  const client = await findClient(as, id);
  const proven = client &&
    (client.secret_digest !== undefined && usesSecret(client)
      ? isSecretOf(client.secret_digest, credentials)
      : await provesOtherwise(as, client, credentials, request, context));
  if (proven) {
    if (watched) {
      remembered.delete(place);
      await as.throttle.succeeded(seriesOf(place));
    }
    return client;
  }
  // An unknown client costs the same digests as a known one.
  if (!client) secrets.forEach(secretDigest);
  if (secrets.length > 0 && !watched) {
    const place = placeOf(id, context);
    await as.throttle.begin(seriesOf(place));
    remember(as, place);
  }
  as.observe({ type: "client_refused", client: id.slice(0, 256), reason: "Client authentication failed" });
  throw new OAuthError("invalid_client", REFUSED);
}

function placeOf(id: string, { ip = "" }: RequestContext): string {
  return `${id} ${addressBlock(ip)}`;
}

function seriesOf(place: string): readonly Series[] {
  return [{ kind: "client_secret", of: place, ...PATIENCE }];
}

function remember(as: AuthorizationServer, place: string): void {
  const places = failing.get(as) ?? new Map<string, number>();
  if (places.size >= MOST_REMEMBERED) places.clear();
  failing.set(as, places.set(place, as.now()));
}

function usesSecret({ token_endpoint_auth_method: method }: Client): boolean {
  // Both ways of sending a secret are the same proof: which one a client registered for does not matter.
  return method === "client_secret_basic" || method === "client_secret_post";
}

function isSecretOf(digest: string, { secrets }: Credentials): boolean {
  let matches = false;
  for (const secret of secrets) matches = equalInConstantTime(secretDigest(secret), digest) || matches;
  return matches;
}

async function provesOtherwise(
  as: AuthorizationServer,
  client: Client,
  { secrets, assertion }: Credentials,
  request: Request,
  context: RequestContext,
): Promise<boolean> {
  switch (client.token_endpoint_auth_method) {
    case "none":
      return secrets.length === 0 && assertion === undefined;
    case "client_secret_basic":
    case "client_secret_post":
      return false;
    case "private_key_jwt":
      if (assertion === undefined || secrets.length > 0) return false;
      await checkClientAssertion(as, client, assertion);
      return true;
    default: {
      const certificate = readCertificate(as, request, context);
      return certificate !== undefined && secrets.length === 0 &&
        await certificateMatches(as, client, certificate);
    }
  }
}

function readCredentials(request: Request, form: Parameters): Credentials {
  const id = form.get("client_id");
  const secret = form.get("client_secret");
  const assertion = form.get("client_assertion");
  const field = request.headers.get("authorization");
  const ways = Number(secret !== undefined) + Number(assertion !== undefined) + Number(field !== null);
  if (ways > 1) {
    throw new OAuthError(
      "invalid_request",
      "Prove the client in one way: client_secret in the body, client_assertion, or the Authorization field",
    );
  }
  if (assertion !== undefined) return readAssertion(form, assertion, id);
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
  if (id !== undefined && id !== basic.id && id !== decode(basic.id)) {
    throw new OAuthError("invalid_request", "client_id differs from the one in the Authorization field");
  }
  return id === undefined ? basic : { ...basic, id };
}

function readAssertion(form: Parameters, assertion: string, id: string | undefined): Credentials {
  if (form.get("client_assertion_type") !== ASSERTION_TYPE) {
    throw new OAuthError("invalid_client", `client_assertion_type must be ${ASSERTION_TYPE}`);
  }
  const claimed = clientIdOf(assertion);
  if (claimed === undefined) {
    throw new OAuthError(
      "invalid_client",
      "client_assertion must be a JWT whose iss and sub are the client id",
    );
  }
  if (id !== undefined && id !== claimed) {
    throw new OAuthError("invalid_client", "client_id differs from the one in client_assertion");
  }
  return { id: claimed, secrets: [], assertion };
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
