/**
 * Faults in what a Skills API tells of what it keeps, and in how it keeps it.
 *
 * @module
 */
import { faultyAnswers, pathOf, withBody, withFields } from "../message.ts";
import { faultyCommits, type Mutant, type Wrap } from "../mutant.ts";
import { type Members, readJson } from "../jsonrpc/rpc_message.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `skills/${id}`);

/** Changes JSON answers with status 200 of paths that match, in place. */
export const told = (method: string, path: RegExp, change: (json: Members, request: Request) => void): Wrap =>
  faultyAnswers(undefined, async (answer, request) => {
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

export const SKILLS_TOLD: readonly Mutant[] = [
  {
    name: "skills/dates-untold",
    fault: "Does not say when skills were made",
    wrap: told("POST", LIST, (json) => {
      delete json["created_at"];
    }),
    breaks: names("create/whole-object"),
    mayBreak: { "They have the whole object, too": names("create/archive-", "october_2025/skill-shape") },
  },
  {
    name: "skills/source-untold",
    fault: "Does not say where a skill is from when it is asked for",
    wrap: told("GET", ONE, (json) => {
      delete json["source"];
    }),
    breaks: names("retrieve/same-object"),
    mayBreak: { "They compare it": names("october_2025/") },
  },
  {
    name: "skills/directory-untold",
    fault: "Does not say in which directory a version of the beta lies",
    wrap: (next) => {
      const change = (json: Members): void => void delete json["directory"];
      return told("POST", VERSIONS, change)(told("GET", VERSION, change)(next));
    },
    breaks: names("october_2025/version-shape"),
  },
  {
    name: "skills/number-untold",
    fault: "Does not say which number a new version of the beta has",
    wrap: told("POST", VERSIONS, (json) => {
      delete json["version"];
    }),
    breaks: names("october_2025/new-version"),
    mayBreak: { "They take the number of a version that they make": names("october_2025/", "messages/") },
    stops: "They take the number of a version that they make",
  },
  {
    name: "skills/lists-lag",
    fault: "Leaves the newest skill out of lists",
    wrap: told("GET", LIST, (json) => {
      if (Array.isArray(json["data"])) json["data"].shift();
    }),
    breaks: names("list/limit-of-one"),
    mayBreak: { "They list skills": names("") },
  },
  {
    name: "skills/lists-of-the-folder",
    fault: "Lists the skills of the server alone",
    wrap: told("GET", LIST, (json) => {
      json["data"] = [];
    }),
    breaks: names("list/holds-what-was-created"),
    mayBreak: { "They list skills": names("") },
  },
  {
    name: "skills/first-version-newest",
    fault: "Has the first version for the newest",
    wrap: (next) => {
      const firsts = new Map<unknown, unknown>();
      const created = told("POST", LIST, (json) => void firsts.set(json["id"], json["latest_version_id"]));
      const asked = told("GET", ONE, (json) => {
        if ("latest_version_id" in json) json["latest_version_id"] = firsts.get(json["id"]);
      });
      return asked(created(next));
    },
    breaks: names("versions/becomes-newest"),
    mayBreak: { "They ask for the newest": names("delete/", "versions/", "october_2025/") },
  },
  {
    name: "skills/one-version",
    fault: "Gives the newest version for each",
    wrap: (next) => async (request) => {
      if (request.method !== "GET" || !VERSION.test(pathOf(request))) return await next(request);
      return await next(
        new Request(request.url.replace(/\/[^/]+$/, "/latest"), { headers: request.headers }),
      );
    },
    breaks: names("versions/old-stays"),
    mayBreak: { "They ask for a version that is not the newest": names("") },
  },
  {
    name: "skills/no-latest",
    fault: "Does not know latest",
    wrap: (next) => async (request) =>
      pathOf(request).endsWith("/versions/latest")
        ? Response.json({ type: "error", error: { type: "not_found_error", message: "No" } }, { status: 404 })
        : await next(request),
    breaks: names("versions/latest"),
    mayBreak: { "They ask for it": names("") },
  },
  {
    name: "skills/content-in-place",
    fault: "Sends content as if it were a page",
    wrap: faultyAnswers(
      undefined,
      (answer, request) =>
        pathOf(request).endsWith("/content")
          ? withFields(answer, { "content-disposition": undefined, "x-content-type-options": undefined })
          : answer,
    ),
    breaks: names("intake/served-apart"),
  },
  {
    name: "skills/commits-unchecked",
    fault: "Writes without a look at what others wrote meanwhile",
    store: faultyCommits(({ check: _, ...commit }) => commit),
    breaks: names("delete/at-once"),
    mayBreak: { "What races over their records stands there wrongly": names("") },
  },
  {
    name: "skills/titles-of-all",
    fault: "Does not write down who has a title",
    store: faultyCommits((commit) => ({
      ...commit,
      ...(commit.set && { set: commit.set.filter(({ key }) => !String(key[0]).includes("title")) }),
    })),
    breaks: names("october_2025/title-twice", "october_2025/title-at-once"),
  },
  {
    name: "skills/versions-lost",
    fault: "Says of a version that was uploaded beside others that it was taken",
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
    breaks: names("versions/at-once"),
  },
  {
    name: "skills/index-without-schema",
    fault: "Does not say which schema the index has",
    wrap: told("GET", INDEX, (json) => {
      delete json["$schema"];
    }),
    breaks: names("discovery/index"),
  },
  {
    name: "skills/index-without-descriptions",
    fault: "Has no descriptions in the index",
    wrap: told("GET", INDEX, (json) => {
      for (const each of json["skills"] as Members[]) each["description"] = "";
    }),
    breaks: names("discovery/names"),
  },
  {
    name: "skills/older-index-without-files",
    fault: "Does not list SKILL.md in the older index",
    wrap: told("GET", /^\/\.well-known\/skills\/index\.json$/, (json) => {
      for (const each of json["skills"] as Members[]) each["files"] = [];
    }),
    breaks: names("discovery/older-index"),
  },
  {
    name: "skills/artifacts-in-a-folder",
    fault: "Has a folder around the files of artifacts",
    wrap: faultyAnswers(
      undefined,
      (answer, request) => {
        const name = /\/agent-skills\/(?:.*\/)?([^/]+)\.zip$/.exec(pathOf(request))?.[1] ??
          /\/agent-skills\/([^/]+)\/SKILL\.md$/.exec(pathOf(request))?.[1];
        return name !== undefined && answer.ok ? withBody(answer, `PK\x03\x04${name}/SKILL.md`) : answer;
      },
    ),
    breaks: names("discovery/archive-without-folder", "discovery/digest"),
  },
  {
    name: "skills/everything-discovered",
    fault: "Has a skill at every well-known address",
    wrap: faultyAnswers(
      undefined,
      (answer, request) =>
        pathOf(request).startsWith("/.well-known/") && [400, 404].includes(answer.status)
          ? withBody(answer, "---\nname: a\ndescription: A skill\n---\n", 200)
          : answer,
    ),
    breaks: names(
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
