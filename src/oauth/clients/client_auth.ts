/**
 * Client authentication (https://www.rfc-editor.org/rfc/rfc6749#section-2.3): a secret by HTTP Basic or in the body, an
 * assertion, a certificate, or only the client id for public clients.
 *
 * @module
 */
import { readJws } from "../../crypto/jws.ts";
import { equalInConstantTime, secretDigest } from "../../crypto/secret.ts";
import { loadOnDemand } from "../../http/load_on_demand.ts";
import { networkOf } from "../../http/network/network.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { findClient, isPublic } from "./client.ts";
import { certificateMatches, readCertificate } from "./read_certificate.ts";
import { OAuthError } from "../error.ts";
import type { Parameters } from "../parameters.ts";
import type { Client } from "../records/client_record.ts";
import { isMethodAllowed } from "../security_profile.ts";
import type { AttemptSeries } from "../users/throttle/throttle.ts";

const checkClientAssertion = loadOnDemand(async () =>
  (await import("./client_assertion.ts")).checkClientAssertion
);
const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** The credentials in a request. */
interface Credentials {
  readonly id: string;
  /** The secret, or two readings of it (see `parseBasic`); empty when the request has none. */
  readonly secrets: readonly string[];
  readonly assertion?: string;
}

const REFUSED =
  "Client authentication failed. Check client_id and the secret, key or certificate of the client";
/** Wrong secrets for one client from one network after which the next wrong one gets 429. */
const MAX_WRONG_SECRETS = 10;
/** The Retry-After of that response. */
const RETRY_AFTER_SECONDS = 1;
/** For secrets that can be guessed: how many wrong ones a network may send before it must wait. */
const WEAK_SECRET_LIMIT = { freeAttempts: 10, maxWaitSeconds: 60 } as const;

/**
 * The authenticated client of the request.
 * @throws {OAuthError} invalid_client (401) with one text for unknown client, wrong and missing secret;
 * invalid_request when two methods are used at once (RFC 6749 §2.3)
 * @throws {RateLimitError} for a client over its limit
 */
export async function authenticateClient(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  form: Parameters,
): Promise<Client> {
  const credentials = readCredentials(request, form);
  const { id, secrets } = credentials;
  // Users stay signed in to a client while the host of its document is down.
  const found = findClient(as, id, context, "stale_if_public");
  const client = found instanceof Promise ? await found : found;
  const guessKey = secrets.length > 0 && as.wrongGuesses.size > 0 ? throttleKey(client, context) : undefined;
  const series = seriesOf(client, context);
  const failed = guessKey !== undefined && as.wrongGuesses.has(guessKey);
  if (failed) {
    const wait = await as.throttle.begin(series);
    if (wait > 0) throw tooMany(wait);
  }
  const proven = client && isMethodAllowed(as, client.token_endpoint_auth_method) &&
    (client.secret_digest !== undefined && usesSecret(client)
      ? isSecretOf(as, client, credentials)
      : await hasOtherProof(as, client, credentials, request, context));
  if (proven) {
    if (failed) {
      as.wrongGuesses.forget(guessKey);
      await as.throttle.succeeded(series);
    }
    if (context.limitCaller) {
      const isUnproven = isPublic(client);
      await context.limitCaller({ client: client.id, isUnproven });
    }
    return client;
  }
  // The same digests as for a known client, so that response times do not show which clients exist.
  if (!client) secrets.forEach(secretDigest);
  as.observe({
    type: "client_refused",
    client: id.slice(0, 256),
    reason: "Client authentication failed",
    ip: context.ip,
  });
  if (secrets.length > 0) {
    const before = as.wrongGuesses.add(throttleKey(client, context));
    if (!failed) await as.throttle.begin(series);
    if (before >= MAX_WRONG_SECRETS) throw tooMany(RETRY_AFTER_SECONDS);
  }
  throw new OAuthError("invalid_client", REFUSED);
}

function tooMany(wait: number): OAuthError {
  return new OAuthError("invalid_client", "Too many failed attempts. Wait before the next attempt", {
    status: 429,
    fields: [["retry-after", String(wait)]],
  });
}

/** Where wrong secrets are counted. All unknown client ids share one key, so that they displace no other. */
function throttleKey(client: Client | undefined, context: RequestContext): string {
  return `secret ${networkOf(context) ?? ""} ${client?.id ?? ""}`;
}

/**
 * RFC 6749 §2.3.1: a secret that can be guessed must be protected against brute force. One of 128 bits or more cannot be
 * guessed and is always compared, so that an attacker does not block other clients on the same network.
 */
function seriesOf(client: Client | undefined, context: RequestContext): readonly AttemptSeries[] {
  const network = client?.weak_secret === true ? networkOf(context) : undefined;
  return network === undefined
    ? []
    : [{ kind: "client_secret", subject: `${client!.id} ${network}`, ...WEAK_SECRET_LIMIT }];
}

function usesSecret({ token_endpoint_auth_method: method }: Client): boolean {
  // A client may send its secret in either way, whichever it registered.
  return method === "client_secret_basic" || method === "client_secret_post";
}

function isSecretOf(
  as: AuthorizationServer,
  { secret_digest = "", previous_secret }: Client,
  { secrets }: Credentials,
): boolean {
  let matches = false;
  for (const secret of secrets) {
    const digest = secretDigest(secret);
    matches = equalInConstantTime(digest, secret_digest) || matches;
    if (previous_secret && previous_secret.until > as.now()) {
      matches = equalInConstantTime(digest, previous_secret.digest) || matches;
    }
  }
  return matches;
}

async function hasOtherProof(
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
      as.storageQuota.reserve("proof", 0, client, context);
      await checkClientAssertion(as, client, assertion, context);
      return true;
    default: {
      const certificate = await readCertificate(as, request, context);
      return certificate !== undefined && secrets.length === 0 &&
        await certificateMatches(as, client, certificate, networkOf(context));
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
      "Use one client authentication method: client_secret, client_assertion or the Authorization header field",
    );
  }
  if (assertion !== undefined) return readAssertion(form, assertion, id);
  if (field === null) {
    if (!id) {
      throw new OAuthError(
        "invalid_client",
        "Client authentication is missing. Send client_id and client_secret, in the body or with HTTP Basic",
      );
    }
    return { id, secrets: secret === undefined ? [] : [secret] };
  }
  const basic = parseBasic(field);
  if (!basic) {
    throw new OAuthError(
      "invalid_client",
      "The Authorization header field must be HTTP Basic with client id and secret",
    );
  }
  if (id !== undefined && id !== basic.id && id !== decode(basic.id)) {
    throw new OAuthError("invalid_request", "client_id does not match the Authorization header field");
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
    throw new OAuthError("invalid_client", "client_id does not match client_assertion");
  }
  return { id: claimed, secrets: [], assertion };
}

/** The client that the assertion names, before anything of it is verified. */
function clientIdOf(assertion: string): string | undefined {
  const claims = readJws(assertion)?.claims;
  return typeof claims?.sub === "string" && claims.sub === claims.iss ? claims.sub : undefined;
}

/**
 * RFC 6749 §2.3.1: id and secret are form-encoded inside Basic, but many clients send them raw. Both readings of the
 * secret are tried.
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
  // RFC 6749 section 2.3.1: an empty secret may be omitted. Some public clients identify themselves this way.
  if (raw === "") return { id: decode(pair.slice(0, colon)), secrets: [] };
  const decoded = decode(raw);
  // Generated ids need no encoding. For ids that an operator chose, the decoded spelling is that of the RFC.
  return { id: decode(pair.slice(0, colon)), secrets: decoded === raw ? [raw] : [raw, decoded] };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
