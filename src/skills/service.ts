/**
 * The Skills service: its routes, the permission that each needs, and how a request becomes a response.
 *
 * @module
 */
import type { FindSecrets } from "../crypto/server_secrets.ts";
import type { Observe } from "../events.ts";
import type { IdentifyCaller } from "../http/principal.ts";
import { allowEveryOrigin } from "../http/cors/cors.ts";
import { answerPreflight } from "../http/cors/preflight.ts";
import { loadOnDemand } from "../http/load_on_demand.ts";
import type { Fields } from "../http/response.ts";
import { createRouter, pathOf, type Route, type RouteHandler } from "../http/router.ts";
import type { Service } from "../http/service.ts";
import type { Store } from "../store/store.ts";
import { answerJson, newRequestId, refuse, requestIdFields } from "./api/answer.ts";
import { checkStillValid, createAuthorize, type Need } from "./api/authorize.ts";
import { createLedger } from "./blobs/blob_ledger.ts";
import type { BlobStore } from "./blobs/blob_store.ts";
import type { Endpoint, SkillsContext } from "./api/call.ts";
import { type Catalog, createCatalog } from "./disclosure/catalog.ts";
import { dialectOf } from "./api/dialect.ts";
import { type Diagnostic, type LocalSkill, openDirectory } from "./local/directory.ts";
import { contentEndpoints } from "./api/content_endpoints.ts";
import { createDiscovery } from "./discovery/discovery.ts";
import { createEntries } from "./disclosure/entries.ts";
import type { SkillFolder } from "./local/folder.ts";
import { createLibrary } from "./disclosure/library.ts";
import type { MessagesOptions } from "./messages/messages.ts";
import { completeUpstream } from "./messages/upstream_options.ts";
import { mayMessage, mayRead, mayWrite } from "./permission.ts";
import type { PublicSkillsOptions } from "./discovery/public_skills.ts";
import type { MarkdownRules } from "./package/rules.ts";
import { skillEndpoints } from "./api/skill_endpoints.ts";
import { createUploadReader, type UploadOptions } from "./api/upload.ts";
import { createUsage } from "./api/usage.ts";
import { usageEndpoints } from "./api/usage_endpoints.ts";
import { validateEndpoint } from "./api/validate_endpoint.ts";
import { versionEndpoints } from "./api/version_endpoints.ts";

/** The complete options of the Skills service; `options/skills_options.ts` says what each is for. */
export interface SkillsServiceOptions {
  readonly store: Store;
  readonly base: string;
  readonly identify: IdentifyCaller;
  readonly auth: "required" | "off";
  /** Where the RFC 9728 document is; left out of challenges when there is none. */
  readonly resourceMetadata?: string | undefined;
  readonly folders: readonly SkillFolder[];
  /** Where files are kept; in the store, when left out. */
  readonly blobs?: BlobStore | undefined;
  /** Bytes. */
  readonly uploadLimit: number;
  readonly packageRules: MarkdownRules;
  /** How much uploads may hold together, and how slow they may be. */
  readonly intake?: Omit<UploadOptions, "limit"> | undefined;
  readonly skillsPerRequest: number;
  /** `undefined` disables `/v1/messages`. */
  readonly messages:
    | Pick<MessagesOptions, "upstream" | "markers" | "bodyLimit" | "memory" | "mostRounds">
    | undefined;
  readonly openai: boolean;
  readonly unknownBetas: "ignore" | "refuse";
  /** Skills that anyone may read without a key; `undefined` disables discovery. */
  readonly discovery?: Pick<PublicSkillsOptions, "local" | "workspaces"> | undefined;
  /** Secrets that all instances share. */
  readonly cursorKey: FindSecrets;
  readonly observe: Observe;
  readonly now: () => number;
}

export interface SkillsService extends Service {
  /** Skills for other services, level by level. */
  readonly catalog: Catalog;
  /** Problems of the local folders. */
  diagnostics(): Promise<readonly Diagnostic[]>;
  /** The skills in the local folders now, for the operator: not counted as disclosed. */
  localSkills(): Promise<readonly LocalSkill[]>;
  /** Writes pending usage counts. Call it before the store is closed. */
  flush(): Promise<void>;
  /**
   * Removes files without references, including those that a crash left behind; resolves to their number. Call it
   * regularly, on any instance.
   */
  collectGarbage(): Promise<number>;
}

const METHODS = "GET, POST, DELETE";
const READ: Need = { may: mayRead, scope: "skills:read" };
const MESSAGE: Need = { may: mayMessage, scope: "messages:write" };
const WRITE: Need = { may: mayWrite, scope: "skills:write" };

/** The Skills service. */
export function createSkillsService(options: SkillsServiceOptions): SkillsService {
  const { store, base, openai, now } = options;
  const usage = createUsage(store, now, options.observe);
  const observe: Observe = (event) => {
    if (event.type === "skill_disclosed") usage.count(event);
    options.observe(event);
  };
  const directory = openDirectory(options.folders, now);
  const ledger = createLedger(store, now, options.blobs);
  const skillsContext: SkillsContext = {
    ...options,
    ledger,
    directory,
    readUpload: createUploadReader({ limit: options.uploadLimit, ...options.intake }),
  };
  const entries = createEntries(store, ledger, directory);
  const discovery = options.discovery &&
    createDiscovery({ ...options.discovery, base, store, ledger, directory, observe, now });
  const authorize = createAuthorize(options);
  const skills = skillEndpoints(skillsContext);
  const versions = versionEndpoints(skillsContext);
  const contents = contentEndpoints(skillsContext);
  const usages = usageEndpoints(skillsContext, usage);

  /** Runs an endpoint, and turns its result or error into a response. */
  const run =
    (endpoint: Endpoint, need: Need, mayBeOpenai = openai): RouteHandler =>
    async (request, context, parameters) => {
      const requestId = newRequestId();
      const dialect = dialectOf(request, mayBeOpenai);
      const { id = "", version = "" } = parameters;
      let response: Response;
      try {
        const principal = await authorize(request, context, dialect, need);
        const answer = await endpoint({
          request,
          context,
          principal,
          checkStillValid: () => checkStillValid(principal, options),
          dialect,
          id,
          version,
        });
        if (typeof answer === "string") response = answerJson(dialect, 200, answer, requestId);
        else response = withFields(answer, requestIdFields(dialect, requestId));
        if (request.headers.has("anthropic-workspace-id")) {
          response.headers.set("anthropic-workspace-id", principal.workspace);
        }
      } catch (error) {
        response = refuse(dialect, error, requestId, observe);
      }
      return response;
    };

  const routes: Route[] = [
    { method: "GET", path: "/v1/skills", handle: run(skills.list, READ) },
    { method: "POST", path: "/v1/skills", handle: run(skills.create, WRITE) },
    { method: "POST", path: "/v1/skills/validate", handle: run(validateEndpoint(skillsContext), WRITE) },
    { method: "GET", path: "/v1/skills/usage", handle: run(usages.list, READ) },
    { method: "GET", path: "/v1/skills/:id/usage", handle: run(usages.retrieve, READ) },
    { method: "GET", path: "/v1/skills/:id", handle: run(skills.retrieve, READ) },
    { method: "DELETE", path: "/v1/skills/:id", handle: run(skills.remove, WRITE) },
    { method: "GET", path: "/v1/skills/:id/versions", handle: run(versions.list, READ) },
    { method: "POST", path: "/v1/skills/:id/versions", handle: run(versions.create, WRITE) },
    { method: "GET", path: "/v1/skills/:id/versions/:version", handle: run(versions.retrieve, READ) },
    { method: "DELETE", path: "/v1/skills/:id/versions/:version", handle: run(versions.remove, WRITE) },
    {
      method: "GET",
      path: "/v1/skills/:id/versions/:version/content",
      handle: run(contents.ofVersion, READ),
    },
  ];
  if (options.messages) {
    const library = createLibrary(store, ledger, directory);
    const settings = { ...options, ...options.messages, observe, library };
    if (settings.upstream) completeUpstream(settings.upstream);
    const answer = loadOnDemand(async () =>
      (await import("./messages/messages.ts")).createMessages(settings)
    );
    const messages: Endpoint = (call) => answer(call);
    routes.push({ method: "POST", path: "/v1/messages", handle: run(messages, MESSAGE, false) });
  }
  if (openai) {
    routes.push(
      { method: "POST", path: "/v1/skills/:id", handle: run(skills.setDefault, WRITE) },
      { method: "GET", path: "/v1/skills/:id/content", handle: run(contents.ofDefault, READ) },
    );
  }

  const dispatch = createRouter({
    base,
    routes,
    refuse(status, request, allow) {
      const requestId = newRequestId();
      const dialect = dialectOf(request, openai);
      const path = pathOf(request.url).slice(0, 200);
      const type = status === 404 ? "not_found_error" : "invalid_request_error";
      const message = status === 404 ? `Not found: ${path}` : `Method not allowed. Allowed: ${allow}.`;
      const json = dialect.shape.error({ type, message, requestId, problems: [] });
      return answerJson(dialect, status, json, requestId, allow ? [["allow", allow]] : []);
    },
  });

  return {
    mounts: ["v1", ...discovery?.mounts ?? []],
    catalog: createCatalog(store, ledger, directory, entries, (disclosure) => {
      observe({ type: "skill_disclosed", via: "mcp", ...disclosure });
    }),
    diagnostics: () => directory.diagnostics(),
    localSkills: () => directory.skills(),
    async flush() {
      await usage.flush();
      // The first flush may have started before the last count.
      await usage.flush();
    },
    collectGarbage: () => ledger.collect(),
    limitName: "skills",
    refuseLimited: (request, error) =>
      allowEveryOrigin(request, refuse(dialectOf(request, openai), error, newRequestId(), observe)),
    fetch: async (request, context = {}) => {
      if (discovery?.covers(request)) return await discovery.fetch(request, context);
      const response = answerPreflight(request, METHODS) ??
        allowEveryOrigin(request, await dispatch(request, context));
      // Responses of the router itself have none yet.
      if (!response.headers.has("request-id")) response.headers.set("request-id", newRequestId());
      return response;
    },
  };
}

function withFields(response: Response, fields: Fields): Response {
  for (const [name, value] of fields) response.headers.set(name, value);
  return response;
}
