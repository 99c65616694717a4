/**
 * The administration over HTTP: each operation is a route below `/admin`. Callers are identified by the `Authorization`
 * field or an API key, never by a cookie, so that no page of another site can act for an administrator.
 *
 * @module
 */
import { randomId } from "../crypto/secret.ts";
import { bearerChallenge, TokenRefusal } from "../http/bearer.ts";
import { readText } from "../http/body/body.ts";
import { BodyError } from "../http/body/body_error.ts";
import type { Principal } from "../http/principal.ts";
import {
  type Fields,
  jsonFields,
  NO_STORE,
  respond,
  respondJson,
  SERVER_FAILED,
  STORE_UNAVAILABLE,
} from "../http/response.ts";
import { RateLimitError } from "../http/rate_limit.ts";
import { createRouter, pathOf, type PathParameters, type Route } from "../http/router.ts";
import type { RequestContext, Service } from "../http/service.ts";
import { maxTokenLifetime } from "../oauth/tokens/signing_keys.ts";
import { StoreUnavailableError } from "../store/store.ts";
import { describeApi } from "./openapi.ts";
import { type AdminContext, AdminError, type AdminErrorType, type AdminOperation } from "./operation.ts";
import { ADMIN_OPERATIONS, callOperation } from "./operations.ts";
import type { AdminServer } from "./option.ts";
import { createAdminPage, PAGE_PATHS } from "./page/admin_page.ts";

const MAX_BODY_BYTES = 256 * 1024;
const SCOPE = "admin";
const FIELDS = jsonFields(NO_STORE, ["x-content-type-options", "nosniff"]);
const EMPTY_FIELDS: Fields = [NO_STORE];
const DOCUMENT_FIELDS = jsonFields(["cache-control", "public, max-age=300"], [
  "x-content-type-options",
  "nosniff",
]);

/** A refusal with header fields. */
class HttpRefusal extends AdminError {
  readonly fields: Fields;

  constructor(type: AdminErrorType, message: string, fields: Fields, status?: number) {
    super(type, message, status === undefined ? {} : { status });
    this.fields = fields;
  }
}

/** The service. */
export function createAdminService(server: AdminServer): Service {
  const { store, now, observe, issuer, base, identify, resourceMetadata, oauth } = server;
  const challenge = { scope: SCOPE, resource_metadata: resourceMetadata };
  const shared = {
    store,
    now,
    observe,
    issuer,
    providers: server.providers,
    defaultRole: oauth.defaultRole,
    passwordIterations: oauth.passwordIterations,
    redirectSchemes: oauth.redirectSchemes,
    maxTokenLifetime: maxTokenLifetime(oauth),
    configuredClients: new Map(oauth.clients.map((client) => [client.id, client])),
    scopes: Object.keys(oauth.scopes),
    blobs: server.blobs,
    tools: server.tools,
    gateway: server.gateway,
  };

  /** Who calls. @throws {HttpRefusal} 401 without valid credentials, 403 without the scope */
  async function authorize(request: Request, context: RequestContext): Promise<Principal> {
    const caller = await identify(request, context);
    if (caller === "none") {
      const message =
        "Send an access token or an API key with the scope admin: Authorization: Bearer <token>";
      throw new HttpRefusal("authentication_error", message, [[
        "www-authenticate",
        bearerChallenge(challenge),
      ]]);
    }
    if (caller instanceof TokenRefusal) {
      throw new HttpRefusal("authentication_error", caller.description, caller.challenge(challenge));
    }
    if (!caller.scopes.has(SCOPE)) {
      const error_description = "The access token or API key lacks the scope admin";
      const value = bearerChallenge({ error: "insufficient_scope", error_description, ...challenge });
      throw new HttpRefusal("permission_error", error_description, [["www-authenticate", value]]);
    }
    return caller;
  }

  async function run(
    operation: AdminOperation,
    request: Request,
    context: RequestContext,
    parameters: PathParameters,
  ): Promise<Response> {
    const requestId = randomId("req_");
    try {
      const hasBody = operation.method === "POST" || operation.method === "PATCH";
      // Before the credentials are checked: they may be revoked while the client holds the body back.
      const body = hasBody && hasCredentials(request) ? await readText(request, MAX_BODY_BYTES) : "";
      const caller = await authorize(request, context);
      await context.limitCaller?.(caller);
      const { subject, client } = caller;
      const given = hasBody ? parseBody(body, request) : readQuery(request, operation);
      const twice = Object.keys(parameters).find((name) => Object.hasOwn(given, name));
      if (twice !== undefined) {
        throw new AdminError("invalid_request_error", `${twice}: is part of the path`);
      }
      const actor = subject ?? client ?? "unknown";
      const admin: AdminContext = { ...shared, actor };
      const answer = await callOperation(admin, operation.name, { ...given, ...parameters });
      return withRequestId(
        answer === undefined ? respond(204, null, EMPTY_FIELDS) : respondJson(200, answer, FIELDS),
        requestId,
      );
    } catch (error) {
      return refuse(error, requestId);
    }
  }

  function refuse(error: unknown, requestId: string): Response {
    if (error instanceof AdminError) {
      const fields = error instanceof HttpRefusal ? error.fields : [];
      return respondError(error.status, error.type, error.message, requestId, fields);
    }
    if (error instanceof RateLimitError) return respondLimited(error, requestId);
    if (error instanceof BodyError) {
      const type = error.status === 413 ? "request_too_large" : "invalid_request_error";
      return respondError(error.status, type, error.message, requestId);
    }
    if (error instanceof StoreUnavailableError) {
      observe({ type: "store_unavailable", where: "admin", error });
      const fields: Fields = [["retry-after", String(error.retryAfter)]];
      return respondError(503, "overloaded_error", STORE_UNAVAILABLE, requestId, fields);
    }
    observe({ type: "fault", where: "admin", error });
    return respondError(500, "api_error", SERVER_FAILED, requestId);
  }

  const document = JSON.stringify(describeApi(issuer));
  const page = createAdminPage(server);
  const routes: Route[] = [
    ...PAGE_PATHS.map((path): Route => ({ method: "GET", path, handle: () => page(path) })),
    {
      method: "GET",
      path: "/admin/openapi.json",
      handle: () => respond(200, document, DOCUMENT_FIELDS),
    },
    ...Object.values(ADMIN_OPERATIONS).map((operation): Route => ({
      method: operation.method,
      path: `/admin${operation.path}`,
      handle: (request, context, parameters) => run(operation, request, context, parameters),
    })),
  ];
  const dispatch = createRouter({
    base,
    routes,
    refuse(status, request, allow) {
      const requestId = randomId("req_");
      if (status === 404) {
        const message = `Not found: ${pathOf(request.url).slice(0, 200)}`;
        return respondError(404, "not_found_error", message, requestId);
      }
      const message = `Method not allowed. Allowed: ${allow}.`;
      return respondError(405, "invalid_request_error", message, requestId, [["allow", allow]]);
    },
  });
  return { mounts: ["admin"], fetch: async (request, context = {}) => await dispatch(request, context) };
}

/** Without credentials a request is refused before its body is read. */
function hasCredentials({ headers }: Request): boolean {
  return headers.has("authorization") || headers.has("x-api-key");
}

/** @throws {BodyError} 400 or 415 */
function parseBody(text: string, { headers }: Request): Readonly<Record<string, unknown>> {
  if (text === "") return {};
  const mediaType = (headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
  if (mediaType !== "application/json") {
    throw new BodyError(415, "Unsupported media type: send application/json");
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw new BodyError(400, "The body is not valid JSON", { cause });
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new BodyError(400, "The body must be a JSON object");
  }
  return body as Readonly<Record<string, unknown>>;
}

/** The parameters of the query; numbers and flags as their schema says. @throws {AdminError} for one that is repeated */
function readQuery(request: Request, { input }: AdminOperation): Readonly<Record<string, unknown>> {
  const start = request.url.indexOf("?");
  if (start < 0) return {};
  const properties = input.properties as Readonly<Record<string, { readonly type?: unknown }>>;
  const query: [string, unknown][] = [];
  for (const [name, value] of new URLSearchParams(request.url.slice(start + 1))) {
    if (query.some(([each]) => each === name)) {
      throw new AdminError("invalid_request_error", `${name.slice(0, 100)}: must not be repeated`);
    }
    const isNumber = Object.hasOwn(properties, name) && properties[name]!.type === "integer";
    query.push([name, isNumber && /^\d{1,15}$/.test(value) ? Number(value) : value]);
  }
  return Object.fromEntries(query);
}

/** 429, also for an address that is over a limit before the caller is known. */
export function respondLimited(error: RateLimitError, requestId: string = randomId("req_")): Response {
  const fields: Fields = [["retry-after", String(error.retryAfter)]];
  return respondError(429, "rate_limit_error", error.message, requestId, fields);
}

function respondError(
  status: number,
  type: AdminErrorType,
  message: string,
  requestId: string,
  fields: Fields = [],
): Response {
  const body = { type: "error", error: { type, message }, request_id: requestId };
  return withRequestId(respondJson(status, body, [...FIELDS, ...fields]), requestId);
}

function withRequestId(response: Response, requestId: string): Response {
  response.headers.set("request-id", requestId);
  return response;
}
