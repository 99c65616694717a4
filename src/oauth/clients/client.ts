/**
 * Clients (https://www.rfc-editor.org/rfc/rfc6749#section-2): registering, finding, listing, removing.
 *
 * @module
 */
import { checkJwk, type PublicJwk } from "../../crypto/jwk.ts";
import { randomId, randomSecret, secretDigest } from "../../crypto/secret.ts";
import { loadOnDemand } from "../../http/load_on_demand.ts";
import { checkConfiguredUrl, checkPublicUrl } from "../../http/network/public_fetch.ts";
import type { RequestContext } from "../../http/service.ts";
import {
  CACHED,
  listAll,
  putIfAbsent,
  type Store,
  StoreUnavailableError,
  timeOf,
} from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { OAuthError } from "../error.ts";
import { canonicalCertificateName } from "./certificate_name.ts";
import {
  type Client,
  type ClientAuthMethod,
  clientKey,
  GRANT_TYPES,
  type GrantType,
} from "../records/client_record.ts";
import type { Staleness } from "./client_document.ts";
import { findRequestUriProblem } from "./request_metadata.ts";
import { checkRegistrationMembers, type ClientRegistration } from "./client_registration.ts";
import { checkDomain, checkRedirectUri } from "./redirect_uri.ts";

const loadDocuments = () => import("./client_document.ts");
const findClientByDocument = loadOnDemand(async () => (await loadDocuments()).findClientByDocument);
const extendDocument = loadOnDemand(async () => (await loadDocuments()).extendDocument);

/** 128 random bits in base64url: such a secret cannot be guessed. */
const MIN_STRONG_SECRET_LENGTH = 22;

/** Grants that only confidential clients may use: with a public client anyone could. */
const CONFIDENTIAL: readonly GrantType[] = [
  "client_credentials",
  "urn:ietf:params:oauth:grant-type:token-exchange",
  "urn:ietf:params:oauth:grant-type:jwt-bearer",
];

/**
 * The record of a registration.
 * @param redirectSchemes private-use schemes without a dot that redirect URIs may have
 * @throws {TypeError} naming the invalid member
 */
export function toClient(
  registration: ClientRegistration,
  now: number,
  redirectSchemes?: readonly string[],
): Client {
  const {
    id,
    secret,
    name = id,
    redirect_uris,
    domain,
    grant_types: _,
    jwks,
    token_endpoint_auth_method: __,
    ...rest
  } = registration;
  const refuse = (problem: string): never => {
    throw new TypeError(`Cannot register client "${id}": ${problem}`);
  };
  if (typeof id !== "string" || !/^[\x21-\x7e]{1,256}$/.test(id)) {
    refuse("the id must be 1 to 256 printable ASCII characters without spaces");
  }
  if (secret !== undefined && !/^[\x20-\x7e]{1,256}$/.test(secret)) {
    refuse("the secret must be 1 to 256 printable ASCII characters");
  }
  redirect_uris?.forEach((uri) => checkRedirectUri(uri, redirectSchemes));
  rest.post_logout_redirect_uris?.forEach((uri) => checkRedirectUri(uri, redirectSchemes));
  const logoutProblem = rest.backchannel_logout_uri && checkConfiguredUrl(rest.backchannel_logout_uri);
  if (logoutProblem) refuse(`backchannel_logout_uri ${logoutProblem}`);
  if (domain !== undefined) checkDomain(domain);
  if (jwks && !Array.isArray(jwks.keys)) refuse("jwks must have a list of keys");
  if (jwks && registration.jwks_uri !== undefined) refuse("jwks and jwks_uri must not both be present");
  const keysAt = registration.jwks_uri === undefined ? undefined : checkPublicUrl(registration.jwks_uri);
  if (keysAt) refuse(`jwks_uri ${keysAt}`);
  for (const uri of registration.request_uris ?? []) {
    const problem = findRequestUriProblem(uri);
    if (problem) refuse(`request_uris: "${uri}" ${problem}`);
  }
  if (registration.require_signed_request_object && !jwks && registration.jwks_uri === undefined) {
    refuse("require_signed_request_object requires jwks or jwks_uri");
  }
  const { certificate, default_max_age = 0 } = registration;
  if (!Number.isSafeInteger(default_max_age) || default_max_age < 0) {
    refuse("default_max_age must be a whole number of seconds");
  }
  if (certificate && canonicalCertificateName(certificate.type, certificate.value) === undefined) {
    refuse(`"${certificate.value}" is not a valid ${certificate.type}`);
  }
  const token_endpoint_auth_method = authMethodOf(registration);
  const missing = findMissingCredential(registration, token_endpoint_auth_method);
  if (missing !== undefined) refuse(`${token_endpoint_auth_method} requires ${missing}`);
  return given({
    ...rest,
    id,
    name,
    source: "operator",
    token_endpoint_auth_method,
    ...(secret !== undefined && { secret_digest: secretDigest(secret) }),
    ...(secret !== undefined && secret.length < MIN_STRONG_SECRET_LENGTH && { weak_secret: true as const }),
    ...(jwks && { jwks: { keys: jwks.keys.map((key) => checkKey(key, refuse)) } }),
    ...(redirect_uris && { redirect_uris }),
    ...(domain !== undefined && { domain }),
    grant_types: grantTypesOf(registration, token_endpoint_auth_method, refuse),
    created: now,
  });
}

/** What the client needs to authenticate by this method and does not have; `undefined` when it has it. */
function findMissingCredential(
  { secret, jwks, jwks_uri, certificate }: ClientRegistration,
  method: ClientAuthMethod,
): string | undefined {
  switch (method) {
    case "none":
      return undefined;
    case "client_secret_basic":
    case "client_secret_post":
      return secret === undefined ? "a secret" : undefined;
    case "private_key_jwt":
    case "self_signed_tls_client_auth":
      return jwks || jwks_uri !== undefined ? undefined : "jwks or jwks_uri";
    case "tls_client_auth":
      return certificate ? undefined : "a certificate";
    default:
      return "a method that this server supports";
  }
}

/** Without the members that are undefined. */
function given(members: { readonly [Name in keyof Client]: Client[Name] | undefined }): Client {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as unknown as Client;
}

function authMethodOf(registration: ClientRegistration): ClientAuthMethod {
  const { token_endpoint_auth_method, secret, jwks, jwks_uri, certificate } = registration;
  if (token_endpoint_auth_method !== undefined) return token_endpoint_auth_method;
  if (secret !== undefined) return "client_secret_basic";
  if (jwks || jwks_uri !== undefined) return "private_key_jwt";
  return certificate ? "tls_client_auth" : "none";
}

function grantTypesOf(
  { grant_types, domain, redirect_uris }: ClientRegistration,
  method: ClientAuthMethod,
  refuse: (problem: string) => never,
): readonly GrantType[] {
  const redirects = domain !== undefined || (redirect_uris?.length ?? 0) > 0;
  const chosen: readonly GrantType[] = grant_types ?? [
    ...(redirects ? ["authorization_code", "refresh_token"] as const : []),
    ...(method === "none" ? [] : ["client_credentials"] as const),
  ];
  for (const type of chosen) {
    if (!GRANT_TYPES.includes(type)) refuse(`unsupported grant type ${type}`);
    if (CONFIDENTIAL.includes(type) && method === "none") {
      refuse(`${type} requires a secret, a key or a certificate`);
    }
    if (type === "authorization_code" && !redirects) {
      refuse("authorization_code requires a domain or redirect URIs");
    }
  }
  if (chosen.length === 0) refuse("a secret, a domain or redirect URIs are required");
  return chosen;
}

function checkKey(key: unknown, refuse: (problem: string) => never): PublicJwk {
  const checked = checkJwk(key);
  return typeof checked === "string" ? refuse(`jwks: ${checked}`) : checked;
}

/** The grant type of a public client that only confidential ones may use; `undefined` when there is none. */
export function findConfidentialGrant(
  client: Pick<Client, "grant_types" | "token_endpoint_auth_method">,
): GrantType | undefined {
  return isPublic(client) ? client.grant_types.find((type) => CONFIDENTIAL.includes(type)) : undefined;
}

/** RFC 6749 §2.1: whether the client has no credentials. */
export function isPublic(
  { token_endpoint_auth_method }: Pick<Client, "token_endpoint_auth_method">,
): boolean {
  return token_endpoint_auth_method === "none";
}

/**
 * The client with this id: a configured one (then without a promise), one in the store, or one with a client metadata
 * document at this URL.
 * @param context of the request, for the fetch budget of its network
 */
export function findClient(
  as: AuthorizationServer,
  id: string,
  context: RequestContext,
  staleness?: Staleness,
): Client | Promise<Client | undefined> {
  return as.configured.get(id) ??
    (id.startsWith("https://")
      ? findClientByDocument(as, id, context, staleness)
      : as.store.get<Client>(clientKey(id), CACHED).then((entry) => entry?.value));
}

/** As {@linkcode findClient}, for what goes on without it: `undefined` also while its document cannot be fetched, or is invalid. */
export async function findAvailableClient(
  as: AuthorizationServer,
  id: string,
  context: RequestContext,
): Promise<Client | undefined> {
  try {
    return await findClient(as, id, context);
  } catch (error) {
    if (error instanceof OAuthError) return undefined;
    throw error;
  }
}

/**
 * Extends the lifetime of a client that registered itself. Called when a user consents, and with every refresh, so that
 * only clients that are not used expire.
 */
export async function extendRegistration(as: AuthorizationServer, client: Client): Promise<void> {
  try {
    if (client.source === "document") await extendDocument(as, client.id);
    else if (client.source === "registration") await extendRecord(as, client);
  } catch (error) {
    // What was issued must not be lost; the next use extends it.
    if (!(error instanceof StoreUnavailableError)) throw error;
  }
}

async function extendRecord(as: AuthorizationServer, client: Client): Promise<void> {
  const entry = await as.store.get<Client>(clientKey(client.id));
  const lives = as.now() + as.registrationLifetime * 1000;
  // One write in each tenth of the lifetime is enough.
  if (!entry?.expires || entry.expires > lives - as.registrationLifetime * 100) return;
  await as.store.commit({
    check: [{ key: entry.key, version: entry.version }],
    set: [{ key: entry.key, value: entry.value, expires: lives, isSameValue: true }],
  });
}

/**
 * Registers a client in the store. A missing id is generated, and so is a missing secret, unless the client is `public` or
 * has keys or a certificate. The secret is returned only here: the store keeps its digest.
 * @param redirectSchemes private-use schemes without a dot that redirect URIs may have
 * @throws {TypeError} as {@linkcode toClient}, or when the id is taken
 */
export async function addClient(
  store: Store,
  { public: isPublic = false, ...registration }: Omit<ClientRegistration, "id"> & {
    readonly id?: string | undefined;
    readonly public?: boolean;
  },
  redirectSchemes?: readonly string[],
): Promise<{ client: Client; secret: string | undefined }> {
  checkRegistrationMembers(registration);
  const id = registration.id ?? randomId("client_");
  if (id.startsWith("https://")) {
    throw new TypeError(
      `Cannot register client "${id}": ids that begin with https:// are URLs of client metadata documents`,
    );
  }
  const proves = registration.jwks ?? registration.jwks_uri ?? registration.certificate;
  const secret = isPublic || proves ? registration.secret : registration.secret ?? randomSecret("trivet_cs_");
  const client = toClient({ ...registration, id, secret }, timeOf(store), redirectSchemes);
  if (!await putIfAbsent(store, clientKey(id), client)) {
    throw new TypeError(`Cannot register client "${id}": the id is taken`);
  }
  return { client, secret };
}

/** Every client of the store, by id. */
export async function* listClients(store: Store): AsyncGenerator<Client> {
  for await (const { value } of listAll<Client>(store, ["client"])) yield value;
}

/** Removes a client; `false` when there was none. This ends all its tokens and codes (`liveness.ts`). */
export async function removeClient(store: Store, id: string): Promise<boolean> {
  const key = clientKey(id);
  const isThere = await store.get(key) !== undefined;
  // Without a check of the version: a client that changes at the same time is removed all the same. Also of one that is not
  // there: another removal may still wait for cached copies, and this one does, too.
  await store.commit({ remove: [key] });
  return isThere;
}
