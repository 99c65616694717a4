/**
 * Dynamic client registration (https://www.rfc-editor.org/rfc/rfc7591) and its management
 * (https://www.rfc-editor.org/rfc/rfc7592): clients register themselves, then read, update and delete their
 * registration with their registration access token.
 *
 * @module
 */
import { equalInConstantTime, randomId, randomSecret, secretDigest } from "../../crypto/secret.ts";
import { readBearer, TokenRefusal } from "../../http/bearer.ts";
import { readText } from "../../http/body/body.ts";
import { mediaType } from "../../http/body/media_type.ts";
import { networkOf } from "../../http/network/network.ts";
import { NO_STORE, respond, respondJson } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import { type Entry, putIfAbsent } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { findConfidentialGrant } from "../clients/client.ts";
import { keepOperatorChanges } from "../clients/client_changes.ts";
import { readClientMetadata, type SelfDescription } from "../clients/client_metadata.ts";
import { OAuthError } from "../error.ts";
import { identifyCaller } from "../tokens/protect.ts";
import { type Client, clientKey } from "../records/client_record.ts";
import { NO_STORE_JSON } from "./no_store.ts";
import { STORAGE_LIMITS, UNUSED_REGISTRATION_LIFETIME } from "../storage_quota.ts";

const MAX_BODY_BYTES = 64 * 1024;
/** The scope of an initial access token (RFC 7591 §1.2). */
const INITIAL_TOKEN_SCOPE = "clients:register";

/** `POST /oauth/register`: 201 with the registered metadata (RFC 7591 §3.2.1). @throws {OAuthError} */
export async function register(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  // Before the token is checked: it may be revoked while the client holds the body back.
  const body = await readText(request, MAX_BODY_BYTES);
  if (as.registration === "token") await checkInitialToken(as, request, context);
  const clientMetadata = await readMetadata(as, parseJson(request, body), context);
  const secret = needsSecret(clientMetadata.token_endpoint_auth_method)
    ? randomSecret("trivet_cs_")
    : undefined;
  const token = randomSecret("trivet_rat_");
  const client: Client = {
    ...clientMetadata,
    // Chosen by the server, so that no client takes the id of a user or of another client, or a URL.
    id: randomId("client_"),
    source: "registration",
    ...(secret !== undefined && { secret_digest: secretDigest(secret) }),
    registration_access_token_digest: secretDigest(token),
    created: as.now(),
  };
  const bytes = checkSize(client);
  if (as.registration === "open") as.storageQuota.reserve("registration", bytes, undefined, context);
  // `extendRegistration` extends it when a user grants the client access.
  const lifetime = Math.min(as.registrationLifetime, UNUSED_REGISTRATION_LIFETIME);
  const expires = as.now() + lifetime * 1000;
  // putIfAbsent, because a layered store waits before it changes a record that may be cached elsewhere.
  await putIfAbsent(as.store, clientKey(client.id), client, expires);
  // With the address: the audit trail keeps the first registrations of each caller one by one.
  as.observe({ type: "client_registered", client: client.id, ip: context.ip });
  return respondJson(
    201,
    { ...describeClient(as, client, secret), registration_access_token: token },
    NO_STORE_JSON,
  );
}

/** `GET /oauth/register/:id`: 200 with the registered metadata (RFC 7592 §2.1). @throws {OAuthError} */
export async function showRegistration(
  as: AuthorizationServer,
  request: Request,
  id: string,
): Promise<Response> {
  const { value } = await getRegistration(as, request, id);
  return respondJson(200, { ...describeClient(as, value), ...currentToken(request) }, NO_STORE_JSON);
}

/**
 * `PUT /oauth/register/:id`: replaces the metadata of the client (RFC 7592 §2.2), except what the operator changed.
 * @throws {OAuthError}
 */
export async function updateRegistration(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  id: string,
): Promise<Response> {
  const entry = await getRegistration(as, request, id);
  const before = entry.value;
  const metadata = parseJson(request, await readText(request, MAX_BODY_BYTES));
  // `Object` because the body may be `null` or another primitive.
  const { client_id, client_secret } = Object(metadata) as Record<string, unknown>;
  if (client_id !== id) throw invalidMetadata("client_id must match the registration");
  if (client_secret !== undefined && !isSecretOf(before, client_secret)) {
    throw invalidMetadata("client_secret must be the current secret or be omitted");
  }
  const clientMetadata = keepOperatorChanges(before, await readMetadata(as, metadata, context));
  // The grant types of an operator stay, so the client must stay confidential (RFC 6749 §4.4).
  const grant = findConfidentialGrant(clientMetadata);
  if (grant !== undefined) throw invalidMetadata(`${grant} requires client authentication`);
  const { secret_digest, previous_secret, weak_secret, set_by_operator } = before;
  const usesSecret = needsSecret(clientMetadata.token_endpoint_auth_method);
  const secret = usesSecret && secret_digest === undefined ? randomSecret("trivet_cs_") : undefined;
  const value: Client = {
    ...clientMetadata,
    id,
    source: "registration",
    ...(secret !== undefined && { secret_digest: secretDigest(secret) }),
    ...(usesSecret && secret_digest !== undefined && { secret_digest }),
    ...(usesSecret && previous_secret && { previous_secret }),
    ...(usesSecret && weak_secret && { weak_secret }),
    registration_access_token_digest: before.registration_access_token_digest!,
    ...(set_by_operator && { set_by_operator }),
    created: before.created,
  };
  checkSize(value);
  const isStored = await as.store.commit({
    check: [{ key: entry.key, version: entry.version }],
    set: [{ key: entry.key, value, expires: entry.expires }],
  });
  if (!isStored) {
    throw new OAuthError(
      "temporarily_unavailable",
      "Another request changed the registration at the same time: try again",
    );
  }
  return respondJson(200, { ...describeClient(as, value, secret), ...currentToken(request) }, NO_STORE_JSON);
}

/** `DELETE /oauth/register/:id`: 204 (RFC 7592 §2.3). @throws {OAuthError} */
export async function deleteRegistration(
  as: AuthorizationServer,
  request: Request,
  id: string,
): Promise<Response> {
  const { key } = await getRegistration(as, request, id);
  await as.store.commit({ remove: [key] });
  return respond(204, null, [NO_STORE]);
}

/** The metadata, with the members of OpenID Connect when it is on. @throws {OAuthError} */
async function readMetadata(
  as: AuthorizationServer,
  value: unknown,
  context: RequestContext,
): Promise<SelfDescription> {
  const described = readClientMetadata(as, value);
  if (!as.openid) return described;
  const { checkSector, readOpenIdMetadata } = await import("../openid/client_metadata.ts");
  const openid = readOpenIdMetadata(as, value as Record<string, unknown>, described);
  await checkSector(as, { ...described, ...openid }, { network: networkOf(context) });
  return { ...described, ...openid };
}

async function checkInitialToken(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<void> {
  const caller = await identifyCaller(as, request, context, as.issuer);
  if (caller === "none") {
    throw new OAuthError(
      "invalid_token",
      `Missing initial access token: send an access token with the scope ${INITIAL_TOKEN_SCOPE}`,
      {
        fields: [["www-authenticate", `Bearer scope="${INITIAL_TOKEN_SCOPE}"`]],
      },
    );
  }
  if (caller instanceof TokenRefusal) {
    throw new OAuthError("invalid_token", caller.description, {
      fields: caller.challenge({ scope: INITIAL_TOKEN_SCOPE }),
    });
  }
  await context.limitCaller?.(caller);
  if (!caller.scopes.has(INITIAL_TOKEN_SCOPE)) {
    throw new OAuthError(
      "insufficient_scope",
      `Insufficient scope: the access token needs the scope ${INITIAL_TOKEN_SCOPE}`,
      {
        fields: [["www-authenticate", `Bearer error="insufficient_scope", scope="${INITIAL_TOKEN_SCOPE}"`]],
      },
    );
  }
}

/** @returns the bytes of the record. @throws {OAuthError} invalid_client_metadata when it is too large (RFC 7591 §3.2.2) */
function checkSize(client: Client): number {
  const { length } = JSON.stringify(client);
  const { record } = STORAGE_LIMITS.registration;
  if (length > record) throw invalidMetadata(`larger than ${record} bytes`);
  return length;
}

/** RFC 7592 §2.1: the same error for a wrong token and for a client that does not exist. @throws {OAuthError} */
async function getRegistration(
  as: AuthorizationServer,
  request: Request,
  id: string,
): Promise<Entry<Client>> {
  const token = readBearer(request);
  const entry = await as.store.get<Client>(clientKey(id));
  const expected = entry?.value.registration_access_token_digest;
  const matches = equalInConstantTime(secretDigest(token ?? ""), expected ?? "");
  if (entry && token !== undefined && expected !== undefined && matches) return entry;
  throw new OAuthError(
    "invalid_token",
    "Missing or invalid registration access token: send the one issued to this client",
    {
      fields: [["www-authenticate", token === undefined ? "Bearer" : 'Bearer error="invalid_token"']],
    },
  );
}

/** RFC 7592 §A.1: the response has the token that is valid from then on, here the one of the request. */
function currentToken(request: Request): { registration_access_token: string | undefined } {
  return { registration_access_token: readBearer(request) };
}

function parseJson(request: Request, text: string): unknown {
  if (mediaType(request.headers.get("content-type")) !== "application/json") {
    throw invalidMetadata("the Content-Type must be application/json");
  }
  try {
    return JSON.parse(text);
  } catch {
    throw invalidMetadata("the body is not valid JSON");
  }
}

/** RFC 7591 §3.2.1: all registered metadata, also what the server chose. */
function describeClient(as: AuthorizationServer, client: Client, secret?: string): Record<string, unknown> {
  const {
    id,
    name,
    source: _,
    secret_digest,
    previous_secret: __,
    weak_secret: ___,
    registration_access_token_digest: ____,
    set_by_operator: _____,
    created,
    metadata,
    default_scope,
    ...registered
  } = client;
  return {
    client_id: id,
    client_id_issued_at: Math.floor(created / 1000),
    ...(secret !== undefined && { client_secret: secret }),
    // RFC 7591 §3.2.1: 0 means that it does not expire.
    ...(secret_digest !== undefined && { client_secret_expires_at: 0 }),
    ...(name !== "" && { client_name: name }),
    ...registered,
    ...(default_scope !== undefined && { scope: default_scope }),
    ...(client.grant_types.includes("authorization_code") && { response_types: ["code"] }),
    ...metadata,
    registration_client_uri: `${as.origin}${as.base}/oauth/register/${id}`,
  };
}

function needsSecret(method: Client["token_endpoint_auth_method"]): boolean {
  return method === "client_secret_basic" || method === "client_secret_post";
}

function isSecretOf({ secret_digest = "" }: Client, secret: unknown): boolean {
  return typeof secret === "string" && equalInConstantTime(secretDigest(secret), secret_digest);
}

function invalidMetadata(rule: string): OAuthError {
  return new OAuthError("invalid_client_metadata", `Invalid client metadata: ${rule}`);
}
