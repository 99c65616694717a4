/**
 * The skills of a server, over the Skills API: any server that implements it.
 *
 * @module
 */
import type { ValidationReport } from "../../../skills/package/validation_report.ts";
import { type ApiConnection, type ApiServer, connectApi } from "../api/api_connection.ts";
import { ApiError } from "../api/api_error.ts";
import { multipartBody } from "../api/multipart_body.ts";
import type { Progress } from "../progress_bar.ts";
import { readPage, readReport, readSkill, readVersion } from "../api/api_objects.ts";
import { isSkillName, type ListedSkill, type ListedVersion, type SkillPlace } from "./skill_place.ts";
import type { SkillSource } from "./skill_source.ts";

const PAGE_SIZE = 100;
/** Versions that are requested at the same time. */
const MAX_PARALLEL_REQUESTS = 8;
/** A name is searched among so many skills: the API finds skills by id only, so each costs a request. */
const MAX_SEARCHED_SKILLS = 1000;

export function openServerPlace(server: ApiServer, signal: AbortSignal): SkillPlace {
  const api = connectApi(server, signal);

  async function* pages<Item>(path: string, read: (value: unknown) => Item): AsyncGenerator<Item[]> {
    const query = new URLSearchParams({ limit: String(PAGE_SIZE) });
    const seen = new Set<string>();
    for (;;) {
      const { data, next } = readPage(await api.send("GET", `${path}?${query}`), read);
      yield data;
      if (next === null) return;
      if (seen.has(next)) throw new Error("Invalid list: the server returned the same page again");
      seen.add(next);
      query.set("page", next);
    }
  }

  async function* items<Item>(path: string, read: (value: unknown) => Item): AsyncGenerator<Item> {
    for await (const page of pages(path, read)) yield* page;
  }

  const getVersion = async (id: string, version: string): Promise<ListedVersion> =>
    readVersion(await api.send("GET", skillPath(id, version)));

  /** The skills of the server whose newest version has this name, in its order. */
  async function* findNamed(
    name: string,
    isWanted: (skill: ListedSkill) => boolean,
  ): AsyncGenerator<ListedSkill> {
    let searched = 0;
    for await (const page of pages("/v1/skills", readSkill)) {
      const candidates = page.filter((skill) => skill.latest_version_id !== null && isWanted(skill));
      for (let at = 0; at < candidates.length; at += MAX_PARALLEL_REQUESTS) {
        const some = candidates.slice(at, at + MAX_PARALLEL_REQUESTS);
        const names = await Promise.all(
          some.map(({ id, latest_version_id }) => findVersionName(id, latest_version_id!)),
        );
        for (const [i, skill] of some.entries()) if (names[i] === name) yield { ...skill, name };
      }
      searched += candidates.length;
      if (searched >= MAX_SEARCHED_SKILLS) {
        throw new Error(
          `Skill not found: "${name}" is not among the first ${searched} skills of the server. Use the id`,
        );
      }
    }
  }

  const isUploaded = ({ source }: ListedSkill): boolean => source === "custom";

  async function findFirst(skills: AsyncIterable<ListedSkill>): Promise<ListedSkill | undefined> {
    for await (const skill of skills) return skill;
    return undefined;
  }

  /** A server lists local skills first, however old they are: the newest is the first one, or an uploaded one. */
  async function findNewest(name: string): Promise<ListedSkill | undefined> {
    const found = await findFirst(findNamed(name, () => true));
    if (found?.source !== "local") return found;
    // When there are too many skills to search, the local one is the result.
    const uploaded = await findFirst(findNamed(name, isUploaded)).catch(() => undefined);
    return uploaded && Date.parse(uploaded.updated_at) > Date.parse(found.updated_at) ? uploaded : found;
  }

  /** `undefined` when the skill was deleted meanwhile. */
  async function findVersionName(id: string, version: string): Promise<string | undefined> {
    try {
      return (await getVersion(id, version)).name;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  return {
    list: () => items("/v1/skills", readSkill),
    async find(skill) {
      try {
        return readSkill(await api.send("GET", skillPath(skill)));
      } catch (error) {
        // Some servers answer 400 to what does not look like an id.
        if (!(error instanceof ApiError && (error.status === 404 || error.status === 400))) throw error;
        const found = isSkillName(skill) ? await findNewest(skill) : undefined;
        if (!found) throw error;
        return found;
      }
    },
    named: (name) => findNamed(name, isUploaded),
    versions: (id) => items(`${skillPath(id)}/versions`, readVersion),
    version: getVersion,
    manifest: () => Promise.resolve(undefined),
    archive: (id, version) => api.download(`${skillPath(id, version)}/content`),
    async add({ source, skill, displayName }, progress) {
      if (skill !== undefined) {
        const version = readVersion(await upload(api, `${skillPath(skill)}/versions`, source, progress));
        return { skill: readSkill(await api.send("GET", skillPath(skill))), version, warnings: [] };
      }
      const added = readSkill(await upload(api, "/v1/skills", source, progress, displayName));
      // The skill is stored, also when this request fails.
      const version = await getVersion(added.id, added.latest_version_id ?? "latest").catch(() => null);
      return {
        skill: { ...added, ...version && { name: version.name, description: version.description } },
        version,
        warnings: [],
      };
    },
    async remove(id) {
      await api.send("DELETE", skillPath(id));
    },
    async removeVersion(id, version) {
      await api.send("DELETE", skillPath(id, version));
    },
    async validate(source, progress): Promise<ValidationReport> {
      try {
        return readReport(
          await api.send("POST", "/v1/skills/validate", { body: uploadBody(source), progress }),
        );
      } catch (error) {
        if (!(error instanceof ApiError && (error.status === 404 || error.status === 405))) throw error;
        throw new Error("This server cannot validate. Leave out --url to use the rules of Trivet", {
          cause: error,
        });
      }
    },
    close: () => Promise.resolve(),
  };
}

/** Each id is one path segment, whatever characters it has. */
function skillPath(skill: string, version?: string): string {
  const segments = version === undefined ? [skill] : [skill, "versions", version];
  for (const segment of segments) {
    if (/^\.{0,2}$/.test(segment)) throw new Error(`Invalid id: "${segment}"`);
  }
  return ["/v1/skills", ...segments.map((segment) => encodeURIComponent(segment.toWellFormed()))].join("/");
}

function uploadBody(source: SkillSource, displayName?: string): ReturnType<typeof multipartBody> {
  return multipartBody(
    "files[]",
    source.files,
    displayName === undefined ? [] : [["display_name", displayName]],
  );
}

/** @throws {Error} that names the outcome, or says that it is unknown */
async function upload(
  api: ApiConnection,
  path: string,
  source: SkillSource,
  progress: Progress,
  displayName?: string,
): Promise<unknown> {
  let sent = 0;
  let size: number | undefined;
  const counted: Progress = {
    begin(total) {
      [sent, size] = [0, total];
      progress.begin(total);
    },
    advance(bytes) {
      sent += bytes;
      progress.advance(bytes);
    },
  };
  try {
    return await api.send("POST", path, { body: uploadBody(source, displayName), progress: counted });
  } catch (error) {
    if (size === undefined || sent === 0) throw error;
    // 529 is overload before processing. After another 5xx the skill may have been added.
    const isRefused = error instanceof ApiError &&
      (error.status < 500 || error.status === 529 || sent < size);
    if (isRefused) throw error;
    const what = sent < size
      ? "The upload was not complete. The server may refuse packages of this size, or this key"
      : "The upload was complete, but its outcome is unknown. Run trivet skill list to see whether it was added";
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${what}`, { cause: error });
  }
}
