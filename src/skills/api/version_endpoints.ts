/**
 * The endpoints of a skill's versions: create, list, retrieve, delete.
 *
 * @module
 */
import { queryOf } from "../../http/router.ts";
import { type Call, callerOf, type Endpoint, nameCaller, type SkillsContext } from "./call.ts";
import { SkillError, versionNotFound } from "../error.ts";
import { isVersionOf } from "../disclosure/library.ts";
import { readPackage } from "../package/package.ts";
import { publishVersion } from "../publishing/publish.ts";
import { listSkillVersions } from "./query.ts";
import type { SkillVersion } from "../records.ts";
import { removeVersion } from "../publishing/remove.ts";
import { showLocal } from "./shape.ts";
import { findLocal, openSkill, refuseLocal } from "./skill_endpoints.ts";
import { findVersion } from "../publishing/versions.ts";

export interface VersionEndpoints {
  readonly create: Endpoint;
  readonly list: Endpoint;
  readonly retrieve: Endpoint;
  readonly remove: Endpoint;
}

export function versionEndpoints(context: SkillsContext): VersionEndpoints {
  const { store, ledger, readUpload, uploadLimit, packageRules, cursorKey, observe, now } = context;

  return {
    async create(call) {
      const { request, principal: { workspace }, checkStillValid, dialect, id } = call;
      await refuseLocal(context, id);
      // Check that the skill exists before the client sends the package.
      await openSkill(context, call);
      return await readUpload(request, callerOf(call), async ({ files, fields }) => {
        const content = await readPackage(files, uploadLimit, { ...packageRules, ...dialect.rules });
        const isDefault = dialect.name === "openai" && readFlag(fields, "default");
        const options = { isDefault, now: now(), checkStillValid };
        const { version } = await publishVersion(ledger, workspace, id, content, options);
        observe({ type: "skill_version_created", id, version: version.id, workspace, ...nameCaller(call) });
        return dialect.shape.version(id, version);
      });
    },

    async list(call) {
      const { request, principal: { workspace }, dialect, id } = call;
      const local = await findLocal(context, id);
      if (local) {
        const { version } = showLocal(local);
        return dialect.shape.page([dialect.shape.version(id, version)], null, [version.id]);
      }
      await openSkill(context, call);
      return await listSkillVersions(store, id, {
        dialect,
        workspace,
        query: queryOf(request.url),
        cursorKey,
      });
    },

    async retrieve(call) {
      const { dialect: { shape }, id } = call;
      const local = await findLocal(context, id);
      if (local) {
        if (!isVersionOf(local, call.version)) throw versionNotFound(call.id, call.version);
        return shape.version(id, showLocal(local).version);
      }
      return shape.version(id, await openVersion(context, call));
    },

    async remove(call) {
      const { principal: { workspace }, dialect, id, version: name } = call;
      await refuseLocal(context, id);
      if (name === "latest") {
        throw new SkillError(
          "invalid_request_error",
          "Cannot delete latest by that name. Name the version by its id or number.",
        );
      }
      const outcome = await removeVersion(store, ledger, workspace, id, name, dialect.keeps);
      if (outcome === "gone") {
        await openSkill(context, call);
        throw versionNotFound(call.id, call.version);
      }
      if (outcome === "default_version") {
        throw new SkillError(
          "invalid_request_error",
          "Cannot delete the default version. Make another version the default first.",
        );
      }
      if (typeof outcome === "string") {
        throw new SkillError(
          "invalid_request_error",
          "Cannot delete the only version of a skill. Delete the skill, or add a version first.",
        );
      }
      observe({
        type: "skill_version_deleted",
        id,
        version: outcome.done.id,
        workspace,
        ...nameCaller(call),
      });
      return dialect.shape.deletedVersion(id, outcome.done);
    },
  };
}

function readFlag(fields: ReadonlyMap<string, string>, name: string): boolean {
  const value = fields.get(name) ?? "false";
  if (value !== "true" && value !== "false") {
    throw new SkillError("invalid_request_error", `${name} must be true or false`);
  }
  return value === "true";
}

/** The version of a call, of an uploaded skill. @throws {SkillError} when there is none */
export async function openVersion(context: SkillsContext, call: Call): Promise<SkillVersion> {
  const skill = await openSkill(context, call);
  const entry = await findVersion(context.store, call.principal.workspace, skill, call.version);
  if (!entry) throw versionNotFound(call.id, call.version);
  return entry.value;
}
