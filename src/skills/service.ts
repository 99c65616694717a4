/**
 * The Skills service: its routes, who may use them, and the one place that turns an error into the envelope
 * `{ type: "error", error: { type, message }, request_id }`. Every answer carries a `request-id`.
 *
 * @module
 */
import type { Observe } from "../events.ts";
import { type Authenticate, bearerChallenge, type Principal, TokenRefusal } from "../http/bearer.ts";
import { BodyError } from "../http/body.ts";
import { allowEveryOrigin, answerPreflight } from "../http/cors.ts";
import { type Fields, respond } from "../http/response.ts";
import { createRouter, pathOf, queryOf, type Route, type RouteHandler } from "../http/router.ts";
import type { RequestContext, Service } from "../http/service.ts";
import { randomId } from "../crypto/secret.ts";
import { type Store, StoreUnavailableError } from "../store/store.ts";
import { createLedger } from "./blob_ledger.ts";
import type { BlobStore } from "./blob_store.ts";
import { type Catalog, createCatalog } from "./catalog.ts";
import { type Diagnostic, openDirectory } from "./directory.ts";
import { SkillError, type SkillErrorType } from "./error.ts";
import type { SkillFolder } from "./folder.ts";
import { readPackage } from "./package.ts";
import { mayRead, mayWrite } from "./permission.ts";
import { publish } from "./publish.ts";
import { listSkills } from "./query.ts";
import { type Skill, skillKey } from "./records.ts";
import { removeSkill } from "./remove.ts";
import { writeDeleted, writeLocalSkill, writeSkill } from "./shape_ga.ts";
import { readUpload } from "./upload.ts";

/** The complete options of the Skills service; `options.ts` says what each is for. */
export interface SkillsServiceOptions {
  readonly store: Store;
  readonly base: string;
  readonly authenticate: Authenticate;
  readonly auth: "required" | "off";
  /** Where the RFC 9728 document is; left out of challenges when there is none. */
  readonly resourceMetadata?: string | undefined;
  readonly folders: readonly SkillFolder[];
  /** Where files are kept; in the store, when left out. */
  readonly blobs?: BlobStore | undefined;
  /** Bytes. */
  readonly uploadLimit: number;
  /** 32 bytes that are the same on every instance. */
  readonly cursorKey: () => Promise<Uint8Array>;
  readonly observe: Observe;
  readonly now: () => number;
}

export interface SkillsService extends Service {
  /** Skills for other services, level by level. */
  readonly catalog: Catalog;
  /** What in the local folders is not served as its author may expect. */
  diagnostics(): Promise<readonly Diagnostic[]>;
  /**
   * Removes files that nothing refers to, also what a crash left behind; resolves to how many. To be called now and
   * then, by any instance.
   */
  collectGarbage(): Promise<number>;
}

/** The revisions of the API that clients name. */
const VERSIONS = new Set(["2023-06-01", "2026-10-21"]);
const METHODS = "GET, POST, DELETE";
/** Everybody, where authentication is off. */
const ANYBODY: Principal = { workspace: "default", scopes: new Set(["skills:write"]) };

/** The Skills service. */
export function skillsService(options: SkillsServiceOptions): SkillsService {
  const { store, base, authenticate, auth, uploadLimit, cursorKey, observe, now } = options;
  const resource_metadata = options.resourceMetadata;
  const directory = openDirectory(options.folders, now);
  const ledger = createLedger(store, now, options.blobs);

  type Handle = (principal: Principal, request: Request, id: string) => Promise<string>;

  async function create({ workspace }: Principal, request: Request): Promise<string> {
    const { files, displayName } = await readUpload(request, uploadLimit);
    const skill = await publish(ledger, workspace, readPackage(files, uploadLimit), {
      displayName,
      now: now(),
    });
    observe({ type: "skill_created", id: skill.id, workspace });
    return writeSkill(skill);
  }

  async function retrieve({ workspace }: Principal, _request: Request, id: string): Promise<string> {
    const local = (await directory.skills()).find((skill) => skill.id === id);
    if (local) return writeLocalSkill(local);
    const entry = await store.get<Skill>(skillKey(workspace, id));
    if (!entry) throw notFound(id);
    return writeSkill(entry.value);
  }

  async function remove({ workspace }: Principal, _request: Request, id: string): Promise<string> {
    const local = (await directory.skills()).find((skill) => skill.id === id);
    if (local) {
      const place = `${local.folder.path}/${local.directory}`;
      throw new SkillError(
        "permission_error",
        `This skill lies in a local folder: remove it there (${place})`,
      );
    }
    if (!await removeSkill(store, ledger, workspace, id)) throw notFound(id);
    observe({ type: "skill_deleted", id, workspace });
    return writeDeleted(id);
  }

  const list: Handle = ({ workspace }, request) =>
    listSkills(store, directory, cursorKey, workspace, queryOf(request.url));

  async function authorize(
    request: Request,
    context: RequestContext,
    may: (principal: Principal) => boolean,
    scope: string,
  ): Promise<Principal> {
    const version = request.headers.get("anthropic-version");
    if (version !== null && !VERSIONS.has(version)) {
      throw new SkillError(
        "invalid_request_error",
        `anthropic-version must be one of ${[...VERSIONS].join(", ")}`,
      );
    }
    if (auth === "off") return ANYBODY;
    const caller = await authenticate(request, context);
    if (caller === "none") {
      throw new SkillError("authentication_error", "Send an API key in x-api-key, or an access token", {
        fields: [["www-authenticate", bearerChallenge({ scope, resource_metadata })]],
      });
    }
    if (caller instanceof TokenRefusal) {
      throw new SkillError("authentication_error", caller.description, {
        fields: caller.challenge({ resource_metadata }),
      });
    }
    if (!may(caller)) {
      throw new SkillError("permission_error", `This needs the scope ${scope}`, {
        fields: [[
          "www-authenticate",
          bearerChallenge({ error: "insufficient_scope", scope, resource_metadata }),
        ]],
      });
    }
    return caller;
  }

  /** Runs a route, and answers whatever comes of it. */
  const route =
    (handle: Handle, may: (principal: Principal) => boolean, scope: string): RouteHandler =>
    async (request, context, { id = "" }) => {
      const requestId = newRequestId();
      try {
        const principal = await authorize(request, context, may, scope);
        return answer(200, await handle(principal, request, id), requestId);
      } catch (error) {
        return refuse(error, requestId);
      }
    };

  function refuse(error: unknown, requestId: string): Response {
    if (error instanceof BodyError) {
      const type = error.status === 413 ? "request_too_large" : "invalid_request_error";
      return refuse(
        new SkillError(type, error.message, { status: error.status === 415 ? 400 : error.status }),
        requestId,
      );
    }
    if (error instanceof StoreUnavailableError) {
      observe({ type: "store_unavailable", where: "skills", error });
      const text = "The server cannot reach its storage: try again in a moment";
      const retry: Fields = [["retry-after", String(error.retryAfter)]];
      return answer(503, writeError("overloaded_error", text, requestId), requestId, retry);
    }
    if (!(error instanceof SkillError)) {
      observe({ type: "fault", where: "skills", error });
      return refuse(new SkillError("api_error", "The server failed: try again later"), requestId);
    }
    const { type, status, message, fields } = error;
    return answer(status, writeError(type, message, requestId), requestId, fields);
  }

  const routes: Route[] = [
    { method: "GET", path: "/v1/skills", handle: route(list, mayRead, "skills:read") },
    { method: "POST", path: "/v1/skills", handle: route(create, mayWrite, "skills:write") },
    { method: "GET", path: "/v1/skills/:id", handle: route(retrieve, mayRead, "skills:read") },
    { method: "DELETE", path: "/v1/skills/:id", handle: route(remove, mayWrite, "skills:write") },
  ];
  const dispatch = createRouter({
    base,
    routes,
    refuse(status, request, allow) {
      const requestId = newRequestId();
      const path = pathOf(request.url).slice(0, 200);
      const body = status === 404
        ? writeError("not_found_error", `There is nothing at ${path}`, requestId)
        : writeError("invalid_request_error", `Use ${allow} at ${path}`, requestId);
      return answer(status, body, requestId, allow ? [["allow", allow]] : []);
    },
  });

  return {
    mounts: ["v1"],
    catalog: createCatalog(store, ledger, directory, now),
    diagnostics: () => directory.diagnostics(),
    collectGarbage: () => ledger.collect(),
    fetch: async (request, context = {}) =>
      withRequestId(
        answerPreflight(request, METHODS) ?? allowEveryOrigin(request, await dispatch(request, context)),
      ),
  };
}

/** A response of JSON text. */
function answer(status: number, json: string, requestId: string, more: Fields = []): Response {
  return respond(status, json, [["content-type", "application/json"], ["request-id", requestId], ...more]);
}

function writeError(type: SkillErrorType, message: string, requestId: string): string {
  return JSON.stringify({ type: "error", error: { type, message }, request_id: requestId });
}

/** The router's own answers have none yet. */
function withRequestId(response: Response): Response {
  if (!response.headers.has("request-id")) response.headers.set("request-id", newRequestId());
  return response;
}

function newRequestId(): string {
  return randomId("req_");
}

function notFound(id: string): SkillError {
  return new SkillError("not_found_error", `There is no skill ${JSON.stringify(id.slice(0, 100))}`);
}
