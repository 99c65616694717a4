/**
 * Faults of requests to the model that attach skills.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { at, faultyAnswers, withBody, withRequestFields } from "../message.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";

const MESSAGES = "/v1/messages";
const names = (...ids: string[]): string[] => ids.map((id) => `skills/messages/${id}`);
const ALL = { "they begin a container": ["skills/messages/"] };

interface Container {
  id?: string;
  skills?: Record<string, unknown>[] | null;
}

/** Of a request or an answer. */
interface Message {
  type?: string;
  container?: string | Container | null;
}

/** The container, where it is an object. */
const boxOf = ({ container }: Message): Container | undefined =>
  typeof container === "object" && container !== null ? container : undefined;
const skillsOf = (message: Message): Record<string, unknown>[] => {
  const skills = boxOf(message)?.skills;
  return Array.isArray(skills) ? skills.filter((skill) => typeof skill === "object") : [];
};

/** Changes the body of a request before it is read. */
const asking = (change: (body: Message) => unknown): Wrap =>
  at(MESSAGES, (next) => async (request) => {
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

const saying = (change: (answer: Message) => unknown): Wrap =>
  faultyAnswers(MESSAGES, async (answer) => {
    const text = await answer.clone().text();
    if (!text.startsWith("{")) return answer;
    const json = JSON.parse(text);
    change(json);
    return withBody(answer, JSON.stringify(json));
  });

/** What is refused in words that fit is answered as if it were right. */
const forgiving = (words: RegExp): Wrap =>
  at(MESSAGES, (next) => async (request) => {
    const answer = await next(request);
    if (answer.status < 400 || !words.test(await answer.clone().text())) return answer;
    return Response.json({ type: "message", role: "assistant", content: [], container: null });
  });

const KEYS: { readonly writer: string } = JSON.parse(
  readFileSync(new URL("../../targets/trivet.json", import.meta.url), "utf8"),
).vars.keys;

/** Asks with the key that owns everything. */
const asOwner: Wrap = at(
  MESSAGES,
  (next: Handler) => async (request) => await next(withRequestFields(request, { "x-api-key": KEYS.writer })),
);

export const SKILL_MESSAGES: readonly Mutant[] = [
  {
    name: "skills/messages-container-untold",
    fault: "Does not say which container it used",
    wrap: saying((answer) => delete answer.container),
    breaks: names("attached", "container-told", "latest", "newest", "pinned", "two"),
    mayBreak: ALL,
    stops: "they need the container's id",
  },
  {
    name: "skills/messages-version-as-sent",
    fault: "Answers with latest where it should say which version that was",
    wrap: saying((answer) => skillsOf(answer).forEach((skill) => skill["version"] = "latest")),
    breaks: names("attached", "latest", "newest", "pinned"),
    mayBreak: ALL,
  },
  {
    name: "skills/messages-always-newest",
    fault: "Uses the newest version, whichever was named",
    wrap: asking((body) => skillsOf(body).forEach((skill) => delete skill["version"])),
    breaks: names("pinned", "unknown-version", "version-of-another", "version-number"),
  },
  {
    name: "skills/messages-sorted",
    fault: "Tells skills in another order than they were sent in",
    wrap: saying((answer) => boxOf(answer)?.skills?.reverse()),
    breaks: names("two"),
  },
  {
    name: "skills/messages-container-new-each-time",
    fault: "Begins a new container for each request",
    wrap: asking((body) => {
      if (typeof body.container === "string") delete body.container;
      else if (boxOf(body)?.skills) delete boxOf(body)!.id;
    }),
    breaks: names(
      "again-by-text",
      "again-with-skills",
      "versions-stay",
      "unknown-container",
      "container-of-another-workspace",
    ),
    mayBreak: { "an id is sent": names("container-empty") },
  },
  {
    name: "skills/messages-objects-only",
    fault: "Refuses a container that is text",
    wrap: at(
      MESSAGES,
      (next) => async (request) =>
        /"container":"/.test(await request.clone().text())
          ? Response.json({ type: "error", error: { type: "invalid_request_error", message: "no" } }, {
            status: 400,
          })
          : await next(request),
    ),
    breaks: names("again-by-text", "versions-stay"),
  },
  {
    name: "skills/messages-text-only",
    fault: "Forgets a container that comes as an object without skills",
    wrap: asking((body) => {
      const box = boxOf(body);
      if (box?.id && !box.skills) delete body.container;
    }),
    breaks: names("again-by-object"),
  },
  {
    name: "skills/messages-skills-kept",
    fault: "Keeps the skills of a container for ever",
    wrap: asking((body) => {
      const box = boxOf(body);
      if (box?.id && box.skills?.length === 0) delete box.skills;
    }),
    breaks: names("skills-replaced"),
  },
  {
    name: "skills/messages-stream-untold",
    fault: "Does not tell the container when it streams",
    wrap: faultyAnswers(MESSAGES, async (answer) => {
      const text = await answer.clone().text();
      return text.startsWith("event:")
        ? withBody(answer, text.replaceAll('"container":{', '"box":{'))
        : answer;
    }),
    breaks: names("streamed"),
  },
  {
    name: "skills/messages-container-for-all",
    fault: "Gives every request skills that it did not ask for",
    wrap: saying((answer) =>
      answer.type === "message" && (answer.container ??= { id: "c", skills: [{ skill_id: "x" }] })
    ),
    breaks: names("without"),
    mayBreak: { "it has none": names("skills-replaced") },
  },
  {
    name: "skills/messages-unknown-ignored",
    fault: "Answers without the skills that there are not",
    wrap: forgiving(/not_found_error/),
    breaks: names(
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
    fault: "Does not look whose skills and containers they are",
    wrap: asOwner,
    breaks: names(
      "of-another-workspace",
      "container-of-another-workspace",
      "unknown-key",
      "without-key",
      "reader",
    ),
  },
  {
    name: "skills/messages-any-number",
    fault: "Takes any number of skills",
    wrap: forgiving(/at most \d+ skills/),
    breaks: names("too-many"),
  },
  {
    name: "skills/messages-twice",
    fault: "Takes a skill that comes twice",
    wrap: forgiving(/duplicate skill/),
    breaks: names("twice"),
  },
  {
    name: "skills/messages-without-tool",
    fault: "Takes skills without a tool that could use them",
    wrap: forgiving(/code_execution/),
    breaks: names("without-tool"),
    mayBreak: { "the marker is named too": names("without-one-marker", "without-markers") },
  },
  {
    name: "skills/messages-without-markers",
    fault: "Asks for no markers",
    wrap: at(MESSAGES, (next) => async (request) =>
      await next(
        withRequestFields(request, {
          "anthropic-beta": "skills-2025-10-02,code-execution-2025-08-25,files-api-2025-04-14",
        }),
      )),
    breaks: names("without-markers", "without-one-marker"),
  },
  {
    name: "skills/messages-any-shape",
    fault: "Takes containers of every shape",
    wrap: forgiving(/invalid_request_error/),
    breaks: names(
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
    mayBreak: { "the request is refused": ["skills/messages/"] },
  },
];
