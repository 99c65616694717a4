/**
 * The authorization server as a service: its routes, and the one place that turns an error into a response.
 *
 * @module
 */
import { passwords } from "../crypto/password.ts";
import { createPasswordMemory } from "../crypto/password_memory.ts";
import type { TokenRefusal } from "../http/bearer.ts";
import type { Principal, VerifyToken } from "../http/principal.ts";
import { BodyError } from "../http/body/body_error.ts";
import { allowEveryOrigin } from "../http/cors/cors.ts";
import { answerPreflight } from "../http/cors/preflight.ts";
import { loadOnDemand } from "../http/load_on_demand.ts";
import { createPublicFetch, findConnect } from "../http/network/public_fetch.ts";
import { RateLimitError } from "../http/rate_limit.ts";
import {
  type Fields,
  jsonFields,
  NO_STORE_FIELDS,
  respondJson,
  SERVER_FAILED,
  STORE_UNAVAILABLE,
} from "../http/response.ts";
import { createRouter, pathOf, type Route, type RouteHandler } from "../http/router.ts";
import type { RequestContext, Service } from "../http/service.ts";
import { StoreUnavailableError } from "../store/store.ts";
import type { AuthorizationServer, AuthorizationServerOptions } from "./authorization_server.ts";
import { accountRoutes } from "./account/routes.ts";
import { approvalRoutes } from "./approvals/routes.ts";
import { authorize } from "./endpoints/authorize.ts";
import { OAuthError, plain } from "./error.ts";
import { refuseRoute, respondWithPage, retryAfter } from "./endpoints/error_page.ts";
import { factorRoutes } from "./factors/routes.ts";
import { login, showLogin } from "./endpoints/login.ts";
import { createLoginThrottle } from "./users/throttle/login_throttle.ts";
import { serveKeys, serveMetadata } from "./endpoints/metadata.ts";
import { mailRoutes } from "./mail/routes.ts";
import type { AssertionRequest } from "./openid/id_jag.ts";
import { openIdRoutes } from "./openid/routes.ts";
import { createPasswordQueue } from "./users/password_queue.ts";
import { identifyCaller, verifyAccessToken } from "./tokens/protect.ts";
import { serveProtectedResources } from "./endpoints/protected_resource.ts";
import { createRemoteDocuments } from "./clients/remote_document.ts";
import { createRecentCounts } from "./users/throttle/recent_counts.ts";
import { defineResources } from "./grants/resource.ts";
import { defineSignIn, signInRoutes } from "./sign_in/routes.ts";
import type { ProviderAccess } from "./sign_in/provider_tokens.ts";
import { signUpRoutes } from "./sign_up/routes.ts";
import { createStorageQuota } from "./storage_quota.ts";
import { defineScopes } from "./grants/scope.ts";
import { pagePaths } from "./page_paths.ts";
import { createSigningKeys, maxTokenLifetime } from "./tokens/signing_keys.ts";
import { createThrottle } from "./users/throttle/throttle.ts";
import { token } from "./endpoints/token.ts";
import { userInfo } from "./endpoints/user_info.ts";
import { createUserLimit } from "./users/user_limit.ts";

export interface OAuthService extends Service {
  /** The principal of an access token that was issued for the whole server and is bound to no key. */
  readonly verifyToken: VerifyToken;
  /** For `getProviderToken` of `trivet/sign-in`. */
  readonly providerAccess: ProviderAccess;
  /** Identifies a user of this server to another authorization server (ID-JAG): the assertion, a JWT for five minutes. */
  issueIdentityAssertion(user: string, request: AssertionRequest): Promise<string>;
  /** The principal of a request to a protected resource; `"none"` without a token. */
  identify(
    request: Request,
    context: RequestContext,
    resource: string,
  ): Promise<Principal | "none" | TokenRefusal>;
}

/** RFC 8414 section 3 allows another well-known suffix: many clients request only that of OpenID Connect. */
const METADATA_PATHS = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];
const ERROR_FIELDS = jsonFields(...NO_STORE_FIELDS);
// RFC 6749 §5.2: a 401 names the authentication scheme that the client may use.
const CHALLENGE_FIELDS = jsonFields(
  ...NO_STORE_FIELDS,
  ["www-authenticate", 'Basic realm="token", charset="UTF-8"'],
);

const revoke = loadOnDemand(async () => (await import("./endpoints/revoke.ts")).revoke);
const introspect = loadOnDemand(async () => (await import("./endpoints/introspect.ts")).introspect);
const loadLogout = () => import("./endpoints/logout.ts");
const showLogout = loadOnDemand(async () => (await loadLogout()).showLogout);
const logout = loadOnDemand(async () => (await loadLogout()).logout);
const decideConsent = loadOnDemand(async () => (await import("./consent/decide_consent.ts")).decideConsent);
const loadDevicePage = () => import("./consent/device_consent.ts");
const showDevice = loadOnDemand(async () => (await loadDevicePage()).showDevice);
const answerDevice = loadOnDemand(async () => (await loadDevicePage()).answerDevice);
const authorizeDevice = loadOnDemand(async () =>
  (await import("./endpoints/device_authorization.ts")).authorizeDevice
);
const serveFormPostScript = loadOnDemand(async () => {
  const { serveFormPostScript } = await import("./response_modes/form_post.ts");
  return () => Promise.resolve(serveFormPostScript());
});
const pushRequest = loadOnDemand(async () => (await import("./endpoints/par.ts")).pushRequest);
const loadRegister = () => import("./endpoints/register.ts");
const register = loadOnDemand(async () => (await loadRegister()).register);
const showRegistration = loadOnDemand(async () => (await loadRegister()).showRegistration);
const updateRegistration = loadOnDemand(async () => (await loadRegister()).updateRegistration);
const deleteRegistration = loadOnDemand(async () => (await loadRegister()).deleteRegistration);

/** The authorization server. `options/oauth_options.ts` completes its options. */
export function createOAuthService(options: AuthorizationServerOptions): OAuthService {
  const { origin, pathname, protocol } = new URL(options.issuer);
  const base = pathname.replace(/\/$/, "");
  const connect = findConnect(options.connect);
  const { watch, limitUser } = createUserLimit();
  const as: AuthorizationServer = {
    ...options,
    limitUser,
    base,
    origin,
    secure: protocol === "https:",
    ...defineScopes(options.scopes),
    configured: new Map(options.clients.map((client) => [client.id, client])),
    protectedResources: defineResources(options.resources),
    keys: createSigningKeys({ ...options, maxTokenLifetime: maxTokenLifetime(options) }),
    documents: createRemoteDocuments(createPublicFetch({ connect }), options.now),
    ...defineSignIn(options),
    throttle: createThrottle(options.store, options.now),
    storageQuota: createStorageQuota(options),
    loginThrottle: createLoginThrottle(options.store, options.now),
    passwords,
    passwordMemory: createPasswordMemory(options.now),
    passwordQueue: createPasswordQueue(options.now),
    wrongGuesses: createRecentCounts(options.now),
  };

  /** Endpoints for programs: JSON errors, CORS for every origin. */
  const api = (handle: RouteHandler): RouteHandler => async (request, context, parameters) => {
    try {
      return allowEveryOrigin(request, await handle(request, context, parameters));
    } catch (error) {
      return allowEveryOrigin(request, toResponse(error));
    }
  };
  /** Endpoints for people: pages and plain text, without CORS. */
  const page = (handle: RouteHandler): RouteHandler => async (request, context, parameters) => {
    watch(request, context);
    try {
      return await handle(request, context, parameters);
    } catch (error) {
      return await respondWithPage(as, request, error);
    }
  };

  const metadata = api(serveMetadata(as));
  /** Documents whose path depends on the path of the issuer, by full path. */
  const documents = new Map<string, RouteHandler>([
    // RFC 8414 §3.1: the well-known segment comes before the path of the issuer.
    ...METADATA_PATHS.map((path) => [path + base, metadata] as const),
    ...[...serveProtectedResources(as)].map(([path, handle]) => [path, api(handle)] as const),
  ]);
  const routes: Route[] = [
    { method: "POST", path: "/oauth/token", handle: api((request, context) => token(as, request, context)) },
    {
      method: "POST",
      path: "/oauth/introspect",
      handle: api((request, context) => introspect(as, request, context)),
    },
    {
      method: "POST",
      path: "/oauth/revoke",
      handle: api((request, context) => revoke(as, request, context)),
    },
    {
      method: "POST",
      path: "/oauth/par",
      handle: api((request, context) => pushRequest(as, request, context)),
    },
    {
      method: "POST",
      path: "/oauth/device_authorization",
      handle: api((request, context) => authorizeDevice(as, request, context)),
    },
    ...registrationRoutes(as, api),
    ...openIdRoutes(as, api, page),
    { method: "GET", path: "/api/user", handle: api((request, context) => userInfo(as, request, context)) },
    {
      method: "GET",
      path: "/oauth/authorize",
      handle: page((request, context) => authorize(as, request, context)),
    },
    {
      method: "POST",
      path: "/oauth/authorize",
      handle: page((request, context) => decideConsent(as, request, context)),
    },
    ...(as.responseModes.length > 0
      ? [{ method: "GET", path: "/oauth/form_post.js", handle: page(() => serveFormPostScript()) } as const]
      : []),
    { method: "GET", path: "/device", handle: page((request) => showDevice(as, request)) },
    {
      method: "POST",
      path: "/device",
      handle: page((request, context) => answerDevice(as, request, context)),
    },
    { method: "GET", path: "/login", handle: page((request, context) => showLogin(as, request, context)) },
    { method: "POST", path: "/login", handle: page((request, context) => login(as, request, context)) },
    ...[mailRoutes, signUpRoutes, factorRoutes, signInRoutes, accountRoutes, approvalRoutes]
      .flatMap((routesOf) => routesOf(as, page)),
    { method: "GET", path: "/logout", handle: page((request) => showLogout(as, request)) },
    { method: "POST", path: "/logout", handle: page((request, context) => logout(as, request, context)) },
    { method: "GET", path: "/.well-known/jwks.json", handle: api(serveKeys(as)) },
    ...METADATA_PATHS.map((path) => ({ method: "GET", path, handle: metadata } as const)),
  ];
  const route = createRouter({
    base,
    routes,
    documents,
    refuse: (...refused) => refuseRoute(as, ...refused),
  });
  /** Pages for people: preflight requests of other origins get no CORS fields. */
  const pages = pagePaths(base);

  function toResponse(error: unknown): Response {
    if (error instanceof OAuthError) return refuseJson(error);
    if (error instanceof BodyError) {
      return refuseJson(
        new OAuthError("invalid_request", error.message, { status: error.status === 413 ? 413 : 400 }),
      );
    }
    // RFC 6749 has no code for a limit; RFC 6585 §4 has the status.
    const isLimited = error instanceof RateLimitError;
    if (isLimited || error instanceof StoreUnavailableError) {
      if (!isLimited) options.observe({ type: "store_unavailable", where: "oauth", error });
      const text = isLimited ? error.message : STORE_UNAVAILABLE;
      const status = isLimited ? 429 : 503;
      return refuseJson(new OAuthError("temporarily_unavailable", text, { status }), [retryAfter(error)]);
    }
    options.observe({ type: "fault", where: "oauth", error });
    return refuseJson(new OAuthError("server_error", SERVER_FAILED));
  }

  return {
    mounts: [
      "oauth",
      "api",
      "login",
      "logout",
      "device",
      "account",
      "/.well-known/jwks.json",
      ...METADATA_PATHS,
      ...documents.keys(),
    ],
    providerAccess: as,
    issueIdentityAssertion: async (user, request) =>
      (await import("./openid/id_jag.ts")).signIdJag(as, user, { ...request }),
    verifyToken: (presented) => verifyAccessToken(as, presented),
    identify: (request, context, resource) => identifyCaller(as, request, context, resource),
    limitName: "oauth",
    refuseLimited: (request, error) =>
      pages.has(pathOf(request.url))
        ? respondWithPage(as, request, error)
        : allowEveryOrigin(request, toResponse(error)),
    fetch(request, context = {}) {
      if (request.method === "OPTIONS") {
        const preflight = pages.has(pathOf(request.url))
          ? undefined
          : answerPreflight(request, "GET, POST, PUT, DELETE");
        if (preflight) return Promise.resolve(preflight);
      }
      return Promise.resolve(route(request, context));
    },
  };
}

function refuseJson(error: OAuthError, more: Fields = error.fields): Response {
  const fields = error.code === "invalid_client" ? CHALLENGE_FIELDS : ERROR_FIELDS;
  return respondJson(
    error.status,
    { error: error.code, error_description: plain(error.message, 1000) },
    more.length > 0 ? [...fields, ...more] : fields,
  );
}

/** RFC 7591 and RFC 7592; no routes when the operator turned registration off. */
function registrationRoutes(as: AuthorizationServer, api: (handle: RouteHandler) => RouteHandler): Route[] {
  if (as.registration === "off") return [];
  const path = "/oauth/register/:id";
  return [
    {
      method: "POST",
      path: "/oauth/register",
      handle: api((request, context) => register(as, request, context)),
    },
    { method: "GET", path, handle: api((request, _, { id }) => showRegistration(as, request, id!)) },
    {
      method: "PUT",
      path,
      handle: api((request, context, { id }) => updateRegistration(as, request, context, id!)),
    },
    { method: "DELETE", path, handle: api((request, _, { id }) => deleteRegistration(as, request, id!)) },
  ];
}
