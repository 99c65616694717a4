/**
 * `trivet/protect`: guards an API with the access tokens of another authorization server, without one in the process.
 *
 * @module
 */
import { checkJwk, type PublicJwk } from "./crypto/jwk.ts";
import { JWS_ALGORITHMS, type JwsAlgorithm } from "./crypto/jws.ts";
import { type Observe, observeFailures } from "./events.ts";
import type { CallerSource } from "./http/authenticate.ts";
import { answerPreflight } from "./http/cors/preflight.ts";
import { allowWellKnown } from "./http/cors/well_known.ts";
import { checkConfiguredUrl, type Connect, createConfiguredFetch } from "./http/network/public_fetch.ts";
import { closeScopes } from "./http/principal.ts";
import { createProtection, type Protection } from "./http/protect.ts";
import { jsonFields, respond, respondHead } from "./http/response.ts";
import { pathOf } from "./http/router.ts";
import { toRequestContext } from "./http/runtime_context.ts";
import { isScopeToken } from "./http/scope_token.ts";
import type { CertificateProxy } from "./oauth/authorization_server.ts";
import { createRemoteDocuments } from "./oauth/clients/remote_document.ts";
import { resourceMetadataUrl } from "./oauth/endpoints/protected_resource.ts";
import { createIntrospector } from "./oauth/resource_server/introspection.ts";
import { createMetadataFinder } from "./oauth/resource_server/issuer_metadata.ts";
import { identifyByRemoteToken } from "./oauth/resource_server/remote_token.ts";
import { checkNames, checkSome, checkTexts, type Names } from "./options/option_check.ts";
import { checkCertificateProxy } from "./options/oauth_option_checks.ts";
import { findRetryAfter, type Store } from "./store/store.ts";

/** How opaque tokens are looked up at their issuer (RFC 7662). */
export interface IntrospectionSettings {
  /** @default `introspection_endpoint` in the metadata of the issuer */
  readonly endpoint?: string;
  /** The client that this API is at the issuer: it authenticates by HTTP Basic (RFC 6749 section 2.3.1). */
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Options of {@linkcode resourceServer}. */
export interface ResourceServerOptions {
  /** The issuer whose tokens are accepted, exactly as its metadata and the `iss` of its tokens name it. */
  readonly issuer: string;
  /** The address of this API: https (http on loopback), without fragment. Never taken from a request. */
  readonly resource: string;
  /** What the `aud` of a token must contain, one of them. @default the resource */
  readonly audience?: string | readonly string[];
  /** The public keys of the issuer. @default those at `jwksUri` */
  readonly jwks?: { readonly keys: readonly PublicJwk[] };
  /** Where the keys are. @default `jwks_uri` in the metadata of the issuer (RFC 8414, else OpenID Connect) */
  readonly jwksUri?: string;
  /**
   * Asks the issuer about tokens (RFC 7662). Without `jwks` and `jwksUri` it is asked about every token, else about those
   * that are not JWTs. @default only JWTs are accepted
   */
  readonly introspection?: IntrospectionSettings;
  /** The scopes that every call of `protect` requires, and that the metadata of this API lists. @default none */
  readonly scopes?: readonly string[];
  /** What each scope implies, and through it what that implies. @default nothing */
  readonly impliedScopes?: Readonly<Record<string, readonly string[]>>;
  /** The address of the metadata of this API (RFC 9728). @default derived from `resource`, and served by `protect` */
  readonly resourceMetadata?: string;
  /** Signature algorithms of JWTs. @default all that are supported */
  readonly algorithms?: readonly JwsAlgorithm[];
  /** By how much the clocks of the issuer and this server may differ, in seconds, up to 300. @default 30 */
  readonly clockToleranceS?: number;
  /** The proxy that verifies client certificates (RFC 8705). @default none: tokens that are bound to one are refused */
  readonly certificateProxy?: CertificateProxy;
  /** Remembers used DPoP proofs for all instances of this API. @default each instance remembers its own */
  readonly store?: Store;
  /** How keys, metadata and introspection are fetched, such as a service binding of Workers. @default the platform's fetch */
  readonly fetch?: Connect;
  /** Called when the issuer cannot be reached. @default writes it to the console */
  readonly onEvent?: Observe | undefined;
  /** Milliseconds since the epoch, for tests. @default Date.now */
  readonly now?: () => number;
}

/** An API that accepts the tokens of another issuer. `toolServer` and `skillsService` take it as `authenticate`. */
export interface ResourceServer extends Protection, CallerSource {
  readonly resourceMetadata: string;
}

/** The greatest documents: keys of large issuers carry certificates. */
const MAX_DOCUMENT_BYTES = 256 * 1024;
/** How long an issuer that failed repeatedly is not asked. */
const MAX_WAIT_MS = 10_000;
const MAX_CLOCK_TOLERANCE_SECONDS = 300;
const METADATA_FIELDS = jsonFields(["cache-control", "public, max-age=300"]);

/**
 * Makes the guard of one API. `protect` returns the caller or the finished response: 401, 403, 503 while the issuer cannot
 * be reached, and at the address of the metadata of this API the metadata.
 * @throws {TypeError | RangeError} naming the option and the rule
 */
export function resourceServer(options: ResourceServerOptions): ResourceServer {
  checkOptions(options);
  const { issuer, resource, introspection, scopes = [], onEvent = observeFailures, now = Date.now, store } =
    options;
  const connect: Connect = options.fetch ?? ((url, init) => fetch(url, init));
  const fetchDocument = createConfiguredFetch({ connect, limit: MAX_DOCUMENT_BYTES });
  const documents = createRemoteDocuments(fetchDocument, now, MAX_WAIT_MS);
  const findUrl = createMetadataFinder(issuer, documents);
  const keys = options.jwks
    ? { jwks: readKeys(options.jwks) }
    : options.jwksUri !== undefined
    ? { jwks_uri: options.jwksUri }
    : undefined;

  const identify = identifyByRemoteToken({
    issuer,
    audience: options.audience === undefined ? [resource] : [options.audience].flat(),
    clockTolerance: options.clockToleranceS ?? 30,
    now,
    store,
    origin: new URL(resource).origin,
    requireDpopNonce: false,
    certificateProxy: checkCertificateProxy("certificateProxy", options.certificateProxy),
    documents,
    algorithms: options.algorithms ?? JWS_ALGORITHMS,
    findKeySource: keys
      ? () => Promise.resolve(keys)
      : introspection
      ? undefined
      : async () => ({ jwks_uri: await findUrl("jwks_uri") }),
    introspect: introspection && createIntrospector({
      ...introspection,
      endpoint: async () => introspection.endpoint ?? await findUrl("introspection_endpoint"),
      fetchDocument,
      now,
    }),
    onUnavailable: (error) => onEvent({ type: "issuer_unavailable", issuer, error: error.cause }),
  });

  const { resourceMetadata = resourceMetadataUrl(resource) } = options;
  const metadataPath = options.resourceMetadata === undefined ? pathOf(resourceMetadata) : undefined;
  const metadata = JSON.stringify({
    resource,
    authorization_servers: [issuer],
    ...(scopes.length > 0 && { scopes_supported: scopes }),
    bearer_methods_supported: ["header"],
    dpop_signing_alg_values_supported: JWS_ALGORITHMS,
    ...(options.certificateProxy && { tls_client_certificate_bound_access_tokens: true }),
  });

  /** The metadata, for a request to its address. */
  function answerMetadata(request: Request): Response | undefined {
    if (metadataPath === undefined || pathOf(request.url) !== metadataPath) return undefined;
    const isRead = request.method === "GET" || request.method === "HEAD";
    const response = answerPreflight(request, "GET, HEAD") ??
      (isRead
        ? (request.method === "HEAD" ? respondHead : respond)(200, metadata, METADATA_FIELDS)
        : respond(405, null, [["allow", "GET, HEAD, OPTIONS"]]));
    return allowWellKnown(request, response);
  }

  const protection = createProtection({
    findRetryAfter,
    issuer: resource,
    resources: new Map([[resource, resourceMetadata]]),
    identify: () => identify,
    implied: closeScopes(options.impliedScopes ?? {}),
    toContext: (request, given) => toRequestContext(request, given),
    now,
  });

  return {
    resourceMetadata,
    identify,
    service: metadataPath === undefined ? undefined : {
      mounts: [metadataPath],
      fetch: (request) => Promise.resolve(answerMetadata(request) ?? respond(404, null)),
    },
    authenticate: protection.authenticate,
    async protect(request, given = {}, context) {
      const document = answerMetadata(request);
      if (document) return document;
      checkTexts("protect.scopes", given.scopes);
      const required = [...new Set([...scopes, ...given.scopes ?? []])];
      return await protection.protect(request, { ...given, scopes: required }, context);
    },
  };
}

const NAMES: Names<ResourceServerOptions> = {
  issuer: "string",
  resource: "string",
  audience: "unknown",
  jwks: "object",
  jwksUri: "string",
  introspection: "object",
  scopes: "string[]",
  impliedScopes: "object",
  resourceMetadata: "string",
  algorithms: "string[]",
  clockToleranceS: "number",
  certificateProxy: "object",
  store: "object",
  fetch: "function",
  onEvent: "function",
  now: "function",
};

/** @throws {TypeError | RangeError} naming the option and the rule */
function checkOptions(options: ResourceServerOptions): void {
  checkNames("options", options, NAMES);
  const { issuer, resource, jwksUri, introspection, algorithms, clockToleranceS = 0, audience } = options;
  const { scopes = [] } = options;
  for (const [scope, implied] of Object.entries(options.impliedScopes ?? {})) {
    checkTexts(`impliedScopes.${scope}`, implied);
  }
  const fail = (name: string, rule: string): never => {
    throw new TypeError(`Invalid options: "${name}" ${rule}`);
  };
  if (options.jwks && !Array.isArray(options.jwks.keys)) fail("jwks", 'must have a list "keys" (RFC 7517)');
  if (!scopes.every(isScopeToken)) {
    fail("scopes", "must have scopes without spaces, quotes and backslashes (RFC 6749 section 3.3)");
  }
  if (introspection && !(introspection.clientId && introspection.clientSecret)) {
    fail("introspection", 'must have a "clientId" and a "clientSecret"');
  }
  const urls = { issuer, resource, jwksUri, "introspection.endpoint": introspection?.endpoint };
  for (const [name, url] of Object.entries(urls)) {
    const problem = url === undefined ? undefined : checkConfiguredUrl(url);
    // Not the value: it may have a password.
    if (problem) fail(name, problem);
  }
  if (issuer === undefined || resource === undefined) fail("issuer", 'and "resource" are required');
  if (issuer.includes("?")) fail("issuer", "must not have a query");
  const audiences = [audience ?? resource].flat();
  checkTexts("audience", audiences);
  if (audiences.length === 0) fail("audience", "must not be empty");
  if (algorithms) checkSome("algorithms", algorithms, JWS_ALGORITHMS);
  if (!(clockToleranceS >= 0 && clockToleranceS <= MAX_CLOCK_TOLERANCE_SECONDS)) {
    throw new RangeError(
      `Invalid options: "clockToleranceS" must be 0 to ${MAX_CLOCK_TOLERANCE_SECONDS}, but is ${clockToleranceS}`,
    );
  }
}

/** The keys, checked. @throws {TypeError} for one that is not a supported public key */
function readKeys(
  { keys }: { readonly keys: readonly PublicJwk[] },
): { readonly keys: readonly PublicJwk[] } {
  return {
    keys: keys.map((each, index) => {
      const key = checkJwk(each);
      if (typeof key === "string") throw new TypeError(`Invalid options: "jwks.keys[${index}]": ${key}`);
      return key;
    }),
  };
}

export type { CertificateProxy, Connect, JwsAlgorithm, PublicJwk };
export type { TrivetEvent } from "./events.ts";
export type { Principal } from "./http/principal.ts";
export type { AuthenticateOptions, ProtectOptions } from "./http/protect.ts";
export { IssuerUnavailableError } from "./oauth/resource_server/remote_token.ts";
