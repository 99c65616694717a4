/**
 * The authorization server as a service: its routes, and the one place that turns an error into a response.
 *
 * @module
 */
import type { VerifyToken } from "../http/bearer.ts";
import { BodyError } from "../http/body.ts";
import { allowEveryOrigin, answerPreflight } from "../http/cors.ts";
import { type Fields, jsonFields, respondJson, respondText } from "../http/response.ts";
import { createRouter, pathOf, type Route, type RouteHandler } from "../http/router.ts";
import type { Service } from "../http/service.ts";
import { StoreUnavailableError } from "../store/store.ts";
import { verifyAccessToken } from "./access_token.ts";
import type { AuthorizationServer, AuthorizationServerOptions } from "./authorization_server.ts";
import { authorize } from "./authorize.ts";
import { decideConsent } from "./consent.ts";
import { OAuthError } from "./error.ts";
import { introspect } from "./introspect.ts";
import { login, showLogin } from "./login.ts";
import { logout, showLogout } from "./logout.ts";
import { serveKeys, serveMetadata } from "./metadata.ts";
import { revoke } from "./revoke.ts";
import { commonScopes } from "./scope.ts";
import { createSigningKeys } from "./signing_keys.ts";
import { token } from "./token.ts";
import { userInfo } from "./user_info.ts";

export interface OAuthService extends Service {
  /** Who an access token stands for. */
  readonly verifyToken: VerifyToken;
}

const UNAVAILABLE = "The server cannot reach its storage: try again in a moment";
const ERROR_FIELDS = jsonFields(["cache-control", "no-store"], ["pragma", "no-cache"]);
// RFC 6749 §5.2: a 401 names the scheme that the client may use.
const CHALLENGE_FIELDS = jsonFields(
  ["cache-control", "no-store"],
  ["pragma", "no-cache"],
  ["www-authenticate", 'Basic realm="token", charset="UTF-8"'],
);

/** The authorization server. Its options are complete: `options.ts` makes them of what a user gives. */
export function authorizationServer(options: AuthorizationServerOptions): OAuthService {
  const { origin, pathname, protocol } = new URL(options.issuer);
  const base = pathname.replace(/\/$/, "");
  const as: AuthorizationServer = {
    ...options,
    base,
    origin,
    secure: protocol === "https:",
    commonScopes: commonScopes(options.scopes),
    configured: new Map(options.clients.map((client) => [client.id, client])),
    keys: createSigningKeys(options.store, options.now),
  };

  /** Endpoints for programs of every origin: JSON errors, CORS. */
  const api = (handle: RouteHandler): RouteHandler => async (request, context, parameters) => {
    try {
      return allowEveryOrigin(request, await handle(request, context, parameters));
    } catch (error) {
      return allowEveryOrigin(request, toResponse(error));
    }
  };
  /** Endpoints for people: pages and plain text, never readable by other origins. */
  const page = (handle: RouteHandler): RouteHandler => async (request, context, parameters) => {
    try {
      return await handle(request, context, parameters);
    } catch (error) {
      return toPage(error);
    }
  };

  const metadata = api(serveMetadata(as));
  const routes: Route[] = [
    { method: "POST", path: "/oauth/token", handle: api((request) => token(as, request)) },
    { method: "POST", path: "/oauth/introspect", handle: api((request) => introspect(as, request)) },
    { method: "POST", path: "/oauth/revoke", handle: api((request) => revoke(as, request)) },
    { method: "GET", path: "/api/user", handle: api((request) => userInfo(as, request)) },
    { method: "GET", path: "/oauth/authorize", handle: page((request) => authorize(as, request)) },
    { method: "POST", path: "/oauth/authorize", handle: page((request) => decideConsent(as, request)) },
    { method: "GET", path: "/login", handle: page((request) => showLogin(as, request)) },
    { method: "POST", path: "/login", handle: page((request, context) => login(as, request, context)) },
    { method: "GET", path: "/logout", handle: page(() => showLogout(as)) },
    { method: "POST", path: "/logout", handle: page((request) => logout(as, request)) },
    { method: "GET", path: "/.well-known/jwks.json", handle: api(serveKeys(as)) },
    { method: "GET", path: "/.well-known/oauth-authorization-server", handle: metadata },
  ];
  const route = createRouter({ base, routes, refuse });
  // RFC 8414 §3.1: for an issuer with a path the well-known part comes before it.
  const inserted = "/.well-known/oauth-authorization-server" + base;
  const programs = new Set(
    ["/oauth/token", "/oauth/introspect", "/oauth/revoke", "/api/user"].map((path) => base + path),
  );
  const isForPrograms = (path: string): boolean => programs.has(path) || path.includes("/.well-known/");

  function toResponse(error: unknown): Response {
    if (error instanceof OAuthError) return refuseJson(error);
    if (error instanceof BodyError) {
      return refuseJson(
        new OAuthError("invalid_request", error.message, { status: error.status === 413 ? 413 : 400 }),
      );
    }
    if (error instanceof StoreUnavailableError) {
      options.observe({ type: "store_unavailable", where: "oauth", error });
      return refuseJson(new OAuthError("temporarily_unavailable", UNAVAILABLE), [retryAfter(error)]);
    }
    options.observe({ type: "fault", where: "oauth", error });
    return refuseJson(new OAuthError("server_error", "The server failed: try again later"));
  }

  function toPage(error: unknown): Response {
    if (error instanceof BodyError) return respondText(error.status, error.message);
    if (error instanceof StoreUnavailableError) {
      options.observe({ type: "store_unavailable", where: "oauth", error });
      return respondText(503, UNAVAILABLE, [retryAfter(error)]);
    }
    options.observe({ type: "fault", where: "oauth", error });
    return respondText(500, "The server failed: try again later");
  }

  return {
    mounts: ["oauth", "api", "login", "logout", "/.well-known/jwks.json", inserted],
    verifyToken: (presented) => verifyAccessToken(as, presented),
    async fetch(request, context = {}) {
      if (request.method === "OPTIONS") {
        const preflight = isForPrograms(pathOf(request.url))
          ? answerPreflight(request, "GET, POST")
          : undefined;
        if (preflight) return preflight;
      }
      if (base !== "" && pathOf(request.url) === inserted) return metadata(request, context, {});
      return await route(request, context);
    },
  };
}

function refuseJson(error: OAuthError, more: Fields = []): Response {
  const fields = error.status === 401 ? CHALLENGE_FIELDS : ERROR_FIELDS;
  return respondJson(
    error.status,
    { error: error.code, error_description: error.message },
    more.length > 0 ? [...fields, ...more] : fields,
  );
}

/** RFC 9110 §10.2.3, in seconds. */
function retryAfter({ retryAfter }: StoreUnavailableError): readonly [string, string] {
  return ["retry-after", String(retryAfter)];
}

function refuse(status: 404 | 405, request: Request, allow: string): Response {
  if (status === 404) return respondText(404, "Nothing is here.");
  if (pathOf(request.url).endsWith("/oauth/token")) {
    const description = "The token endpoint takes POST with application/x-www-form-urlencoded";
    return respondJson(405, { error: "invalid_request", error_description: description }, [
      ...ERROR_FIELDS,
      ["allow", allow],
    ]);
  }
  return respondText(405, `Use ${allow} here.`, [["allow", allow]]);
}
