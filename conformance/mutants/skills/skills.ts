/**
 * Faults in the Skills API and in skill discovery.
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

const names = (...ids: string[]): string[] => ids.map((id) => `skills/${id}`);

const KEYS: Readonly<Record<string, string>> =
  JSON.parse(readFileSync(new URL("../../targets/trivet.json", import.meta.url), "utf8")).vars.keys;
const INDEX = "/.well-known/agent-skills/index.json";

const isApi = (request: Request): boolean => pathOf(request).startsWith("/v1/skills");

const changeApiRequests = (change: (request: Request) => Request): Wrap => (next) => async (request) =>
  await next(isApi(request) ? change(request) : request);

const changeApiResponses = (
  change: (answer: Response, request: Request) => Response | Promise<Response>,
): Wrap => changeResponses(undefined, (answer, request) => isApi(request) ? change(answer, request) : answer);

/** Replaces keys that match `when` with the writer's key. */
const useWriterKey = (when: (key: string | null) => boolean): Wrap =>
  changeApiRequests((request) =>
    when(request.headers.get("x-api-key")) && !request.headers.has("authorization")
      ? withRequestHeaders(request, { "x-api-key": KEYS["writer"] })
      : request
  );

/** Removes a query parameter whose value matches `when`. */
const ignoreParameter = (name: string, when: (value: string) => boolean): Wrap =>
  changeApiRequests((request) => {
    const url = new URL(request.url);
    const value = url.searchParams.get(name);
    if (request.method !== "GET" || value === null || !when(value)) return request;
    url.searchParams.delete(name);
    return withUrl(request, url);
  });

export const SKILLS: readonly Mutant[] = [
  {
    name: "skills/list-without-times",
    fault: "Lists skills without the time of their last change",
    wrap: changeApiResponses(async (answer, request) => {
      if (pathOf(request) !== "/v1/skills" || request.method !== "GET" || answer.status !== 200) {
        return answer;
      }
      const { data, ...page } = JSON.parse(await answer.clone().text());
      const skills = data.map(({ updated_at: _, ...skill }: Record<string, unknown>) => skill);
      return withBody(answer, JSON.stringify({ data: skills, ...page }));
    }),
    killedBy: names("list/entry-is-the-skill"),
  },
  {
    name: "skills/one-workspace",
    fault: "Shows every workspace to the key of another",
    wrap: useWriterKey((key) => key === KEYS["stranger"]),
    killedBy: names(
      "retrieve/other-workspace",
      "list/other-workspace",
      "versions/read-by-other-workspace",
      "content/other-workspace",
      "delete/other-workspace",
    ),
    mayFail: {
      "They send the key of another workspace": names(
        "delete/version-by-other-workspace",
        "list/cursor-of-another-workspace",
        "october_2025/delete-by-other-workspace",
        "october_2025/other-workspace",
        "versions/list-of-other-workspace",
        "versions/of-other-workspace",
      ),
    },
  },
  {
    name: "skills/readers-write",
    fault: "Lets read-only keys write",
    wrap: useWriterKey((key) => key === KEYS["reader"]),
    killedBy: names("create/reader", "delete/reader", "versions/by-reader"),
  },
  {
    name: "skills/key-optional",
    fault: "Accepts requests without a key",
    wrap: useWriterKey((key) => key === null),
    killedBy: names("retrieve/no-key", "create/no-key", "delete/no-key", "content/no-key"),
    mayFail: { "They send no key": names("october_2025/no-key", "retrieve/request-id-without-key") },
  },
  {
    name: "skills/any-key",
    fault: "Accepts any key",
    wrap: useWriterKey((key) => key !== null && !Object.values(KEYS).includes(key)),
    killedBy: names("retrieve/unknown-key", "retrieve/altered-key"),
  },
  {
    name: "skills/bearer-ignored",
    fault: "Does not accept keys as bearer tokens",
    wrap: changeApiRequests((request) => withRequestHeaders(request, { authorization: undefined })),
    killedBy: names("retrieve/bearer"),
  },
  {
    name: "skills/forbidden-for-unknown",
    fault: "Returns 403 in place of 404",
    wrap: changeApiResponses((answer) => answer.status === 404 ? withHeaders(answer, {}, 403) : answer),
    killedBy: names("retrieve/unknown", "retrieve/other-workspace", "versions/unknown", "delete/twice"),
    mayFail: {
      "They request an unknown resource or one of another workspace": names(
        "content/",
        "delete/",
        "october_2025/delete-",
        "october_2025/other-workspace",
        "october_2025/unknown-version",
        "retrieve/dots-in-path",
        "retrieve/request-id-of-refusal",
        "versions/list-of-",
        "versions/of-",
        "versions/read-by-other-workspace",
      ),
    },
  },
  {
    name: "skills/invalid-limit-ignored",
    fault: "Ignores an invalid limit and uses the default",
    wrap: ignoreParameter("limit", (limit) => !/^[1-9]\d*$/.test(limit)),
    killedBy: names("list/limit-zero", "list/limit-word", "list/limit-negative", "list/limit-fraction"),
    mayFail: { "Their limits are invalid": names("list/versions-limit-", "october_2025/limit-") },
  },
  {
    name: "skills/limit-unbounded",
    fault: "Ignores the maximum of limit",
    wrap: ignoreParameter("limit", (limit) => Number(limit) > 1000),
    killedBy: names("list/limit-too-many", "list/versions-limit-too-many"),
  },
  {
    name: "skills/cursors-ignored",
    fault: "Ignores cursors",
    wrap: ignoreParameter("page", () => true),
    killedBy: names("list/cursor-made-up", "list/cursor-id", "list/altered-cursor", "list/limit-of-one"),
    mayFail: {
      "They request the page after the first": names("list/versions-in-pages", "october_2025/pages"),
      "Their cursors belong to another list or are invalid": names(
        "list/cursor-",
        "october_2025/cursor-made-up",
      ),
    },
  },
  {
    name: "skills/source-ignored",
    fault: "Ignores source",
    wrap: ignoreParameter("source", () => true),
    killedBy: names("list/none-custom"),
    mayFail: { "It lists skills that are not custom": names("list/only-custom") },
  },
  {
    name: "skills/versions-reversed",
    fault: "Lists versions in reverse order",
    wrap: changeApiResponses(async (answer, request) => {
      if (request.method !== "GET" || !pathOf(request).endsWith("/versions") || !answer.ok) return answer;
      const json = await answer.json();
      return withBody(answer, JSON.stringify({ ...json, data: json.data.reverse() }));
    }),
    killedBy: names("versions/newest-first", "october_2025/oldest-first"),
    mayFail: { "It expects the newest on the first page": names("list/versions-in-pages") },
  },
  {
    name: "skills/no-request-id",
    fault: "Leaves the request-id header out",
    wrap: changeApiResponses((answer) => withHeaders(answer, { "request-id": undefined })),
    killedBy: names("retrieve/request-id", "retrieve/request-id-of-refusal", "content/request-id"),
    mayFail: {
      "They check request-id": names("retrieve/request-id-without-key", "retrieve/request-ids-differ"),
    },
  },
  {
    name: "skills/one-request-id",
    fault: "Gives all requests the same request-id",
    wrap: changeApiResponses((answer) => withHeaders(answer, { "request-id": "req_1" })),
    killedBy: names("retrieve/request-ids-differ"),
    mayFail: {
      "The id in the body differs from the header": names(
        "retrieve/request-id-of-refusal",
        "retrieve/request-id-without-key",
      ),
    },
  },
  {
    name: "skills/beta-ignored",
    fault: "Ignores the beta header on GET",
    wrap: changeApiRequests((request) =>
      request.method === "GET" ? withRequestHeaders(request, { "anthropic-beta": undefined }) : request
    ),
    killedBy: names("october_2025/marker-in-list", "october_2025/oldest-first"),
    mayFail: { "They check the shapes of the beta": names("october_2025/", "messages/") },
  },
  {
    name: "skills/deletes-nothing",
    fault: "Answers DELETE with success and keeps the skill",
    wrap: (next) => async (request) => {
      if (!isApi(request) || request.method !== "DELETE") return await next(request);
      return Response.json({ id: pathOf(request).split("/").at(-1), type: "skill_deleted" });
    },
    killedBy: names("delete/skill", "delete/twice", "delete/unknown", "content/after-deletion"),
    mayFail: {
      "They delete a skill or version": names("delete/", "messages/deleted-skill", "october_2025/delete-"),
    },
  },
  {
    name: "skills/uploads-never-refused",
    fault: "Answers invalid uploads with 200",
    wrap: changeApiResponses((answer, request) =>
      request.method === "POST" && answer.status === 400 ? withHeaders(answer, {}, 200) : answer
    ),
    killedBy: names(
      "package/name-with-capital",
      "package/no-description",
      "archive/path-dots",
      "intake/path-dots",
    ),
    mayFail: {
      "They expect a refused upload": names(
        "archive/",
        "create/",
        "intake/",
        "october_2025/archive-without-folder",
        "october_2025/folder-of-other-name",
        "october_2025/no-",
        "october_2025/skill-md-below",
        "october_2025/title-",
        "october_2025/two-folders",
        "october_2025/version-",
        "package/",
        "versions/no-skill-md",
        "versions/other-name",
      ),
    },
  },
  {
    name: "skills/index-without-cors",
    fault: "Does not let other origins read the index",
    wrap: changeResponses(
      INDEX,
      (answer) => withHeaders(answer, { "access-control-allow-origin": undefined }),
    ),
    killedBy: names("discovery/other-origins"),
  },
  {
    name: "skills/index-always-sent",
    fault: "Ignores If-None-Match for the index",
    wrap: (next) => async (request) =>
      await next(
        pathOf(request) === INDEX ? withRequestHeaders(request, { "if-none-match": undefined }) : request,
      ),
    killedBy: names("discovery/unchanged"),
  },
  {
    name: "skills/index-wrong-digests",
    fault: "Lists digests in the index that do not match the artifacts",
    wrap: changeResponses(
      INDEX,
      async (answer) =>
        answer.status === 200
          ? withBody(answer, (await answer.text()).replace(/sha256:[0-9a-f]{4}/g, "sha256:0123"))
          : answer,
    ),
    killedBy: names("discovery/digest"),
  },
  {
    name: "skills/content-not-an-archive",
    fault: "Returns content that is not an archive",
    wrap: changeApiResponses((answer, request) =>
      answer.ok && pathOf(request).endsWith("/content") ? withBody(answer, "---\n") : answer
    ),
    killedBy: names("content/archive-in-one-folder", "content/folder-added"),
    mayFail: {
      "They read the archive": names(
        "archive/backslashes",
        "archive/litter",
        "archive/name-utf8",
        "october_2025/content",
        "package/any-files",
        "versions/whole-snapshot",
      ),
    },
  },
];
