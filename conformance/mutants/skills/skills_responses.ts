/**
 * Faults in what the Skills API returns and how it stores it.
 *
 * @module
 */
import { changeResponses, pathOf, withBody, withHeaders } from "../http_faults.ts";
import { changeCommits, type Mutant, type Wrap } from "../mutant.ts";
import { type Members, readJson } from "../jsonrpc/message_faults.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `skills/${id}`);

/** Changes, in place, JSON responses with status 200 of matching paths. */
export const changeResponseJson = (
  method: string,
  path: RegExp,
  change: (json: Members, request: Request) => void,
): Wrap =>
  changeResponses(undefined, async (answer, request) => {
    if (request.method !== method || !path.test(pathOf(request)) || answer.status !== 200) return answer;
    const text = await answer.clone().text();
    const json = readJson(text);
    if (json === undefined) return answer;
    change(json as Members, request);
    return withBody(answer, JSON.stringify(json));
  });

export const LIST: RegExp = /^\/v1\/skills$/;
const ONE = /^\/v1\/skills\/[^/]+$/;
const VERSIONS = /^\/v1\/skills\/[^/]+\/versions$/;
const VERSION = /^\/v1\/skills\/[^/]+\/versions\/[^/]+$/;
const INDEX = /^\/\.well-known\/agent-skills\/index\.json$/;

export const SKILLS_RESPONSES: readonly Mutant[] = [
  {
    name: "skills/created-at-omitted",
    fault: "Leaves created_at out of a created skill",
    wrap: changeResponseJson("POST", LIST, (json) => {
      delete json["created_at"];
    }),
    killedBy: names("create/whole-object"),
    mayFail: { "They compare the whole object": names("create/archive-", "october_2025/skill-shape") },
  },
  {
    name: "skills/source-omitted",
    fault: "Leaves source out of a retrieved skill",
    wrap: changeResponseJson("GET", ONE, (json) => {
      delete json["source"];
    }),
    killedBy: names("retrieve/same-object"),
    mayFail: { "They compare source": [...names("october_2025/"), "skills/list/entry-is-the-skill"] },
  },
  {
    name: "skills/directory-omitted",
    fault: "Leaves directory out of versions of the beta",
    wrap: (next) => {
      const change = (json: Members): void => void delete json["directory"];
      return changeResponseJson("POST", VERSIONS, change)(changeResponseJson("GET", VERSION, change)(next));
    },
    killedBy: names("october_2025/version-shape"),
  },
  {
    name: "skills/version-omitted",
    fault: "Leaves version out of a new version of the beta",
    wrap: changeResponseJson("POST", VERSIONS, (json) => {
      delete json["version"];
    }),
    killedBy: names("october_2025/new-version"),
    mayFail: { "They read the version of a created skill version": names("october_2025/", "messages/") },
    preventsSetup: "They read the version of a created skill version",
  },
  {
    name: "skills/lists-lag",
    fault: "Leaves the newest skill out of lists",
    wrap: changeResponseJson("GET", LIST, (json) => {
      if (Array.isArray(json["data"])) json["data"].shift();
    }),
    killedBy: names("list/limit-of-one"),
    mayFail: { "They list skills": names("") },
  },
  {
    name: "skills/lists-empty",
    fault: "Leaves created skills out of lists",
    wrap: changeResponseJson("GET", LIST, (json) => {
      json["data"] = [];
    }),
    killedBy: names("list/holds-what-was-created"),
    mayFail: { "They list skills": names("") },
  },
  {
    name: "skills/first-version-newest",
    fault: "Reports the first version as the newest",
    wrap: (next) => {
      const firstVersions = new Map<unknown, unknown>();
      const created = changeResponseJson(
        "POST",
        LIST,
        (json) => void firstVersions.set(json["id"], json["latest_version_id"]),
      );
      const requested = changeResponseJson("GET", ONE, (json) => {
        if ("latest_version_id" in json) json["latest_version_id"] = firstVersions.get(json["id"]);
      });
      return requested(created(next));
    },
    killedBy: names("versions/becomes-newest"),
    mayFail: { "They request the newest version": names("delete/", "versions/", "october_2025/") },
  },
  {
    name: "skills/one-version",
    fault: "Returns the newest version in place of every other",
    wrap: (next) => async (request) => {
      if (request.method !== "GET" || !VERSION.test(pathOf(request))) return await next(request);
      return await next(
        new Request(request.url.replace(/\/[^/]+$/, "/latest"), { headers: request.headers }),
      );
    },
    killedBy: names("versions/old-stays"),
    mayFail: { "They request a version that is not the newest": names("") },
  },
  {
    name: "skills/no-latest",
    fault: "Does not support latest",
    wrap: (next) => async (request) =>
      pathOf(request).endsWith("/versions/latest")
        ? Response.json({ type: "error", error: { type: "not_found_error", message: "No" } }, { status: 404 })
        : await next(request),
    killedBy: names("versions/latest"),
    mayFail: { "They request latest": names("") },
  },
  {
    name: "skills/content-inline",
    fault: "Serves content without Content-Disposition and nosniff",
    wrap: changeResponses(
      undefined,
      (answer, request) =>
        pathOf(request).endsWith("/content")
          ? withHeaders(answer, { "content-disposition": undefined, "x-content-type-options": undefined })
          : answer,
    ),
    killedBy: names("intake/served-apart"),
  },
  {
    name: "skills/commits-unchecked",
    fault: "Commits without checking for concurrent changes",
    store: changeCommits(({ check: _, ...commit }) => commit),
    killedBy: names("delete/at-once"),
    mayFail: { "Concurrent changes overwrite their records": names("") },
  },
  {
    name: "skills/titles-unrecorded",
    fault: "Does not record which skill has a title",
    store: changeCommits((commit) => ({
      ...commit,
      ...(commit.set && { set: commit.set.filter(({ key }) => !String(key[0]).includes("title")) }),
    })),
    killedBy: names("october_2025/title-twice", "october_2025/title-at-once"),
  },
  {
    name: "skills/versions-lost",
    fault: "Confirms a concurrent version upload without storing it",
    wrap: (next) => {
      const busy = new Map<string, Promise<Response>>();
      return async (request) => {
        const path = pathOf(request);
        if (request.method !== "POST" || !path.endsWith("/versions")) return await next(request);
        const before = busy.get(path);
        if (before) return (await before).clone();
        const answer = next(request);
        busy.set(path, answer);
        await answer;
        busy.delete(path);
        return (await answer).clone();
      };
    },
    killedBy: names("versions/at-once"),
  },
  {
    name: "skills/index-without-schema",
    fault: "Leaves $schema out of the index",
    wrap: changeResponseJson("GET", INDEX, (json) => {
      delete json["$schema"];
    }),
    killedBy: names("discovery/index"),
  },
  {
    name: "skills/index-without-descriptions",
    fault: "Leaves descriptions out of the index",
    wrap: changeResponseJson("GET", INDEX, (json) => {
      for (const each of json["skills"] as Members[]) each["description"] = "";
    }),
    killedBy: names("discovery/names"),
  },
  {
    name: "skills/older-index-without-files",
    fault: "Leaves SKILL.md out of the older index",
    wrap: changeResponseJson("GET", /^\/\.well-known\/skills\/index\.json$/, (json) => {
      for (const each of json["skills"] as Members[]) each["files"] = [];
    }),
    killedBy: names("discovery/older-index"),
  },
  {
    name: "skills/artifacts-in-a-folder",
    fault: "Wraps the files of artifacts in a folder",
    wrap: changeResponses(
      undefined,
      (answer, request) => {
        const name = /\/agent-skills\/(?:.*\/)?([^/]+)\.zip$/.exec(pathOf(request))?.[1] ??
          /\/agent-skills\/([^/]+)\/SKILL\.md$/.exec(pathOf(request))?.[1];
        return name !== undefined && answer.ok ? withBody(answer, `PK\x03\x04${name}/SKILL.md`) : answer;
      },
    ),
    killedBy: names("discovery/archive-without-folder", "discovery/digest"),
  },
  {
    name: "skills/everything-discovered",
    fault: "Returns a skill at every well-known path",
    wrap: changeResponses(
      undefined,
      (answer, request) =>
        pathOf(request).startsWith("/.well-known/") && [400, 404].includes(answer.status)
          ? withBody(answer, "---\nname: a\ndescription: A skill\n---\n", 200)
          : answer,
    ),
    killedBy: names(
      "discovery/unknown-skill",
      "discovery/unknown-archive",
      "discovery/unknown-file",
      "discovery/older-unknown-skill",
      "discovery/path-dots",
      "discovery/path-slashes",
      "discovery/path-backslashes",
      "discovery/path-nul",
      "discovery/path-twice-encoded",
      "discovery/path-folder",
      "discovery/private-skill",
    ),
  },
];
