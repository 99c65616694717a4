/**
 * Faults in Messages requests that attach skills.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { changeResponses, onPath, withBody, withRequestHeaders } from "../http_faults.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";

const MESSAGES = "/v1/messages";
const names = (...ids: string[]): string[] => ids.map((id) => `skills/messages/${id}`);
const ALL = { "They create a container": ["skills/messages/"] };

interface Container {
  id?: string;
  skills?: Record<string, unknown>[] | null;
}

/** The part of a request or response that the faults use. */
interface Message {
  type?: string;
  container?: string | Container | null;
}

/** Returns the container if it is an object. */
const findContainer = ({ container }: Message): Container | undefined =>
  typeof container === "object" && container !== null ? container : undefined;
const skillsOf = (message: Message): Record<string, unknown>[] => {
  const skills = findContainer(message)?.skills;
  return Array.isArray(skills) ? skills.filter((skill) => typeof skill === "object") : [];
};

/** Changes the body of a request. */
const changeBody = (change: (body: Message) => unknown): Wrap =>
  onPath(MESSAGES, (next) => async (request) => {
    const text = await request.clone().text();
    try {
      const body = JSON.parse(text);
      change(body);
      return await next(
        new Request(request.url, { method: "POST", headers: request.headers, body: JSON.stringify(body) }),
      );
    } catch {
      return await next(request);
    }
  });

const changeMessage = (change: (answer: Message) => unknown): Wrap =>
  changeResponses(MESSAGES, async (answer) => {
    const text = await answer.clone().text();
    if (!text.startsWith("{")) return answer;
    const json = JSON.parse(text);
    change(json);
    return withBody(answer, JSON.stringify(json));
  });

/** Answers refused requests with success when the error matches. */
const acceptRefused = (words: RegExp): Wrap =>
  onPath(MESSAGES, (next) => async (request) => {
    const answer = await next(request);
    if (answer.status < 400 || !words.test(await answer.clone().text())) return answer;
    return Response.json({ type: "message", role: "assistant", content: [], container: null });
  });

const KEYS: { readonly writer: string } = JSON.parse(
  readFileSync(new URL("../../targets/trivet.json", import.meta.url), "utf8"),
).vars.keys;

/** Replaces the key with the owner's. */
const useOwnerKey: Wrap = onPath(
  MESSAGES,
  (next: Handler) => async (request) => await next(withRequestHeaders(request, { "x-api-key": KEYS.writer })),
);

export const SKILL_MESSAGES: readonly Mutant[] = [
  {
    name: "skills/messages-container-omitted",
    fault: "Leaves the container out of the response",
    wrap: changeMessage((answer) => delete answer.container),
    killedBy: names("attached", "container-told", "latest", "newest", "pinned", "two"),
    mayFail: ALL,
    preventsSetup: "They need the container's id",
  },
  {
    name: "skills/messages-version-unresolved",
    fault: 'Returns "latest" in place of the version that it used',
    wrap: changeMessage((answer) => skillsOf(answer).forEach((skill) => skill["version"] = "latest")),
    killedBy: names("attached", "latest", "newest", "pinned"),
    mayFail: ALL,
  },
  {
    name: "skills/messages-always-newest",
    fault: "Uses the newest version, whichever was requested",
    wrap: changeBody((body) => skillsOf(body).forEach((skill) => delete skill["version"])),
    killedBy: names("pinned", "unknown-version", "version-of-another", "version-number"),
  },
  {
    name: "skills/messages-order-reversed",
    fault: "Returns skills in another order than the request's",
    wrap: changeMessage((answer) => findContainer(answer)?.skills?.reverse()),
    killedBy: names("two"),
  },
  {
    name: "skills/messages-container-new-each-time",
    fault: "Creates a new container for each request",
    wrap: changeBody((body) => {
      if (typeof body.container === "string") delete body.container;
      else if (findContainer(body)?.skills) delete findContainer(body)!.id;
    }),
    killedBy: names(
      "again-by-text",
      "again-with-skills",
      "versions-stay",
      "unknown-container",
      "container-of-another-workspace",
    ),
    mayFail: { "They send an id": names("container-empty") },
  },
  {
    name: "skills/messages-objects-only",
    fault: "Refuses a container that is a string",
    wrap: onPath(
      MESSAGES,
      (next) => async (request) =>
        /"container":"/.test(await request.clone().text())
          ? Response.json({ type: "error", error: { type: "invalid_request_error", message: "no" } }, {
            status: 400,
          })
          : await next(request),
    ),
    killedBy: names("again-by-text", "versions-stay"),
  },
  {
    name: "skills/messages-string-only",
    fault: "Ignores a container that is an object without skills",
    wrap: changeBody((body) => {
      const container = findContainer(body);
      if (container?.id && !container.skills) delete body.container;
    }),
    killedBy: names("again-by-object"),
  },
  {
    name: "skills/messages-skills-kept",
    fault: "Keeps the skills of a container when the request removes them",
    wrap: changeBody((body) => {
      const container = findContainer(body);
      if (container?.id && container.skills?.length === 0) delete container.skills;
    }),
    killedBy: names("skills-replaced"),
  },
  {
    name: "skills/messages-stream-without-container",
    fault: "Leaves the container out of streamed responses",
    wrap: changeResponses(MESSAGES, async (answer) => {
      const text = await answer.clone().text();
      return text.startsWith("event:")
        ? withBody(answer, text.replaceAll('"container":{', '"box":{'))
        : answer;
    }),
    killedBy: names("streamed"),
  },
  {
    name: "skills/messages-container-for-all",
    fault: "Returns a container to requests that sent none",
    wrap: changeMessage((answer) =>
      answer.type === "message" && (answer.container ??= { id: "c", skills: [{ skill_id: "x" }] })
    ),
    killedBy: names("without"),
    mayFail: { "It expects no container": names("skills-replaced") },
  },
  {
    name: "skills/messages-unknown-ignored",
    fault: "Ignores unknown skills in place of refusing the request",
    wrap: acceptRefused(/not_found_error/),
    killedBy: names(
      "unknown-skill",
      "unknown-version",
      "version-of-another",
      "of-another-workspace",
      "deleted-skill",
      "unknown-container",
      "container-of-another-workspace",
    ),
  },
  {
    name: "skills/messages-of-all-workspaces",
    fault: "Does not check the workspace of skills and containers",
    wrap: useOwnerKey,
    killedBy: names(
      "of-another-workspace",
      "container-of-another-workspace",
      "unknown-key",
      "without-key",
      "reader",
    ),
  },
  {
    name: "skills/messages-any-number",
    fault: "Accepts any number of skills",
    wrap: acceptRefused(/at most \d+ skills/),
    killedBy: names("too-many"),
  },
  {
    name: "skills/messages-twice",
    fault: "Accepts the same skill twice",
    wrap: acceptRefused(/duplicate skill/),
    killedBy: names("twice"),
  },
  {
    name: "skills/messages-without-tool",
    fault: "Accepts skills without the code execution tool",
    wrap: acceptRefused(/code_execution/),
    killedBy: names("without-tool"),
    mayFail: { "The error also names the marker": names("without-one-marker", "without-markers") },
  },
  {
    name: "skills/messages-without-markers",
    fault: "Does not require the beta headers",
    wrap: onPath(MESSAGES, (next) => async (request) =>
      await next(
        withRequestHeaders(request, {
          "anthropic-beta": "skills-2025-10-02,code-execution-2025-08-25,files-api-2025-04-14",
        }),
      )),
    killedBy: names("without-markers", "without-one-marker"),
  },
  {
    name: "skills/messages-any-shape",
    fault: "Accepts containers of any shape",
    wrap: acceptRefused(/invalid_request_error/),
    killedBy: names(
      "container-number",
      "container-list",
      "container-empty",
      "skills-text",
      "skill-text",
      "type-missing",
      "type-unknown",
      "id-missing",
      "id-number",
      "version-number",
      "no-json",
    ),
    mayFail: { "They expect a refusal": ["skills/messages/"] },
  },
];
