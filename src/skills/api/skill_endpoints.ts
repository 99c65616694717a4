/**
 * The endpoints of skills: create, list, retrieve, delete, and in the OpenAI dialect set the default version.
 *
 * @module
 */
import { readText } from "../../http/body/body.ts";
import { queryOf } from "../../http/router.ts";
import { MAX_COMMIT_TRIES, pauseBefore } from "../../store/retry.ts";
import { type Call, callerOf, type Endpoint, nameCaller, type SkillsContext } from "./call.ts";
import type { Dialect } from "./dialect.ts";
import type { LocalSkill } from "../local/directory.ts";
import { SkillError, skillNotFound, versionNotFound } from "../error.ts";
import { findHidden } from "../../text/hidden_text.ts";
import { readPackage } from "../package/package.ts";
import { busy, namesOf, publish } from "../publishing/publish.ts";
import { listSkills } from "./query.ts";
import { type Skill, skillKey } from "../records.ts";
import { removeSkill } from "../publishing/remove.ts";
import { showLocal } from "./shape.ts";
import { findVersion } from "../publishing/versions.ts";

export interface SkillEndpoints {
  readonly create: Endpoint;
  readonly list: Endpoint;
  readonly retrieve: Endpoint;
  readonly setDefault: Endpoint;
  readonly remove: Endpoint;
}

/** Bytes of the JSON body that sets the default version. */
const MAX_JSON_BYTES = 16 * 1024;
const METHODS = "GET, HEAD, DELETE, OPTIONS";

export function skillEndpoints(context: SkillsContext): SkillEndpoints {
  const { store, ledger, directory, readUpload, uploadLimit, packageRules, cursorKey, observe, now } =
    context;

  return {
    create(call) {
      const { request, principal: { workspace }, checkStillValid, dialect } = call;
      return readUpload(request, callerOf(call), async ({ files, displayName: sent }) => {
        const displayName = sent === undefined ? undefined : checkLabel(sent, dialect);
        const content = await readPackage(files, uploadLimit, { ...packageRules, ...dialect.rules });
        const options = { displayName, uniqueTitle: dialect.uniqueTitles, now: now(), checkStillValid };
        const { skill } = await publish(ledger, workspace, content, options);
        observe({ type: "skill_created", id: skill.id, workspace, ...nameCaller(call) });
        return dialect.shape.skill(skill, "custom");
      });
    },

    list: ({ request, principal: { workspace }, dialect }) =>
      listSkills(store, directory, { dialect, workspace, query: queryOf(request.url), cursorKey }),

    async retrieve(call) {
      const { dialect: { name, shape } } = call;
      const local = await findLocal(context, call.id);
      if (local) return shape.skill(showLocal(local).skill, "local");
      const skill = await openSkill(context, call);
      if (!skill.latest && name !== "skills-2025-10-02") throw withoutVersion(skill.id);
      return shape.skill(skill, "custom");
    },

    async setDefault({ request, principal, checkStillValid, dialect, id }) {
      const { workspace } = principal;
      if (dialect.name !== "openai") {
        throw new SkillError(
          "invalid_request_error",
          `Method not allowed. Allowed: ${METHODS}. To change a skill, create a new version.`,
          {
            status: 405,
            fields: [["allow", METHODS]],
          },
        );
      }
      await refuseLocal(context, id);
      const wanted = await readDefault(request);
      await checkStillValid();
      for (let tries = 0; tries < MAX_COMMIT_TRIES; tries++) {
        if (tries > 0) await pauseBefore(tries);
        const entry = await store.get<Skill>(skillKey(workspace, id));
        if (!entry) throw skillNotFound(id);
        const version = await findVersion(store, workspace, entry.value, wanted);
        if (!version) {
          throw versionNotFound(id, wanted);
        }
        const skill: Skill = { ...entry.value, default: namesOf(version.value) };
        const done = await store.commit({
          check: [{ key: entry.key, version: entry.version }],
          set: [{ key: entry.key, value: skill }],
        });
        if (!done) continue;
        const caller = nameCaller({ principal });
        observe({ type: "skill_default_changed", id, version: version.value.id, workspace, ...caller });
        return dialect.shape.skill(skill, "custom");
      }
      throw busy();
    },

    async remove({ principal, dialect, id }) {
      const { workspace } = principal;
      await refuseLocal(context, id);
      const outcome = await removeSkill(store, ledger, workspace, id, { onlyEmpty: !dialect.cascades });
      if (outcome === "gone") throw skillNotFound(id);
      if (outcome !== "done") {
        throw new SkillError(
          "invalid_request_error",
          "Cannot delete skill with existing versions. Delete all versions first.",
        );
      }
      observe({ type: "skill_deleted", id, workspace, ...nameCaller({ principal }) });
      return dialect.shape.deletedSkill(id);
    },
  };
}

/** The uploaded skill of a call. @throws {SkillError} when there is none */
export async function openSkill({ store }: SkillsContext, { principal, id }: Call): Promise<Skill> {
  const entry = await store.get<Skill>(skillKey(principal.workspace, id));
  if (!entry) throw skillNotFound(id);
  return entry.value;
}

/** The local skill with this id. */
export async function findLocal({ directory }: SkillsContext, id: string): Promise<LocalSkill | undefined> {
  // Requests for uploaded skills do not read the folders.
  if (!id.startsWith("skill_local_")) return undefined;
  return (await directory.skills()).find((skill) => skill.id === id);
}

/** Refuses changes of local skills. @throws {SkillError} */
export async function refuseLocal(context: SkillsContext, id: string): Promise<void> {
  const local = await findLocal(context, id);
  if (!local) return;
  const place = `${local.folder.path}/${local.directory}`;
  throw new SkillError(
    "permission_error",
    `This skill is in a local folder and cannot be changed by the API. Change its files in ${place}.`,
  );
}

export function withoutVersion(id: string): SkillError {
  return new SkillError(
    "invalid_request_error",
    `Skill ${id} has no versions. Add a version, or delete the skill.`,
  );
}

function checkLabel(label: string, { maxTitleCharacters, uniqueTitles }: Dialect): string {
  const name = uniqueTitles ? "display_title" : "display_name";
  const isLine = label !== "" && !/[\p{Cc}\u2028\u2029]/u.test(label) && !findHidden(label);
  if (!isLine || [...label].length > maxTitleCharacters) {
    throw new SkillError(
      "invalid_request_error",
      `${name} must be one line of 1 to ${maxTitleCharacters} characters, without hidden characters`,
    );
  }
  return label;
}

async function readDefault(request: Request): Promise<string> {
  let body: unknown;
  try {
    body = JSON.parse(await readText(request, MAX_JSON_BYTES));
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new SkillError("invalid_request_error", "The request body must be JSON", { cause });
  }
  const value = (body as { default_version?: unknown } | null)?.default_version;
  if (typeof value === "string" && value !== "") return value;
  throw new SkillError("invalid_request_error", "default_version must be a version number as a string");
}
