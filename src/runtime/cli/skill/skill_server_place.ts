/**
 * The skills of a server, over the Skills API as it is today: any server that speaks it will do.
 *
 * @module
 */
import type { ValidationReport } from "../../../skills/package/validation_report.ts";
import { type ApiConnection, type ApiServer, connectApi } from "../api/api_connection.ts";
import { ApiError } from "../api/api_error.ts";
import { multipartBody } from "../api/multipart_body.ts";
import type { Progress } from "../progress_bar.ts";
import { readPage, readReport, readSkill, readVersion } from "../api/api_objects.ts";
import type { ListedSkill, ListedVersion, SkillPlace } from "./skill_place.ts";
import type { SkillSource } from "./skill_source.ts";

const PAGE = 100;
/** Versions that are asked for at one time. */
const AT_ONCE = 8;
/** A name is looked for among so many skills: the API finds by id only, so each costs a request. */
const MOST_LOOKED_AT = 1000;

export function openServerPlace(server: ApiServer, signal: AbortSignal): SkillPlace {
  const api = connectApi(server, signal);

  async function* pages<Item>(path: string, read: (value: unknown) => Item): AsyncGenerator<Item[]> {
    const query = new URLSearchParams({ limit: String(PAGE) });
    const seen = new Set<string>();
    for (;;) {
      const { data, next } = readPage(await api.send("GET", `${path}?${query}`), read);
      yield data;
      if (next === null) return;
      if (seen.has(next)) throw new Error("The server's list has no end: it names the same page again");
      seen.add(next);
      query.set("page", next);
    }
  }

  async function* items<Item>(path: string, read: (value: unknown) => Item): AsyncGenerator<Item> {
    for await (const page of pages(path, read)) yield* page;
  }

  const versionOf = async (id: string, version: string): Promise<ListedVersion> =>
    readVersion(await api.send("GET", pathOf(id, version)));

  /** The first skill in the list of the server whose newest version has this name. */
  async function findName(
    name: string,
    isWanted: (skill: ListedSkill) => boolean,
  ): Promise<ListedSkill | undefined> {
    let looked = 0;
    for await (const page of pages("/v1/skills", readSkill)) {
      const candidates = page.filter((skill) => skill.latest_version_id !== null && isWanted(skill));
      for (let at = 0; at < candidates.length; at += AT_ONCE) {
        const some = candidates.slice(at, at + AT_ONCE);
        const names = await Promise.all(
          some.map(({ id, latest_version_id }) => nameOf(id, latest_version_id!)),
        );
        const found = some[names.indexOf(name)];
        if (found) return { ...found, name };
      }
      looked += candidates.length;
      if (looked >= MOST_LOOKED_AT) {
        throw new Error(`None of the first ${looked} skills of the server is named "${name}": give its id`);
      }
    }
    return undefined;
  }

  /** Local skills come first in the list of a server, however old they are: the newest one is that or an uploaded one. */
  async function findNewest(name: string): Promise<ListedSkill | undefined> {
    const found = await findName(name, () => true);
    if (found?.source !== "local") return found;
    // Among too many to look at there may be one: the local one is there in any case.
    const uploaded = await findName(name, ({ source }) => source === "custom").catch(() => undefined);
    return uploaded && Date.parse(uploaded.updated_at) > Date.parse(found.updated_at) ? uploaded : found;
  }

  /** A skill that is deleted meanwhile has none. */
  async function nameOf(id: string, version: string): Promise<string | undefined> {
    try {
      return (await versionOf(id, version)).name;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  return {
    list: () => items("/v1/skills", readSkill),
    async find(skill) {
      try {
        return readSkill(await api.send("GET", pathOf(skill)));
      } catch (error) {
        // Some servers refuse what does not look like an id.
        if (!(error instanceof ApiError && (error.status === 404 || error.status === 400))) throw error;
        const found = isName(skill) ? await findNewest(skill) : undefined;
        if (!found) throw error;
        return found;
      }
    },
    findUploaded: (name) => findName(name, ({ source }) => source === "custom"),
    versions: (id) => items(`${pathOf(id)}/versions`, readVersion),
    version: versionOf,
    manifest: () => Promise.resolve(undefined),
    archive: (id, version) => api.download(`${pathOf(id, version)}/content`),
    async add({ source, skill, displayName }, progress) {
      if (skill !== undefined) {
        const version = readVersion(await upload(api, `${pathOf(skill)}/versions`, source, progress));
        return { skill: readSkill(await api.send("GET", pathOf(skill))), version, warnings: [] };
      }
      const made = readSkill(await upload(api, "/v1/skills", source, progress, displayName));
      // It is there, whatever becomes of this.
      const version = await versionOf(made.id, made.latest_version_id ?? "latest").catch(() => null);
      return {
        skill: { ...made, ...version && { name: version.name, description: version.description } },
        version,
        warnings: [],
      };
    },
    async remove(id) {
      await api.send("DELETE", pathOf(id));
    },
    async removeVersion(id, version) {
      await api.send("DELETE", pathOf(id, version));
    },
    async validate(source, progress): Promise<ValidationReport> {
      try {
        return readReport(await api.send("POST", "/v1/skills/validate", { body: bodyOf(source), progress }));
      } catch (error) {
        if (!(error instanceof ApiError && (error.status === 404 || error.status === 405))) throw error;
        throw new Error("This server has no dry run: leave out --url, and the rules of Trivet are asked", {
          cause: error,
        });
      }
    },
    close: () => Promise.resolve(),
  };
}

/** Segments of a path are never more than one, whatever is in them. */
function pathOf(skill: string, version?: string): string {
  const segments = version === undefined ? [skill] : [skill, "versions", version];
  for (const segment of segments) {
    if (/^\.{0,2}$/.test(segment)) throw new Error(`"${segment}" is no id`);
  }
  return ["/v1/skills", ...segments.map((segment) => encodeURIComponent(segment.toWellFormed()))].join("/");
}

function isName(text: string): boolean {
  return /^[\p{L}\p{M}\p{N}-]{1,64}$/u.test(text);
}

function bodyOf(source: SkillSource, displayName?: string): ReturnType<typeof multipartBody> {
  return multipartBody(
    "files[]",
    source.files,
    displayName === undefined ? [] : [["display_name", displayName]],
  );
}

/** @throws {Error} that tells when the outcome is unknown */
async function upload(
  api: ApiConnection,
  path: string,
  source: SkillSource,
  progress: Progress,
  displayName?: string,
): Promise<unknown> {
  let sent = 0;
  let size: number | undefined;
  const watched: Progress = {
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
    return await api.send("POST", path, { body: bodyOf(source, displayName), progress: watched });
  } catch (error) {
    if (error instanceof ApiError || size === undefined || sent === 0) throw error;
    const what = sent < size
      ? "Not all of it was sent: a server that takes no package of this size, or not this key, may end it so"
      : "All of it was sent, but no answer came: see trivet skill list for whether it was added";
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${what}`, { cause: error });
  }
}
