/**
 * The endpoints that return the files of a version as a zip archive.
 *
 * @module
 */
import { respondArchive } from "../archive/archive.ts";
import { localFiles, uploadedFiles } from "../archive/archive_file.ts";
import type { Call, Endpoint, SkillsContext } from "./call.ts";
import { isVersionOf } from "../disclosure/library.ts";
import { findLocal, openSkill, withoutVersion } from "./skill_endpoints.ts";
import { versionNotFound } from "../error.ts";
import { openVersion } from "./version_endpoints.ts";

export interface ContentEndpoints {
  /** Of the version that the path names. */
  readonly ofVersion: Endpoint;
  /** Of the default version, in the OpenAI dialect. */
  readonly ofDefault: Endpoint;
}

export function contentEndpoints(context: SkillsContext): ContentEndpoints {
  async function respond(call: Call, isImmutable: boolean): Promise<Response> {
    const local = await findLocal(context, call.id);
    if (local) {
      if (!isVersionOf(local, call.version)) throw versionNotFound(call.id, call.version);
      const { name } = local;
      return await respondArchive(call.request, { name, files: localFiles(local), isImmutable: false });
    }
    const { name, files } = await openVersion(context, call);
    return await respondArchive(call.request, {
      name,
      files: uploadedFiles(context.ledger, files),
      isImmutable,
    });
  }

  return {
    ofVersion: (call) => respond(call, call.version !== "latest"),
    async ofDefault(call) {
      if (await findLocal(context, call.id)) return await respond({ ...call, version: "latest" }, false);
      const { id, default: version } = await openSkill(context, call);
      if (!version) throw withoutVersion(id);
      return await respond({ ...call, version: version.id }, false);
    },
  };
}
