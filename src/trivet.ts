/**
 * Composes the three services into one fetch handler. The only file that imports more than one service: it connects them
 * by function types, `IdentifyCaller` (the principal of a request) and `SkillSource` (the available skills).
 *
 * @module
 */
import type { TrivetEvent } from "./events.ts";
import { showHome, showNotFound } from "./home.ts";
import { createLoopbackGuard } from "./http/network/loopback_guard.ts";
import type { IdentifyCaller } from "./http/principal.ts";
import { createProtection, type Protection } from "./http/protect.ts";
import type { Service } from "./http/service.ts";
import type { Gateway, GatewayParts } from "./gateway/option.ts";
import { createToolServer, type ToolServer } from "./mcp/service.ts";
import { skillsExtension } from "./mcp/skills/skills_extension.ts";
import { completeMcp } from "./options/mcp_options.ts";
import { type Handler, mount } from "./mount.ts";
import { resourceMetadataUrl } from "./oauth/endpoints/protected_resource.ts";
import { closeDefinedScopes } from "./oauth/grants/scope.ts";
import { completePages } from "./oauth/pages/settings.ts";
import { pagePaths } from "./oauth/page_paths.ts";
import { createOAuthService, type OAuthService } from "./oauth/service.ts";
import { checkCanonicalIssuer } from "./options/canonical_issuer.ts";
import { completeOAuth, SCOPES } from "./options/oauth_options.ts";
import { checkMade, checkNames, type Names } from "./options/option_check.ts";
import { MCP_NAMES, OAUTH_NAMES, SERVER_NAMES, SKILLS_NAMES } from "./options/option_names.ts";
import type { TrivetOptions } from "./options/trivet_options.ts";
import { checkAllowed, completeServer, findRetryAfter } from "./options/server_options.ts";
import { identifyByApiKey } from "./skills/identify.ts";
import { createSkillsService, type SkillsService } from "./skills/service.ts";
import { completeSkills } from "./options/skills_options.ts";

const SKILL_CHANGES: ReadonlySet<TrivetEvent["type"]> = new Set([
  "skill_created",
  "skill_deleted",
  "skill_version_created",
  "skill_version_deleted",
]);

/** One server: `export default createTrivet(...)` runs on Deno, Bun and workerd as it is. */
export interface Trivet extends Handler, Protection {
  readonly oauth: OAuthService | undefined;
  readonly skills: SkillsService | undefined;
  readonly mcp: ToolServer | undefined;
  readonly gateway: Gateway | undefined;
}

/**
 * Makes the handler. Checks all options.
 * @throws {TypeError | RangeError} naming the option and the rule
 */
export function createTrivet(options: TrivetOptions): Trivet {
  checkAllNames(options);
  // `false`, as for `mcp` and `skills`, is what authors without types may give.
  options = { ...options, gateway: options.gateway || undefined, admin: options.admin || undefined };
  checkMade("gateway", options.gateway, "connect", "gateway() of trivet/gateway");
  checkMade("admin", options.admin, "createService", "admin() of trivet/admin");
  const { issuer } = options;
  const server = completeServer("issuer", issuer, options);
  checkCanonicalIssuer(issuer);
  const { base, observe } = server;
  const place = server.origin + base;
  const resources = {
    mcp: { resource: `${place}/mcp`, name: "the tools of this server" },
    skills: {
      resource: `${place}/v1/skills`,
      name: "the skills of this server",
      scopes: ["skills:read", "skills:write"],
    },
    admin: { resource: `${place}/admin`, name: "the administration of this server", scopes: ["admin"] },
    user: { resource: `${place}/api/user`, name: "your name and e-mail address" },
  };
  const own = [
    { resource: issuer, name: "this server" },
    resources.user,
    ...(options.mcp === false ? [] : [resources.mcp]),
    ...(options.skills === false ? [] : [resources.skills]),
    ...(options.admin ? [resources.admin] : []),
  ];
  const oauthOptions = options.oauth === false ? undefined : options.oauth ?? {};
  const completed = oauthOptions && completeOAuth(
    { issuer, ...server },
    options.admin
      ? { ...oauthOptions, clients: [...oauthOptions.clients ?? [], options.admin.client(place)] }
      : oauthOptions,
    own,
  );
  const oauth = completed && createOAuthService({
    ...completed,
    connections: options.gateway && ((...page) => gateway!.connectionPages(...page)),
  });

  /** The caller at a resource: by an API key of the Skills service, or by an access token for the resource. */
  const identifyAt = (resource: string): IdentifyCaller =>
    identifyByApiKey(
      server.store,
      oauth && ((request, context = {}) => oauth.identify(request, context, resource)),
    );

  /** Skills are resources of the tool server, whose clients are notified of changes on every instance. */
  function observeSkills(event: TrivetEvent): void {
    observe(event);
    if (SKILL_CHANGES.has(event.type)) {
      mcp?.listChanged("resources").catch((error) => observe({ type: "fault", where: "mcp", error }));
    }
  }

  const skillsOptions = options.skills === false ? undefined : options.skills ?? {};
  const skills = skillsOptions && createSkillsService({
    ...completeSkills(skillsOptions, options.mcp === false || options.mcp?.auth !== "required"),
    ...server,
    cursorKey: server.secret,
    identify: identifyAt(resources.skills.resource),
    resourceMetadata: oauth && resourceMetadataUrl(resources.skills.resource),
    observe: observeSkills,
  });

  const implied = closeDefinedScopes(oauthOptions?.scopes ?? SCOPES);
  const mcpOptions = options.mcp === false ? undefined : options.mcp ?? {};
  const allowedHosts = [...options.allowedHosts ?? [], ...mcpOptions?.allowedHosts ?? []];
  const allowedOrigins = [...options.allowedOrigins ?? [], ...mcpOptions?.allowedOrigins ?? []];
  checkAllowed({ allowedHosts, allowedOrigins });
  const toolCounts = options.admin?.countTools(observe);
  if (options.gateway && !mcpOptions) throw new TypeError('Invalid options: "gateway" needs "mcp"');
  const gateway: GatewayParts | undefined = options.gateway?.connect({
    ...server,
    observe: toolCounts?.observe ?? observe,
    issuer,
    implied,
    oauth,
    skills: mcpOptions?.skills === false ? undefined : skills?.catalog,
    name: mcpOptions?.name ?? "trivet",
  });
  const mcp = mcpOptions &&
    createToolServer(completeMcp({ ...mcpOptions, allowedHosts, allowedOrigins }, {
      ...server,
      ...gateway?.server,
      observe: toolCounts?.observe ?? observe,
      issuer,
      extensions: skills && mcpOptions.skills !== false ? [skillsExtension(skills.catalog)] : [],
      identify: identifyAt(resources.mcp.resource),
      implied,
      resourceMetadata: oauth && resourceMetadataUrl(resources.mcp.resource),
    }));

  if (mcp) gateway?.attach(mcp);

  if (options.admin && !oauth) throw new TypeError('Invalid options: "admin" needs "oauth"');
  const admin = options.admin && oauth && options.admin.createService({
    ...server,
    observe: observeSkills,
    issuer,
    identify: identifyAt(resources.admin.resource),
    resourceMetadata: resourceMetadataUrl(resources.admin.resource),
    providers: oauth.providerAccess,
    oauth: completed,
    pages: completed!.pages,
    blobs: skillsOptions?.blobs,
    gateway: gateway?.gateway,
    tools: mcp && (() => toolCounts!.list(mcp.listTools())),
  });

  const pageServer = { ...server, issuer, pages: completed?.pages ?? completePages() };
  const running = {
    oauth: oauth !== undefined,
    skills: skills !== undefined,
    mcp: mcp !== undefined,
    account: oauthOptions !== undefined && oauthOptions.account !== false,
  };
  const pages = pagePaths(base, ["", "/"]);
  return {
    oauth,
    skills,
    mcp,
    gateway: gateway?.gateway,
    ...mount(server, {
      services: [mcp, oauth, skills, admin, ...gateway?.services ?? []].flatMap((service): Service[] =>
        service ? [service] : []
      ),
      guard: createLoopbackGuard({ issuer, allowedHosts, allowedOrigins, pages }),
      unguarded: mcp,
      home: (request) => showHome(pageServer, request, running),
      notFound: (request) => showNotFound(pageServer, request, true),
    }),
    ...createProtection({
      findRetryAfter,
      issuer,
      resources: new Map(
        [...own, ...oauthOptions?.resources ?? []].map((
          { resource },
        ) => [resource, oauth && resourceMetadataUrl(resource)]),
      ),
      identify: identifyAt,
      implied,
      toContext: server.toContext,
      now: server.now,
      limiter: server.limiter,
    }),
  };
}

/** @throws {TypeError} naming the option that does not exist */
function checkAllNames(options: TrivetOptions): void {
  const names: Names<TrivetOptions> = {
    ...SERVER_NAMES,
    issuer: "string",
    oauth: "unknown",
    skills: "unknown",
    mcp: "unknown",
    gateway: "object",
    admin: "object",
  };
  checkNames("options", options, names);
  const groups = { oauth: OAUTH_NAMES, skills: SKILLS_NAMES, mcp: { ...MCP_NAMES, skills: "boolean" } };
  for (const group of ["oauth", "skills", "mcp"] as const) {
    const given = options[group] ?? false;
    if (given !== false) checkNames(group, given, groups[group]);
  }
}
