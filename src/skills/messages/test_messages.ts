/**
 * Test kit of this folder: the messages endpoint on a memory store, with a model endpoint that returns the responses of a
 * test.
 *
 * @module
 */
import type { TrivetEvent } from "../../events.ts";
import type { Principal } from "../../http/principal.ts";
import { BodyError } from "../../http/body/body_error.ts";
import type { RequestContext } from "../../http/service.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Store } from "../../store/store.ts";
import { checkStillValid } from "../api/authorize.ts";
import { createLedger } from "../blobs/blob_ledger.ts";
import { openDirectory } from "../local/directory.ts";
import { SkillError } from "../error.ts";
import { createLibrary } from "../disclosure/library.ts";
import { folderOf, newService, type TestFile } from "../test_service.ts";
import { createMessages, type MessagesOptions } from "./messages.ts";
import type { Block, Members } from "./request.ts";

export const CODE_EXECUTION = { type: "code_execution_20250825", name: "code_execution" } as const;
const TODAY: Readonly<Record<string, string>> = { "anthropic-version": "2026-10-21" };
export const ALICE: Principal = { workspace: "default", scopes: new Set(["skills:read"]) };
export const BOB: Principal = { workspace: "other", scopes: new Set(["skills:read"]) };

/** A JSON value whose shape the test knows. */
// deno-lint-ignore no-explicit-any
export type Any = any;

/** A local skill, so that a test needs no upload. */
export const LOCAL: readonly (readonly [path: string, content: string])[] = [
  [
    "forms/SKILL.md",
    "---\nname: forms\ndescription: Fills PDF forms. Use it when a form is to be filled.\n---\n# Forms\n\nRead references/fields.md first.\n",
  ],
  ["forms/references/fields.md", "one\ntwo\nthree\n"],
  ["forms/logo.bin", "\0\u0001"],
  [
    "tables/SKILL.md",
    '---\nname: tables\ndescription: Makes tables out of <numbers> & "words".\n---\nAlign the columns.\n',
  ],
];

export interface TestMessages {
  readonly store: Store;
  readonly events: TrivetEvent[];
  /** The files of local skills, by path. */
  readonly local: Map<string, string | null>;
  /** The requests that the model endpoint received. */
  readonly modelRequests: {
    readonly body: string;
    readonly headers: Headers;
    readonly url: string;
    readonly signal: AbortSignal;
  }[];
  /** The endpoint without authentication; errors in the format of the service. */
  fetch(request: Request, principal?: Principal, context?: RequestContext): Promise<Response>;
  advance(milliseconds: number): void;
  post(
    body: unknown,
    options?: { headers?: Record<string, string>; principal?: Principal; signal?: AbortSignal },
  ): Promise<Response>;
  /** Posts and returns the message. @throws {Error} for another status than 200 */
  send(body: unknown, headers?: Record<string, string>): Promise<Any>;
  upload(files: readonly TestFile[]): Promise<{ id: string; version: string }>;
  /** The id of a local skill. */
  idOf(name: string): Promise<string>;
}

/** The responses of the model endpoint, in order; functions receive the request. */
export type Script =
  readonly (Response | ((body: Any, signal: AbortSignal) => Response | Promise<Response>))[];

/** @param script the scripted model responds if it is omitted */
export function newMessages(script?: Script, options: Partial<MessagesOptions> = {}): TestMessages {
  const start = Date.now();
  let offset = 0;
  // A clock that stands: how long a scan of a folder took decides when the next one may start.
  const now = (): number => start + offset;
  const store = options.store ?? memoryStore({ now });
  const local = new Map<string, string | null>(LOCAL);
  const folders = [folderOf(local)];
  const events: TrivetEvent[] = [];
  const modelRequests: TestMessages["modelRequests"] = [];
  const library = createLibrary(store, createLedger(store, now), openDirectory(folders, now));
  const messages = createMessages({
    store,
    library,
    skillsPerRequest: 8,
    upstream: script && {
      url: "https://models.test",
      key: "sk-upstream-secret",
      fetch: async (url, init) => {
        const signal = init.signal!;
        modelRequests.push({ body: init.body as string, headers: new Headers(init.headers), url, signal });
        const next = script[modelRequests.length - 1];
        if (!next) throw new Error("The test has no further response");
        return typeof next === "function" ? await next(JSON.parse(init.body as string), signal) : next;
      },
      ...options.upstream,
    },
    markers: "auto",
    bodyLimit: 1024 * 1024,
    observe: (event) => events.push(event),
    now,
    ...Object.fromEntries(Object.entries(options).filter(([name]) => name !== "upstream")),
  });
  const test: TestMessages = {
    store,
    events,
    local,
    modelRequests,
    advance: (milliseconds) => void (offset += milliseconds),
    async fetch(request, principal = ALICE, context = {}) {
      try {
        return await messages({
          principal,
          context,
          request,
          checkStillValid: () => checkStillValid(principal, {}),
        });
      } catch (error) {
        if (error instanceof BodyError) {
          return Response.json({ message: error.message }, { status: error.status });
        }
        if (!(error instanceof SkillError)) throw error;
        const { status, type, message, fields } = error;
        const body = { type: "error", error: { type, message }, request_id: "req_1" };
        return Response.json(body, { status, headers: fields as [string, string][] });
      }
    },
    post(body, { headers = TODAY, principal = ALICE, signal } = {}) {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const init = { method: "POST", body: text, headers, ...(signal && { signal }) };
      return test.fetch(new Request("https://trivet.test/v1/messages", init), principal);
    },
    async send(body, headers) {
      const response = await test.post(body, headers && { headers });
      if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
      return await response.json();
    },
    async upload(files) {
      const service = await newService({ store, folders, now });
      const response = await service.upload(files);
      if (response.status !== 200) throw new Error(await response.text());
      const { id, latest_version_id } = await response.json();
      return { id, version: latest_version_id };
    },
    idOf: async (name) => (await library.open(ALICE, name)).id,
  };
  return test;
}

/** A minimal request with skills. */
export function createRequest(skills: readonly (string | Members)[], more: Members = {}): Members {
  return {
    model: "any",
    max_tokens: 4096,
    messages: [{ role: "user", content: "Fill the form" }],
    tools: [CODE_EXECUTION],
    container: {
      skills: skills.map((skill) => typeof skill === "string" ? { type: "custom", skill_id: skill } : skill),
    },
    ...more,
  };
}

/** A message of a model endpoint. */
export function message(content: readonly Block[], more: Members = {}): Members {
  const calls = content.some(({ type }) => type === "tool_use");
  return {
    id: "msg_01Upstream",
    type: "message",
    role: "assistant",
    model: "any",
    content,
    stop_reason: calls ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
    ...more,
  };
}

export const text = (text: string): Block => ({ type: "text", text });
export const call = (id: string, name: string, input: unknown): Block => ({
  type: "tool_use",
  id,
  name,
  input,
});

export function json(content: readonly Block[], more: Members = {}): Response {
  return Response.json(message(content, more));
}

/** The same message as the text of an event stream. */
export function streamText(content: readonly Block[], more: Members = {}): string {
  const whole = message(content, more);
  const { stop_reason, stop_sequence, usage, ...rest } = whole;
  const events: Members[] = [{
    type: "message_start",
    message: {
      ...rest,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...usage as Members, output_tokens: 1 },
    },
  }, { type: "ping" }];
  content.forEach((block, index) => {
    const [start, deltas] = pieces(block);
    events.push({ type: "content_block_start", index, content_block: start });
    for (const delta of deltas) events.push({ type: "content_block_delta", index, delta });
    events.push({ type: "content_block_stop", index });
  });
  const { output_tokens } = usage as Members;
  events.push({ type: "message_delta", delta: { stop_reason, stop_sequence }, usage: { output_tokens } });
  events.push({ type: "message_stop" });
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

function pieces(block: Block): [Members, Members[]] {
  const halves = (whole: string): string[] => [whole.slice(0, 3), whole.slice(3)];
  if (block.type === "text") {
    return [
      { ...block, text: "" },
      halves(block.text as string).map((text) => ({ type: "text_delta", text })),
    ];
  }
  if (block.type === "thinking") {
    return [{ ...block, thinking: "", signature: "" }, [
      ...halves(block.thinking as string).map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature: block.signature },
    ]];
  }
  return [
    { ...block, input: {} },
    halves(JSON.stringify(block.input)).map((partial_json) => ({ type: "input_json_delta", partial_json })),
  ];
}

export function stream(content: readonly Block[], more: Members = {}, size: number = Infinity): Response {
  return sse(split(streamText(content, more), size));
}

/** An event stream of these chunks. */
export function sse(chunks: Iterable<Uint8Array>): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
}

/** Text as chunks of `size` bytes. */
export function* split(text: string, size: number): Generator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

/** The events of a response. @throws {Error} when the name of an event is not its type */
export async function readStream(response: Response): Promise<Any[]> {
  const events: Any[] = [];
  for (const part of (await response.text()).split("\n\n")) {
    if (part === "") continue;
    const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(part) ?? [];
    const value = JSON.parse(data!);
    if (value.type !== event) throw new Error(`The event ${event} has the type ${value.type}`);
    events.push(value);
  }
  return events;
}
