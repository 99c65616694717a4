/**
 * Faults of the Skills API and of the discovery of skills.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { faultyAnswers, pathOf, withBody, withFields, withRequestFields, withUrl } from "../message.ts";
import type { Mutant, Wrap } from "../mutant.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `skills/${id}`);

const KEYS: Readonly<Record<string, string>> =
  JSON.parse(readFileSync(new URL("../../targets/trivet.json", import.meta.url), "utf8")).vars.keys;
const INDEX = "/.well-known/agent-skills/index.json";

const isApi = (request: Request): boolean => pathOf(request).startsWith("/v1/skills");

const asked = (change: (request: Request) => Request): Wrap => (next) => async (request) =>
  await next(isApi(request) ? change(request) : request);

const answered = (change: (answer: Response, request: Request) => Response | Promise<Response>): Wrap =>
  faultyAnswers(undefined, (answer, request) => isApi(request) ? change(answer, request) : answer);

/** Has the writer's key where `when` says so of the key that came. */
const promote = (when: (key: string | null) => boolean): Wrap =>
  asked((request) =>
    when(request.headers.get("x-api-key")) && !request.headers.has("authorization")
      ? withRequestFields(request, { "x-api-key": KEYS["writer"] })
      : request
  );

/** Leaves a parameter out of addresses. */
const unread = (name: string, when: (value: string) => boolean): Wrap =>
  asked((request) => {
    const url = new URL(request.url);
    const value = url.searchParams.get(name);
    if (request.method !== "GET" || value === null || !when(value)) return request;
    url.searchParams.delete(name);
    return withUrl(request, url);
  });

export const SKILLS: readonly Mutant[] = [
  {
    name: "skills/one-workspace",
    fault: "Shows every workspace to the key of another",
    wrap: promote((key) => key === KEYS["stranger"]),
    breaks: names(
      "retrieve/other-workspace",
      "list/other-workspace",
      "versions/read-by-other-workspace",
      "content/other-workspace",
      "delete/other-workspace",
    ),
    mayBreak: {
      "They have the key of another workspace, too": names(
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
    fault: "Lets keys write that may only read",
    wrap: promote((key) => key === KEYS["reader"]),
    breaks: names("create/reader", "delete/reader", "versions/by-reader"),
  },
  {
    name: "skills/no-key-needed",
    fault: "Needs no key",
    wrap: promote((key) => key === null),
    breaks: names("retrieve/no-key", "create/no-key", "delete/no-key", "content/no-key"),
    mayBreak: { "They have no key either": names("october_2025/no-key", "retrieve/request-id-without-key") },
  },
  {
    name: "skills/any-key",
    fault: "Takes any key",
    wrap: promote((key) => key !== null && !Object.values(KEYS).includes(key)),
    breaks: names("retrieve/unknown-key", "retrieve/altered-key"),
  },
  {
    name: "skills/bearer-unread",
    fault: "Takes no key as a bearer token",
    wrap: asked((request) => withRequestFields(request, { authorization: undefined })),
    breaks: names("retrieve/bearer"),
  },
  {
    name: "skills/forbidden-for-unknown",
    fault: "Says 403 of what it does not find",
    wrap: answered((answer) => answer.status === 404 ? withFields(answer, {}, 403) : answer),
    breaks: names("retrieve/unknown", "retrieve/other-workspace", "versions/unknown", "delete/twice"),
    mayBreak: {
      "They ask for what is not there, or not for them": names(
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
    name: "skills/limits-forgiven",
    fault: "Takes limits that are none for the default",
    wrap: unread("limit", (limit) => !/^[1-9]\d*$/.test(limit)),
    breaks: names("list/limit-zero", "list/limit-word", "list/limit-negative", "list/limit-fraction"),
    mayBreak: { "Their limits are none either": names("list/versions-limit-", "october_2025/limit-") },
  },
  {
    name: "skills/limits-without-end",
    fault: "Takes any number for a limit",
    wrap: unread("limit", (limit) => Number(limit) > 1000),
    breaks: names("list/limit-too-many", "list/versions-limit-too-many"),
  },
  {
    name: "skills/cursors-unread",
    fault: "Does not read cursors",
    wrap: unread("page", () => true),
    breaks: names("list/cursor-made-up", "list/cursor-id", "list/altered-cursor", "list/limit-of-one"),
    mayBreak: {
      "They ask for the page after the first": names("list/versions-in-pages", "october_2025/pages"),
      "Their cursors are of other lists, or of none": names("list/cursor-", "october_2025/cursor-made-up"),
    },
  },
  {
    name: "skills/source-unread",
    fault: "Does not read source",
    wrap: unread("source", () => true),
    breaks: names("list/none-custom"),
    mayBreak: { "It lists skills that are not custom": names("list/only-custom") },
  },
  {
    name: "skills/versions-turned-round",
    fault: "Lists versions the other way round",
    wrap: answered(async (answer, request) => {
      if (request.method !== "GET" || !pathOf(request).endsWith("/versions") || !answer.ok) return answer;
      const json = await answer.json();
      return withBody(answer, JSON.stringify({ ...json, data: json.data.reverse() }));
    }),
    breaks: names("versions/newest-first", "october_2025/oldest-first"),
    mayBreak: { "It looks for the newest on the first page": names("list/versions-in-pages") },
  },
  {
    name: "skills/no-request-id",
    fault: "Does not name requests",
    wrap: answered((answer) => withFields(answer, { "request-id": undefined })),
    breaks: names("retrieve/request-id", "retrieve/request-id-of-refusal", "content/request-id"),
    mayBreak: {
      "They read the name, too": names("retrieve/request-id-without-key", "retrieve/request-ids-differ"),
    },
  },
  {
    name: "skills/one-request-id",
    fault: "Names all requests alike",
    wrap: answered((answer) => withFields(answer, { "request-id": "req_1" })),
    breaks: names("retrieve/request-ids-differ"),
    mayBreak: {
      "The name in the body is another": names(
        "retrieve/request-id-of-refusal",
        "retrieve/request-id-without-key",
      ),
    },
  },
  {
    name: "skills/beta-unread",
    fault: "Does not read the marker of the beta on GET",
    wrap: asked((request) =>
      request.method === "GET" ? withRequestFields(request, { "anthropic-beta": undefined }) : request
    ),
    breaks: names("october_2025/marker-in-list", "october_2025/oldest-first"),
    mayBreak: { "They read what they made in the shapes of the beta": names("october_2025/", "messages/") },
  },
  {
    name: "skills/deletes-nothing",
    fault: "Says that a skill was deleted, and keeps it",
    wrap: (next) => async (request) => {
      if (!isApi(request) || request.method !== "DELETE") return await next(request);
      return Response.json({ id: pathOf(request).split("/").at(-1), type: "skill_deleted" });
    },
    breaks: names("delete/skill", "delete/twice", "delete/unknown", "content/after-deletion"),
    mayBreak: { "They delete, too": names("delete/", "messages/deleted-skill", "october_2025/delete-") },
  },
  {
    name: "skills/uploads-never-refused",
    fault: "Says of every upload that it was taken",
    wrap: answered((answer, request) =>
      request.method === "POST" && answer.status === 400 ? withFields(answer, {}, 200) : answer
    ),
    breaks: names(
      "package/name-with-capital",
      "package/no-description",
      "archive/path-dots",
      "intake/path-dots",
    ),
    mayBreak: {
      "They upload what is to be refused, too": names(
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
    name: "skills/index-for-own-pages",
    fault: "Keeps the index from pages of other origins",
    wrap: faultyAnswers(INDEX, (answer) => withFields(answer, { "access-control-allow-origin": undefined })),
    breaks: names("discovery/other-origins"),
  },
  {
    name: "skills/index-always-sent",
    fault: "Sends the index again though it has not changed",
    wrap: (next) => async (request) =>
      await next(
        pathOf(request) === INDEX ? withRequestFields(request, { "if-none-match": undefined }) : request,
      ),
    breaks: names("discovery/unchanged"),
  },
  {
    name: "skills/index-of-other-digests",
    fault: "Has digests in the index that are not those of the artifacts",
    wrap: faultyAnswers(
      INDEX,
      async (answer) =>
        answer.status === 200
          ? withBody(answer, (await answer.text()).replace(/sha256:[0-9a-f]{4}/g, "sha256:0123"))
          : answer,
    ),
    breaks: names("discovery/digest"),
  },
  {
    name: "skills/content-is-no-archive",
    fault: "Has no archive for content",
    wrap: answered((answer, request) =>
      answer.ok && pathOf(request).endsWith("/content") ? withBody(answer, "---\n") : answer
    ),
    breaks: names("content/archive-in-one-folder", "content/folder-added"),
    mayBreak: {
      "They look into the archive, too": names(
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
