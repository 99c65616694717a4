/**
 * Faults in the Skills API in OpenAI's dialect.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import {
  changeResponses,
  pathOf,
  withBody,
  withHeaders,
  withRequestHeaders,
  withUrl,
} from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { changeResponseJson, LIST } from "./skills_responses.ts";
import { acceptUploads, refuseUploads } from "./upload_faults.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `skills/openai/${id}`);

const KEYS: Readonly<Record<string, string>> =
  JSON.parse(readFileSync(new URL("../../targets/trivet.json", import.meta.url), "utf8")).vars.keys;
const ONE = /^\/v1\/skills\/[^/]+$/;
const VERSIONS = /^\/v1\/skills\/[^/]+\/versions$/;

/** Replaces bearer tokens that match `when` with the writer's key. */
const useWriterKey = (when: (token: string | undefined) => boolean): Wrap => (next) => async (request) => {
  const isOurs = pathOf(request).startsWith("/v1/skills") && !request.headers.has("anthropic-version");
  const token = request.headers.get("authorization")?.replace(/^Bearer /, "");
  return await next(
    isOurs && when(token)
      ? withRequestHeaders(request, { authorization: `Bearer ${KEYS["writer"]}` })
      : request,
  );
};

/** Removes a query parameter whose value matches `when`. */
const ignoreParameter =
  (name: string, when: (value: string) => boolean): Wrap => (next) => async (request) => {
    const url = new URL(request.url);
    const value = url.searchParams.get(name);
    if (request.method !== "GET" || value === null || !when(value)) return await next(request);
    url.searchParams.delete(name);
    return await next(withUrl(request, url));
  };

/** Applies a fault only to requests of OpenAI's dialect. */
const onlyOpenai = (wrap: Wrap): Wrap => (next) => {
  const faulty = wrap(next);
  return async (request) => await (request.headers.has("anthropic-version") ? next : faulty)(request);
};

const refuseRequests = (when: (request: Request) => boolean): Wrap => (next) => async (request) =>
  when(request)
    ? Response.json({ error: { message: "No", type: "invalid_request_error" } }, { status: 400 })
    : await next(request);

/** Returns 200 where Trivet refuses. */
const answerRefused = (method: string, path: RegExp, body: object): Wrap =>
  changeResponses(
    undefined,
    (answer, request) =>
      request.method === method && path.test(pathOf(request)) && [400, 404].includes(answer.status)
        ? withBody(answer, JSON.stringify(body), 200)
        : answer,
  );

const withOpenai = (mutants: readonly Omit<Mutant, "isOpenai">[]): readonly Mutant[] =>
  mutants.map((mutant) => ({ ...mutant, isOpenai: true, wrap: onlyOpenai(mutant.wrap!) }));

export const SKILLS_OPENAI: readonly Mutant[] = withOpenai([
  {
    name: "skills/openai-one-workspace",
    fault: "Shows every workspace to the key of another",
    wrap: useWriterKey((token) => token === KEYS["stranger"]),
    killedBy: names(
      "other-workspace",
      "version-of-other-workspace",
      "delete-by-other-workspace",
      "content-of-other-workspace",
      "default-by-other-workspace",
    ),
  },
  {
    name: "skills/openai-key-optional",
    fault: "Accepts requests without a key",
    wrap: useWriterKey((token) => token === undefined),
    killedBy: names("no-key", "content-no-key"),
  },
  {
    name: "skills/openai-any-key",
    fault: "Accepts any key",
    wrap: useWriterKey((token) => token !== undefined && !Object.values(KEYS).includes(token)),
    killedBy: names("unknown-key"),
  },
  {
    name: "skills/openai-forbidden-for-unknown",
    fault: "Returns 403 in place of 404",
    wrap: changeResponses(
      undefined,
      (answer) => answer.status === 404 ? withHeaders(answer, {}, 403) : answer,
    ),
    killedBy: names(
      "unknown",
      "unknown-version",
      "content-unknown",
      "content-unknown-skill",
      "delete-unknown",
      "other-workspace",
    ),
    mayFail: { "They expect 404": [...names(""), "skills/discovery/"] },
  },
  {
    name: "skills/openai-object-omitted",
    fault: "Leaves object out of responses",
    wrap: changeResponseJson("GET", /^\/v1\/skills/, (json) => {
      delete json["object"];
    }),
    killedBy: names("skill", "list"),
    mayFail: { "They check object": names("") },
  },
  {
    name: "skills/openai-invalid-limit-ignored",
    fault: "Ignores an invalid limit and uses the default",
    wrap: ignoreParameter("limit", (limit) => !/^\d+$/.test(limit)),
    killedBy: names("list-limit-word"),
  },
  {
    name: "skills/openai-invalid-order-ignored",
    fault: "Ignores an invalid order and uses the default",
    wrap: ignoreParameter("order", (order) => !/^(asc|desc)$/.test(order)),
    killedBy: names("list-order-word"),
  },
  {
    name: "skills/openai-order-ignored",
    fault: "Ignores order",
    wrap: changeResponseJson("GET", VERSIONS, (json) => {
      if (Array.isArray(json["data"])) json["data"].sort((a, b) => Number(a.version) - Number(b.version));
    }),
    killedBy: names("order-descending"),
  },
  {
    name: "skills/openai-after-ignored",
    fault: "Ignores after",
    wrap: ignoreParameter("after", () => true),
    killedBy: names("versions-after"),
  },
  {
    name: "skills/openai-newest-is-default",
    fault: "Reports the newest version as the default",
    wrap: changeResponseJson("GET", ONE, (json) => {
      if ("default_version" in json) json["default_version"] = json["latest_version"];
    }),
    killedBy: names("new-version"),
    mayFail: {
      "They check the default version": names("versions-at-once", "delete-default", "delete-version"),
    },
  },
  {
    name: "skills/openai-first-is-default",
    fault: "Reports the first version as the default, whichever was chosen",
    wrap: changeResponseJson("GET", ONE, (json) => {
      if ("default_version" in json) json["default_version"] = "1";
    }),
    killedBy: names("new-default"),
    mayFail: { "They check the default version": names("choose-default") },
  },
  {
    name: "skills/openai-choice-ignored",
    fault: "Confirms a new default version without storing it",
    wrap: (next) => async (request) => {
      if (request.method !== "POST" || !ONE.test(pathOf(request))) return await next(request);
      return await next(new Request(request.url, { headers: request.headers }));
    },
    killedBy: names("choose-default", "choose-unknown-default", "choose-nothing", "content-of-new-default"),
  },
  {
    name: "skills/openai-default-deleted",
    fault: "Confirms the deletion of the default version",
    wrap: answerRefused("DELETE", /\/versions\/1$/, {
      id: "1",
      object: "skill.version.deleted",
      deleted: true,
    }),
    killedBy: names("delete-default"),
  },
  {
    name: "skills/openai-deleted-omitted",
    fault: "Leaves deleted out of responses to DELETE",
    wrap: changeResponseJson("DELETE", /^\/v1\/skills/, (json) => {
      delete json["deleted"];
    }),
    killedBy: names("delete", "delete-version"),
  },
  {
    name: "skills/openai-content-of-newest",
    fault: "Returns the newest version's content in place of the default's",
    wrap: (next) => async (request) =>
      await next(
        /^\/v1\/skills\/[^/]+\/content$/.test(pathOf(request))
          ? new Request(request.url.replace(/content$/, "versions/2/content"), { headers: request.headers })
          : request,
      ),
    killedBy: names("content"),
  },
  {
    name: "skills/openai-exact-case",
    fault: "Accepts SKILL.md in capitals only",
    wrap: refuseUploads(({ paths }) => paths.some((path) => path.endsWith("skill.md"))),
    killedBy: names("lower-case"),
  },
  {
    name: "skills/openai-two-accepted",
    fault: "Accepts an upload with two SKILL.md",
    wrap: acceptUploads(({ paths }) => paths.filter((path) => /skill\.md$/i.test(path)).length > 1),
    killedBy: names("two-skill-mds"),
  },
  {
    name: "skills/openai-none-accepted",
    fault: "Accepts an upload without SKILL.md",
    wrap: acceptUploads(({ paths }) => !paths.some((path) => /skill\.md$/i.test(path))),
    killedBy: names("no-skill-md", "no-files", "version-without-skill-md"),
    mayFail: { "They send no SKILL.md": names("choose-", "default-by", "version-of-other") },
  },
  {
    name: "skills/openai-no-archives",
    fault: "Refuses archives",
    wrap: refuseUploads(({ entries }) => entries.length > 0),
    killedBy: names("archive"),
  },
  {
    name: "skills/openai-version-numbers-repeat",
    fault: "Gives all later versions the same number",
    wrap: changeResponseJson("POST", VERSIONS, (json) => {
      if ("version" in json) json["version"] = "3";
    }),
    killedBy: names("versions-at-once"),
    mayFail: { "They check the version number": names("") },
  },
  {
    name: "skills/openai-lists-refused",
    fault: "Refuses to list skills",
    wrap: refuseRequests((request) => request.method === "GET" && LIST.test(pathOf(request))),
    killedBy: names("list"),
    mayFail: { "They list skills to check what is stored": names("") },
  },
]);
