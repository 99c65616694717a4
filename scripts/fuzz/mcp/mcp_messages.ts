/**
 * Generates valid messages for the fuzzed tool server, of every method of every revision, with values of the corpus.
 *
 * @module
 */
import { createGarbage } from "../json_garbage.ts";
import type { Corpus, InputRequiredCall } from "./mcp_corpus.ts";
import { TOOLS } from "./mcp_tools.ts";
import type { Random } from "../random.ts";

export type Members = Record<string, unknown>;

export const REVISIONS: readonly string[] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
export const MODERN = "2026-07-28";

const SHARED: readonly string[] = [
  "tools/call",
  "tools/call",
  "tools/call",
  "tools/call",
  "tools/list",
  "resources/list",
  "resources/read",
  "resources/templates/list",
  "prompts/list",
  "prompts/get",
  "completion/complete",
];
const LEGACY: readonly string[] = [
  "initialize",
  "ping",
  "resources/subscribe",
  "resources/unsubscribe",
  "logging/setLevel",
];
const MODERN_ONLY: readonly string[] = [
  "server/discover",
  "subscriptions/listen",
  "tasks/get",
  "tasks/update",
  "tasks/cancel",
];
const UNKNOWN_METHODS: readonly string[] = [
  "tasks/list",
  "tasks/result",
  "tools/Call",
  "tools/call ",
  "rpc.discover",
  "sampling/createMessage",
  "constructor",
  "__proto__",
  "",
  "x".repeat(300),
  "notifications/cancelled",
];
const NOTIFICATIONS: readonly string[] = [
  "notifications/initialized",
  "notifications/cancelled",
  "notifications/cancelled",
  "notifications/progress",
  "notifications/roots/list_changed",
  "notifications/tasks/status",
  "notifications/message",
  "ping",
  "tools/call",
  "no/such",
];
const URIS: readonly string[] = [
  "test://text",
  "test://bytes",
  "test://secret",
  "test://asks",
  "test://broken",
  "test://things/a/x",
  "test://things/%C3%A9/x/y",
  "test://things/none/x",
  "test://things/%zz/x",
  "test://query?a=1&b=2",
  "test://nothing",
  "file:///folder/x",
  "not a uri",
  "test://things/\ud800/x",
];
const WORDS: readonly string[] = [
  "x",
  "Ada",
  "é𝄞",
  "  edge  ",
  "=?base64?eA==?=",
  "line\nbreak",
  "",
  "po",
  "7",
];

export function createId(random: Random): unknown {
  return random.pick<unknown>([1, 2, random.below(1e6), `id-${random.below(1e6)}`, "é", "", 0, -5, "1"]);
}

/** Returns client capabilities. */
export function pickCapabilities(random: Random): Members {
  return random.pick<Members>([
    {},
    { elicitation: {} },
    { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } },
    { elicitation: { url: {} } },
    { sampling: { tools: {} } },
    { elicitation: {}, sampling: {}, roots: {}, extensions: { "io.modelcontextprotocol/tasks": {} } },
    { elicitation: {}, extensions: { "io.modelcontextprotocol/tasks": {} } },
    { experimental: { x: 1 } },
  ]);
}

const withTasks = (): Members => ({
  elicitation: {},
  extensions: { "io.modelcontextprotocol/tasks": {} },
});

/** Returns `_meta` of a request of 2026-07-28. */
export function createModernMeta(random: Random, revision: string, method = ""): Members {
  const knowsTasks = /^(tasks|subscriptions)\//.test(method) && !random.oneIn(4);
  return {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientCapabilities": knowsTasks ? withTasks() : pickCapabilities(random),
    ...(random.oneIn(2) && { "io.modelcontextprotocol/clientInfo": { name: "fuzz", version: "1" } }),
    ...(random.oneIn(4) && { "io.modelcontextprotocol/logLevel": random.pick(["debug", "error"]) }),
    ...(random.oneIn(3) && { progressToken: random.pick<unknown>(["p", 7]) }),
  };
}

export interface Request {
  readonly method: string;
  readonly params: Members;
}

/** Returns a request. @param isModern whether of a method of 2026-07-28 */
export function createRequest(random: Random, corpus: Corpus, isModern: boolean): Request {
  const { inputRequired } = corpus;
  if (isModern && inputRequired.length > 0 && random.oneIn(6)) {
    return createRetry(random, random.pick(inputRequired));
  }
  const own = isModern ? MODERN_ONLY : LEGACY;
  const method = random.oneIn(25)
    ? random.pick([...UNKNOWN_METHODS, ...LEGACY, ...MODERN_ONLY])
    : random.pick([...SHARED, ...own]);
  return { method, params: createParams(random, corpus, method) };
}

function createRetry(random: Random, { method, params, state, requests }: InputRequiredCall): Request {
  const inputResponses = Object.fromEntries(
    Object.entries(requests).map(([key, request]) => [key, createClientResult(random, request.method)]),
  );
  return { method, params: { ...structuredClone(params), requestState: state, inputResponses } };
}

/** Returns a valid result of a client method. */
export function createClientResult(random: Random, method: string): Members {
  if (method === "sampling/createMessage") {
    return { role: "assistant", content: { type: "text", text: "x" }, model: "m" };
  }
  if (method === "roots/list") return { roots: [{ uri: "file:///folder", name: "f" }] };
  return random.pick<Members>([
    { action: "accept", content: { name: "Ada" } },
    { action: "decline" },
    { action: "cancel" },
  ]);
}

/** Returns a result of a client method that is invalid in a nested member. */
export function createInvalidClientResult(random: Random, method: string): Members {
  if (method === "roots/list") return { roots: random.pick([[null], [{ uri: 1 }], {}, ["file:///folder"]]) };
  if (method === "sampling/createMessage") {
    return random.pick<Members>([
      { role: "assistant", model: 1 },
      { role: "user", content: null, model: "m" },
    ]);
  }
  const content = random.pick<unknown>([null, { name: createGarbage(random) }, [], "x"]);
  return { action: "accept", content };
}

function createParams(random: Random, corpus: Corpus, method: string): Members {
  const member = method.slice(0, method.lastIndexOf("/"));
  switch (method) {
    case "initialize":
      return {
        protocolVersion: random.pick([...REVISIONS, MODERN, "1999-01-01"]),
        capabilities: pickCapabilities(random),
        clientInfo: { name: "fuzz", version: "1" },
      };
    case "tools/list":
    case "resources/list":
    case "prompts/list":
    case "resources/templates/list": {
      const known = [
        ...corpus.cursors.get(member === "resources/templates" ? "resourceTemplates" : member) ?? [],
      ];
      return known.length > 0 && random.oneIn(2) ? { cursor: random.pick(known) } : {};
    }
    case "tools/call": {
      const name = random.oneIn(30) ? "no_such" : random.oneIn(12) ? "route" : random.pick(TOOLS).name;
      return { name, arguments: createArguments(random, name) };
    }
    case "resources/read":
    case "resources/subscribe":
    case "resources/unsubscribe":
      return { uri: random.pick(URIS) };
    case "prompts/get":
      return {
        name: random.pick(["compose", "compose", "asks", "hidden", "broken", "no_such"]),
        arguments: random.oneIn(6) ? {} : { what: random.pick(WORDS), how: "x" },
      };
    case "completion/complete":
      return createCompletion(random);
    case "logging/setLevel":
      return { level: random.pick(["debug", "info", "emergency"]) };
    case "subscriptions/listen":
      return { notifications: filter(random, corpus) };
    case "tasks/update":
      return {
        taskId: taskId(random, corpus),
        inputResponses: { elicitation_1: createClientResult(random, "elicitation/create") },
      };
    case "tasks/get":
    case "tasks/cancel":
      return { taskId: taskId(random, corpus) };
    case "notifications/cancelled":
      return { requestId: createId(random), reason: "x" };
    case "notifications/progress":
      return { progressToken: "p", progress: 1 };
    default:
      return {};
  }
}

/** Returns valid arguments of the tool. */
function createArguments(random: Random, tool: string): Members | undefined {
  switch (tool) {
    case "add":
      return { a: random.below(9), b: 2 };
    case "echo":
      return { said: random.pick(WORDS), list: [1, null, { a: true }] };
    case "greet":
      return { name: random.pick(WORDS) };
    case "ask_twice":
      return { topic: random.pick(WORDS) };
    case "job_by_run":
      return { long: random.oneIn(2) };
    case "route":
      return {
        ...(random.oneIn(2) && { region: random.oneIn(4) ? createNonString(random) : random.pick(WORDS) }),
        ...(random.oneIn(2) && { level: random.pick([0, 42, -7]) }),
        ...(random.oneIn(2) && { deep: { flag: random.oneIn(2) } }),
      };
    default:
      return random.oneIn(2) ? {} : undefined;
  }
}

/** Returns a value that is not a string, sometimes one that cannot be converted to a string. */
function createNonString(random: Random): unknown {
  return random.oneIn(3) ? { toString: 1, valueOf: 1 } : createGarbage(random);
}

function createCompletion(random: Random): Members {
  const value = random.pick(WORDS);
  const context = random.oneIn(2) ? { context: { arguments: { what: "poem" } } } : {};
  return random.oneIn(2)
    ? {
      ref: { type: "ref/prompt", name: random.pick(["compose", "compose", "hidden", "no_such"]) },
      argument: { name: random.pick(["what", "how", "no_such"]), value },
      ...context,
    }
    : {
      ref: { type: "ref/resource", uri: random.pick(["test://things/{id}/{+path}", "test://none"]) },
      argument: { name: random.pick(["id", "path", "no_such"]), value },
      ...context,
    };
}

function filter(random: Random, corpus: Corpus): Members {
  return {
    ...(random.oneIn(2) && { toolsListChanged: true }),
    ...(random.oneIn(2) && { promptsListChanged: random.oneIn(2) }),
    ...(random.oneIn(2) && { resourcesListChanged: true }),
    ...(random.oneIn(2) && { resourceSubscriptions: [random.pick(URIS), "test://text"] }),
    ...(random.oneIn(2) && { taskIds: [taskId(random, corpus), taskId(random, corpus), "x"] }),
  };
}

function taskId(random: Random, corpus: Corpus): string {
  if (corpus.tasks.length === 0 || random.oneIn(8)) return "no_such_task";
  return random.oneIn(3) ? random.pick(corpus.tasks).id : random.pick(corpus.tasks.slice(-2)).id;
}

/** Returns a notification. */
export function createNotification(random: Random, corpus: Corpus): Request {
  const method = random.pick(NOTIFICATIONS);
  return { method, params: createParams(random, corpus, method) };
}
