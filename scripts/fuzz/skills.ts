/**
 * Sends generated requests to the Skills service: no response may be a fault, each must have the form of its API and keep
 * its budget, and a valid upload must work afterwards.
 *
 * @module
 */
import "./loaded_parts.ts";
import {
  folderOf,
  multipart,
  newService,
  SKILL_MD,
  type TestFile,
  zip,
} from "../../src/skills/test_service.ts";
import { memoryStore } from "../../src/store/drivers/memory.ts";
import { findExcess, type Measured } from "./budgets.ts";
import { createMeter } from "./meter.ts";
import type { Findings } from "./oauth.ts";
import type { Random } from "./random.ts";
import { createRandom } from "./random.ts";

const VALUES: readonly string[] = [
  "",
  "demo",
  "latest",
  "0",
  "-1",
  "1e3",
  "1000",
  "99999999999999999999",
  "null",
  "custom",
  "anthropic",
  "skill_01AAAAAAAAAAAAAAAAAAAAAAAA",
  "..",
  "%2e%2e",
  "\u0000",
  "\u202e",
  "a b",
  "<script>",
  "__proto__",
  "constructor",
];
const QUERY: readonly string[] = ["limit", "page", "after_id", "before_id", "source", "order", "after", "x"];
const KEYS: readonly string[] = [
  "writer",
  "writer",
  "writer",
  "reader",
  "unscoped",
  "stranger",
  "unknown",
  "",
];
const ENDPOINTS: readonly (readonly [method: string, path: string])[] = [
  ["GET", "/v1/skills"],
  ["GET", "/v1/skills/:id"],
  ["GET", "/v1/skills/:id/versions"],
  ["GET", "/v1/skills/:id/versions/:version"],
  ["GET", "/v1/skills/:id/versions/:version/content"],
  ["GET", "/v1/skills/:id/content"],
  ["GET", "/v1/skills/:id/usage"],
  ["GET", "/v1/skills/usage"],
  ["GET", "/.well-known/agent-skills/index.json"],
  ["GET", "/.well-known/skills/index.json"],
  ["GET", "/.well-known/agent-skills/local/SKILL.md"],
  ["GET", "/.well-known/agent-skills/:id/SKILL.md"],
  ["DELETE", "/v1/skills/:id"],
  ["DELETE", "/v1/skills/:id/versions/:version"],
  ["POST", "/v1/skills"],
  ["POST", "/v1/skills"],
  ["POST", "/v1/skills"],
  ["POST", "/v1/skills/validate"],
  ["POST", "/v1/skills/:id/versions"],
  ["POST", "/v1/skills/:id"],
  ["POST", "/v1/messages"],
];
const MAX_IDS = 60;
/** Maximum number of files of an upload, and of all versions of a skill together. */
const MAX_FILES = 40;

interface Corpus {
  readonly skills: { id: string; version: string }[];
  readonly pages: string[];
}

/** Sends this many requests. The same seed sends the same kinds. */
export async function fuzzSkills(count: number, seed: number): Promise<Findings> {
  const random = createRandom(seed);
  const meter = createMeter(memoryStore());
  const local = new Map<string, string | null>([["local/SKILL.md", SKILL_MD.replace("demo", "local")]]);
  const { service, events, upload, send } = await newService({
    store: meter.store,
    folders: [folderOf(local)],
    openai: true,
    discovery: { local: true, workspaces: [] },
    uploadLimit: 64 * 1024,
  });
  const corpus: Corpus = { skills: [], pages: [] };
  const problems: string[] = [];
  const answers = new Map<string, number>();
  for (let i = 0; i < count && problems.length < 20; i++) {
    const { request, bytes, endpoint } = await nextRequest(random, corpus);
    const shown = `request ${i} of seed ${seed}: ${request.method} ${request.url.slice(0, 300)}`;
    const { result: { response, body }, cost } = await meter.measure(async () => {
      const response = await service.fetch(request, { waitUntil: meter.waitUntil });
      return { response, body: new Uint8Array(await response.arrayBuffer()) };
    });
    const text = new TextDecoder().decode(body);
    const key = `${request.method} ${endpoint} ${response.status}`;
    answers.set(key, (answers.get(key) ?? 0) + 1);
    const problem = findProblem(request, response, text) ??
      findExcess({ endpoint, bytes, kind: getKind(request, endpoint), files: MAX_FILES }, cost);
    if (problem) problems.push(`${problem}: ${response.status} ${text.slice(0, 300)} for ${shown}`);
    for (const event of events.splice(0)) {
      if (event.type === "fault") {
        problems.push(`a fault, ${String((event.error as Error).stack)}, for ${shown}`);
      }
    }
    if (response.status === 200) collectValues(corpus, request, text);
  }
  const whole = await upload([["whole/SKILL.md", SKILL_MD.replace("demo", "whole")]]);
  const { id } = await whole.json();
  const shown = id && await (await send(`/v1/skills/${id}/versions/latest/content`)).arrayBuffer();
  if (whole.status !== 200 || !shown || shown.byteLength === 0) {
    problems.push(`a valid upload fails afterwards: ${whole.status}`);
  }
  return { problems, answers };
}

/** Returns the kind of budget of a request. */
function getKind({ method }: Request, endpoint: string): Measured["kind"] {
  if (endpoint === "/v1/messages") return "messages";
  if (endpoint.startsWith("/.well-known/") || endpoint.endsWith("/content")) return "download";
  if (method === "DELETE") return "remove";
  if (method !== "POST") return "read";
  return endpoint.endsWith("/validate") ? "validate" : "publish";
}

async function nextRequest(
  random: Random,
  corpus: Corpus,
): Promise<{ request: Request; bytes: number; endpoint: string }> {
  const headers = new Headers();
  const key = random.pick(KEYS);
  if (key !== "") headers.set("x-api-key", key);
  if (random.oneIn(3)) headers.set("anthropic-version", random.pick(["2023-06-01", "2026-10-21", "x"]));
  if (random.oneIn(3)) {
    headers.set("anthropic-beta", random.pick(["skills-2025-10-02", "skills-2025-10-02,x", "x", ","]));
  }
  if (random.oneIn(12)) headers.set("authorization", `Bearer ${random.pick(["writer", "x", ""])}`);
  if (random.oneIn(20)) headers.set("if-none-match", random.pick(["*", '"x"', "x"]));
  const skill = corpus.skills.length > 0 && !random.oneIn(5) ? random.pick(corpus.skills) : undefined;
  const id = encodeURIComponent(skill?.id ?? random.pick(VALUES));
  const version = encodeURIComponent(
    random.oneIn(3) ? "latest" : random.oneIn(5) ? random.pick(VALUES) : skill?.version ?? "1",
  );
  const [method, endpoint] = random.pick(ENDPOINTS);
  const path = endpoint.replace(":id", id).replace(":version", version);
  const query = random.oneIn(2) ? "" : "?" + new URLSearchParams(
    Array.from({ length: 1 + random.below(2) }, () => [
      random.pick(QUERY),
      random.oneIn(2) ? String(1 + random.below(5)) : random.pick([...VALUES, ...corpus.pages]),
    ]),
  );
  const verb = random.oneIn(40) ? random.pick(["PUT", "PATCH", "HEAD", "OPTIONS", "DELETE"]) : method;
  const url = `http://127.0.0.1${path}${query}`;
  if (verb === "GET" || verb === "HEAD" || verb === "OPTIONS" || verb === "DELETE") {
    return { request: new Request(url, { method: verb, headers }), bytes: url.length, endpoint };
  }
  const { body, type } = path === "/v1/messages"
    ? { body: new TextEncoder().encode(createConversation(random, corpus)), type: "application/json" }
    : await createUpload(random);
  headers.set("content-type", random.oneIn(30) ? random.pick(["x", "multipart/form-data", ""]) : type);
  const sent = random.oneIn(6) ? mutate(random, body) : body;
  return { request: new Request(url, { method: verb, headers, body: sent }), bytes: sent.length, endpoint };
}

async function createUpload(random: Random): Promise<{ body: Uint8Array<ArrayBuffer>; type: string }> {
  const name = `skill-${random.below(40)}`;
  const text = SKILL_MD.replaceAll("demo", random.oneIn(15) ? random.pick(VALUES) : name) +
    "x".repeat(random.below(300));
  const files: TestFile[] = [[`${name}/SKILL.md`, text]];
  for (let i = random.below(4); i > 0; i--) {
    files.push([
      `${name}/${random.oneIn(12) ? random.pick(VALUES) : `file-${i}`}`,
      "y".repeat(random.below(500)),
    ]);
  }
  if (random.oneIn(15)) files.push(files[0]!);
  const fields = random.oneIn(3) ? { display_title: random.pick([...VALUES, name]) } : {};
  if (random.oneIn(2)) return multipart(files, fields);
  const archive = await zip(files.map(([name, content]) => ({ name, content, method: random.pick([0, 8]) })));
  return multipart([["a.zip", random.oneIn(4) ? mutate(random, archive) : archive]], fields);
}

function createConversation(random: Random, corpus: Corpus): string {
  const skills = Array.from({ length: random.below(4) }, () => ({
    type: random.pick(["custom", "anthropic", "x"]),
    skill_id: corpus.skills.length > 0 && !random.oneIn(4)
      ? random.pick(corpus.skills).id
      : random.pick(VALUES),
    ...(random.oneIn(3) && { version: random.pick(VALUES) }),
  }));
  const text = JSON.stringify({
    model: "any",
    max_tokens: random.pick<unknown>([1, 1024, 0, "x"]),
    stream: random.oneIn(4),
    messages: [{
      role: random.pick(["user", "user", "assistant", "x"]),
      content: random.pick(VALUES) || "Hello",
    }],
    ...(random.oneIn(2) &&
      { container: random.pick<unknown>([{ skills }, { skills }, "container_x", null, 5]) }),
    ...(random.oneIn(2) && { tools: [{ type: "code_execution_20250825", name: "code_execution" }] }),
  });
  return random.oneIn(10) ? text.slice(0, random.below(text.length)) : text;
}

function mutate(random: Random, whole: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const bytes = whole.slice();
  for (let n = random.below(4); n >= 0; n--) bytes[random.below(bytes.length)] = random.below(256);
  return random.oneIn(4) ? bytes.slice(0, random.below(bytes.length)) : bytes;
}

/** Describes what is wrong with a response; `undefined` if it is correct. */
function findProblem(request: Request, { status, headers }: Response, text: string): string | undefined {
  if (status >= 500) return "a server error";
  if (!headers.has("request-id") && !request.url.includes("/.well-known/")) {
    return "a response without a request id";
  }
  if (status < 400 || request.method === "HEAD") return undefined;
  if (/\bat .*\.ts:\d+|TypeError|SyntaxError|\[object /.test(text)) {
    return "a response that reveals source code";
  }
  if (request.url.includes("/.well-known/")) return undefined;
  if (headers.get("content-type") !== "application/json") return "an error that is not JSON";
  const { error } = JSON.parse(text);
  if (typeof error?.type !== "string" || typeof error.message !== "string" || error.message === "") {
    return "an error without type and message";
  }
  return undefined;
}

function collectValues(corpus: Corpus, request: Request, text: string): void {
  if (!text.startsWith("{")) return;
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return;
  }
  if (typeof value.next_page === "string") corpus.pages.push(value.next_page);
  if (request.method === "POST" && typeof value.id === "string" && /\/skills(\?|$)/.test(request.url)) {
    corpus.skills.push({ id: value.id, version: String(value.latest_version ?? value.version ?? "1") });
  }
  corpus.skills.splice(0, corpus.skills.length - MAX_IDS);
  corpus.pages.splice(0, corpus.pages.length - 20);
}
