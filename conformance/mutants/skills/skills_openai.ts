/**
 * Faults of the Skills API in OpenAI's dialect.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { faultyAnswers, pathOf, withBody, withFields, withRequestFields, withUrl } from "../message.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { LIST, told } from "./skills_told.ts";
import { forgiving, refusing } from "./upload.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `skills/openai/${id}`);

const KEYS: Readonly<Record<string, string>> =
  JSON.parse(readFileSync(new URL("../../targets/trivet.json", import.meta.url), "utf8")).vars.keys;
const ONE = /^\/v1\/skills\/[^/]+$/;
const VERSIONS = /^\/v1\/skills\/[^/]+\/versions$/;

/** Has the writer's key where `when` says so of the bearer token that came. */
const promote = (when: (token: string | undefined) => boolean): Wrap => (next) => async (request) => {
  const isOurs = pathOf(request).startsWith("/v1/skills") && !request.headers.has("anthropic-version");
  const token = request.headers.get("authorization")?.replace(/^Bearer /, "");
  return await next(
    isOurs && when(token)
      ? withRequestFields(request, { authorization: `Bearer ${KEYS["writer"]}` })
      : request,
  );
};

/** Leaves a parameter out of addresses. */
const unread = (name: string, when: (value: string) => boolean): Wrap => (next) => async (request) => {
  const url = new URL(request.url);
  const value = url.searchParams.get(name);
  if (request.method !== "GET" || value === null || !when(value)) return await next(request);
  url.searchParams.delete(name);
  return await next(withUrl(request, url));
};

/** Only the dialect of a bearer token alone has this fault. */
const ours = (wrap: Wrap): Wrap => (next) => {
  const faulty = wrap(next);
  return async (request) => await (request.headers.has("anthropic-version") ? next : faulty)(request);
};

const refuse = (when: (request: Request) => boolean): Wrap => (next) => async (request) =>
  when(request)
    ? Response.json({ error: { message: "No", type: "invalid_request_error" } }, { status: 400 })
    : await next(request);

/** Says 200 where Trivet refuses. */
const allow = (method: string, path: RegExp, body: object): Wrap =>
  faultyAnswers(
    undefined,
    (answer, request) =>
      request.method === method && path.test(pathOf(request)) && [400, 404].includes(answer.status)
        ? withBody(answer, JSON.stringify(body), 200)
        : answer,
  );

const openai = (mutants: readonly Omit<Mutant, "isOpenai">[]): readonly Mutant[] =>
  mutants.map((mutant) => ({ ...mutant, isOpenai: true, wrap: ours(mutant.wrap!) }));

export const SKILLS_OPENAI: readonly Mutant[] = openai([
  {
    name: "skills/openai-one-workspace",
    fault: "Shows every workspace to the key of another",
    wrap: promote((token) => token === KEYS["stranger"]),
    breaks: names(
      "other-workspace",
      "version-of-other-workspace",
      "delete-by-other-workspace",
      "content-of-other-workspace",
      "default-by-other-workspace",
    ),
  },
  {
    name: "skills/openai-no-key-needed",
    fault: "Needs no key",
    wrap: promote((token) => token === undefined),
    breaks: names("no-key", "content-no-key"),
  },
  {
    name: "skills/openai-any-key",
    fault: "Takes any key",
    wrap: promote((token) => token !== undefined && !Object.values(KEYS).includes(token)),
    breaks: names("unknown-key"),
  },
  {
    name: "skills/openai-forbidden-for-unknown",
    fault: "Says 403 of what it does not find",
    wrap: faultyAnswers(undefined, (answer) => answer.status === 404 ? withFields(answer, {}, 403) : answer),
    breaks: names(
      "unknown",
      "unknown-version",
      "content-unknown",
      "content-unknown-skill",
      "delete-unknown",
      "other-workspace",
    ),
    mayBreak: { "They do not find something": [...names(""), "skills/discovery/"] },
  },
  {
    name: "skills/openai-no-objects",
    fault: "Does not say which kind of object an answer is",
    wrap: told("GET", /^\/v1\/skills/, (json) => {
      delete json["object"];
    }),
    breaks: names("skill", "list"),
    mayBreak: { "They look at the kind": names("") },
  },
  {
    name: "skills/openai-limits-forgiven",
    fault: "Takes limits that are none for the default",
    wrap: unread("limit", (limit) => !/^\d+$/.test(limit)),
    breaks: names("list-limit-word"),
  },
  {
    name: "skills/openai-order-forgiven",
    fault: "Takes an order that is none for the default",
    wrap: unread("order", (order) => !/^(asc|desc)$/.test(order)),
    breaks: names("list-order-word"),
  },
  {
    name: "skills/openai-order-unread",
    fault: "Lists in one order alone",
    wrap: told("GET", VERSIONS, (json) => {
      if (Array.isArray(json["data"])) json["data"].sort((a, b) => Number(a.version) - Number(b.version));
    }),
    breaks: names("order-descending"),
  },
  {
    name: "skills/openai-after-unread",
    fault: "Does not read after which item a page begins",
    wrap: unread("after", () => true),
    breaks: names("versions-after"),
  },
  {
    name: "skills/openai-newest-is-default",
    fault: "Has the newest version for the default",
    wrap: told("GET", ONE, (json) => {
      if ("default_version" in json) json["default_version"] = json["latest_version"];
    }),
    breaks: names("new-version"),
    mayBreak: { "They look at the default": names("versions-at-once", "delete-default", "delete-version") },
  },
  {
    name: "skills/openai-first-is-default",
    fault: "Has the first version for the default, whatever was chosen",
    wrap: told("GET", ONE, (json) => {
      if ("default_version" in json) json["default_version"] = "1";
    }),
    breaks: names("new-default"),
    mayBreak: { "They look at the default": names("choose-default") },
  },
  {
    name: "skills/openai-choice-unread",
    fault: "Says that a default was chosen, and does not choose it",
    wrap: (next) => async (request) => {
      if (request.method !== "POST" || !ONE.test(pathOf(request))) return await next(request);
      return await next(new Request(request.url, { headers: request.headers }));
    },
    breaks: names("choose-default", "choose-unknown-default", "choose-nothing", "content-of-new-default"),
  },
  {
    name: "skills/openai-default-deleted",
    fault: "Says that it deletes the default version",
    wrap: allow("DELETE", /\/versions\/1$/, { id: "1", object: "skill.version.deleted", deleted: true }),
    breaks: names("delete-default"),
  },
  {
    name: "skills/openai-deletes-untold",
    fault: "Does not say what was deleted",
    wrap: told("DELETE", /^\/v1\/skills/, (json) => {
      delete json["deleted"];
    }),
    breaks: names("delete", "delete-version"),
  },
  {
    name: "skills/openai-content-of-newest",
    fault: "Has the content of the newest version for that of the skill",
    wrap: (next) => async (request) =>
      await next(
        /^\/v1\/skills\/[^/]+\/content$/.test(pathOf(request))
          ? new Request(request.url.replace(/content$/, "versions/2/content"), { headers: request.headers })
          : request,
      ),
    breaks: names("content"),
  },
  {
    name: "skills/openai-exact-case",
    fault: "Knows SKILL.md in capitals alone",
    wrap: refusing(({ paths }) => paths.some((path) => path.endsWith("skill.md"))),
    breaks: names("lower-case"),
  },
  {
    name: "skills/openai-two-taken",
    fault: "Takes an upload with two SKILL.md",
    wrap: forgiving(({ paths }) => paths.filter((path) => /skill\.md$/i.test(path)).length > 1),
    breaks: names("two-skill-mds"),
  },
  {
    name: "skills/openai-none-taken",
    fault: "Takes an upload without SKILL.md",
    wrap: forgiving(({ paths }) => !paths.some((path) => /skill\.md$/i.test(path))),
    breaks: names("no-skill-md", "no-files", "version-without-skill-md"),
    mayBreak: { "They send no SKILL.md": names("choose-", "default-by", "version-of-other") },
  },
  {
    name: "skills/openai-no-archives",
    fault: "Refuses archives",
    wrap: refusing(({ entries }) => entries.length > 0),
    breaks: names("archive"),
  },
  {
    name: "skills/openai-numbers-from-above",
    fault: "Has one number for all further versions",
    wrap: told("POST", VERSIONS, (json) => {
      if ("version" in json) json["version"] = "3";
    }),
    breaks: names("versions-at-once"),
    mayBreak: { "They look at the number": names("") },
  },
  {
    name: "skills/openai-lists-refused",
    fault: "Refuses lists",
    wrap: refuse((request) => request.method === "GET" && LIST.test(pathOf(request))),
    breaks: names("list"),
    mayBreak: { "They list skills to see what is stored": names("") },
  },
]);
