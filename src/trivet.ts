/**
 * Composes the three services into one fetch handler. The only file that knows two services: it joins them by
 * function types, `IdentifyCaller` (who calls) and `SkillSource` (what skills there are).
 *
 * @module
 */
import type { TrivetEvent } from "./events.ts";
import { homePage } from "./home.ts";
import { createLoopbackGuard } from "./http/network/loopback_guard.ts";
import { readBearer, TokenRefusal } from "./http/bearer.ts";
import type { IdentifyCaller } from "./http/principal.ts";
import { createProtection, type Protection } from "./http/protect.ts";
import { allowWellKnown, answerPreflight, isWellKnown } from "./http/cors.ts";
import { respondJson, respondText } from "./http/response.ts";
import { pathOf } from "./http/router.ts";
import { type RuntimeContext, toRequestContext, type WorkerContext } from "./http/runtime_context.ts";
import type { RequestContext, Service } from "./http/service.ts";
import { createCallerFinder } from "./http/network/trusted_proxy.ts";
import { type ToolServer, toolServer } from "./mcp/service.ts";
import { skillsExtension } from "./mcp/skills/skills_extension.ts";
import { resourceMetadataUrl } from "./oauth/endpoints/protected_resource.ts";
import { closeScopes } from "./oauth/grants/scope.ts";
import { authorizationServer, type OAuthService } from "./oauth/service.ts";
import { completeMcp } from "./mcp_options.ts";
import { completeSkills } from "./skills_options.ts";
import { checkIssuer, checkStore, completeOAuth, SCOPES, type TrivetOptions } from "./options.ts";
import { serverSecret } from "./server_secret.ts";
import { API_KEY_PREFIX, verifyApiKey } from "./skills/api_key.ts";
import { type SkillsService, skillsService } from "./skills/service.ts";

const UNKNOWN_KEY = new TokenRefusal(
  "invalid_token",
  "The access token or API key is unknown, expired or revoked",
);

const SKILL_CHANGES: ReadonlySet<TrivetEvent["type"]> = new Set([
  "skill_created",
  "skill_deleted",
  "skill_version_created",
  "skill_version_deleted",
]);

/** One server: `export default createTrivet(...)` runs on Deno, Bun and workerd as it is. */
export interface Trivet extends Protection {
  /** `context` and `worker` are what the runtime gives; each of them is known by its shape. */
  fetch(request: Request, context?: RuntimeContext, worker?: WorkerContext): Promise<Response>;
  readonly oauth: OAuthService | undefined;
  readonly skills: SkillsService | undefined;
  readonly mcp: ToolServer | undefined;
}

/**
 * Makes the handler. Everything that can be wrong with the options is found here.
 * @throws {TypeError | RangeError} naming the option and the rule
 */
export function createTrivet(options: TrivetOptions): Trivet {
  const issuer = checkIssuer(options);
  const store = checkStore(options.store);
  const now = options.now ?? (store.now ? () => store.now!() : Date.now);
  const observe = options.onEvent ?? ((_: TrivetEvent) => {});
  const base = new URL(issuer).pathname.replace(/\/$/, "");

  const secret = serverSecret(store);
  const place = new URL(issuer).origin + base;
  const resources = {
    mcp: { resource: `${place}/mcp`, name: "the tools of this server" },
    skills: {
      resource: `${place}/v1/skills`,
      name: "the skills of this server",
      scopes: ["skills:read", "skills:write"],
    },
    user: { resource: `${place}/api/user`, name: "your name and e-mail address" },
  };
  const own = [
    { resource: issuer, name: "this server" },
    resources.user,
    ...(options.mcp === false ? [] : [resources.mcp]),
    ...(options.skills === false ? [] : [resources.skills]),
  ];
  const oauthOptions = options.oauth === false ? undefined : options.oauth ?? {};
  const oauth = oauthOptions &&
    authorizationServer(completeOAuth(options, oauthOptions, own, { observe, now, secret }));

  /** The caller at a resource: by an API key of the Skills service, or by an access token that is for the resource. */
  const identifyAt = (resource: string): IdentifyCaller => (request, context = {}) => {
    const key = request.headers.get("x-api-key");
    const field = request.headers.get("authorization");
    return key === null && field === null
      ? Promise.resolve("none")
      : identify(resource, request, context, key, field ?? "");
  };
  const identify = async (
    resource: string,
    request: Request,
    context: RequestContext,
    key: string | null,
    field: string,
  ): ReturnType<IdentifyCaller> => {
    if (key !== null) return await verifyApiKey(store, key) ?? UNKNOWN_KEY;
    if (field.includes(API_KEY_PREFIX)) {
      return await verifyApiKey(store, readBearer(request) ?? "") ?? UNKNOWN_KEY;
    }
    const caller = await oauth?.identify(request, context, resource) ?? "none";
    return caller === "none" ? UNKNOWN_KEY : caller;
  };

  const skillsOptions = options.skills === false ? undefined : options.skills ?? {};
  const skills = skillsOptions && skillsService({
    store,
    base,
    identify: identifyAt(resources.skills.resource),
    resourceMetadata: oauth && resourceMetadataUrl(resources.skills.resource),
    ...completeSkills(skillsOptions, options.mcp === false || options.mcp?.auth !== "required"),
    cursorKey: secret,
    observe(event) {
      observe(event);
      // Skills are resources of the tool server, whose clients hear of new ones on every instance.
      if (SKILL_CHANGES.has(event.type)) {
        mcp?.listChanged("resources").catch((error) => observe({ type: "fault", where: "mcp", error }));
      }
    },
    now,
  });

  const implied = closeScopes(oauthOptions?.scopes ?? SCOPES);
  const mcpOptions = options.mcp === false ? undefined : options.mcp ?? {};
  const allowedHosts = [...options.allowedHosts ?? [], ...mcpOptions?.allowedHosts ?? []];
  const allowedOrigins = [...options.allowedOrigins ?? [], ...mcpOptions?.allowedOrigins ?? []];
  const mcp = mcpOptions && toolServer(completeMcp({ ...mcpOptions, allowedHosts, allowedOrigins }, {
    base,
    issuer,
    store,
    secret,
    now,
    extensions: skills && mcpOptions.skills !== false ? [skillsExtension(skills.catalog)] : [],
    identify: identifyAt(resources.mcp.resource),
    implied,
    observe,
    resourceMetadata: oauth && resourceMetadataUrl(resources.mcp.resource),
  }));

  const pages = new Set(
    ["", "/", "/oauth/authorize", "/login", "/logout", "/device"].map((path) => base + path),
  );
  const guard = createLoopbackGuard({ issuer, allowedHosts, allowedOrigins, pages });

  const mounted = new Map<string, Service>();
  for (const service of [mcp, oauth, skills]) {
    for (const mount of service?.mounts ?? []) mounted.set(mount, service!);
  }
  const findCaller = options.trustedProxies && createCallerFinder(options.trustedProxies);
  const running = {
    issuer,
    oauth: oauth !== undefined,
    skills: skills !== undefined,
    mcp: mcp !== undefined,
  };

  const toContext = (request: Request, given?: RuntimeContext, worker?: WorkerContext): RequestContext => {
    const direct = toRequestContext(request, given, worker);
    return findCaller ? findCaller(request, direct) : direct;
  };
  const protection = createProtection({
    identify: identifyAt,
    issuer,
    resources: new Map(
      [...own, ...oauthOptions?.resources ?? []].map((each) => [
        each.resource,
        oauth && resourceMetadataUrl(each.resource),
      ]),
    ),
    implied,
    toContext,
  });

  /** The service whose mount covers the path: by its first segment below the base, the whole path, or its first two. */
  function find(path: string): Service | undefined {
    if (path.startsWith(base + "/")) {
      const start = base.length + 1;
      const end = path.indexOf("/", start);
      const service = mounted.get(end < 0 ? path.slice(start) : path.slice(start, end)) ??
        mounted.get(path.slice(base.length)) ??
        mounted.get(path.slice(base.length, path.indexOf("/", end + 1) + 1));
      if (service) return service;
    }
    return mounted.get(path);
  }

  /** What is no service's. */
  function answerAround(request: Request, path: string): Response {
    if (path !== base + "/" && (path !== base || base === "")) {
      const preflight = isWellKnown(path) && answerPreflight(request, "GET, HEAD");
      const none = preflight || respondText(404, `Not found. See ${base}/ for the available endpoints.`);
      return allowWellKnown(request, none);
    }
    if (request.method === "GET" || request.method === "HEAD") return homePage(running);
    return respondText(405, "Use GET here.", [["allow", "GET, HEAD"]]);
  }

  return {
    oauth,
    skills,
    mcp,
    ...protection,
    async fetch(request, given, worker) {
      const context = toContext(request, given, worker);
      const path = pathOf(request.url);
      const service = find(path);
      try {
        // The tool server looks at Host and Origin itself, wherever the issuer is.
        const refusal = service && service === mcp ? undefined : guard?.refuse(request, path);
        if (refusal) return refusal;
        const response = service ? await service.fetch(request, context) : answerAround(request, path);
        return guard ? guard.finish(request, path, response) : response;
      } catch (error) {
        // Services answer their own errors: what comes here is a fault of theirs.
        observe({ type: "fault", where: "trivet", error });
        return respondJson(500, {
          error: "server_error",
          error_description: "The server failed: try again later",
        });
      }
    },
  };
}
