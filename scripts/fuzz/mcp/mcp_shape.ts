/**
 * The form of everything that the fuzzed tool server says: JSON-RPC 2.0, what each era adds to results and what it must
 * not, events of streams, and words that nobody outside should read.
 *
 * @module
 */
import type { Profile } from "./mcp_profile.ts";
import { isObject } from "./mcp_wire.ts";

export type Message = Readonly<Record<string, unknown>>;

/** Secrets, stacks, and places on the server's machine. */
const LEAK =
  /hunter2|\/srv\/|\/src\/(?:mcp|jsonrpc|http)\/|node:internal|node_modules|Maximum call stack|\bat .{1,80}\.(?:ts|js|mjs):\d+/;

/** What no text may hold; `undefined` when all is well. */
export function findLeak(text: string): string | undefined {
  const leak = LEAK.exec(text);
  return leak ? `an answer that tells of the server: ${leak[0]}` : undefined;
}

/** What is wrong with an answer; `id` is the one to repeat, `undefined` when it could not be read. */
export function checkAnswer(message: unknown, id: unknown, profile: Profile): string | undefined {
  if (!isObject(message) || message.jsonrpc !== "2.0") return "an answer that is no JSON-RPC 2.0";
  const stray = Object.keys(message).find((name) => !["jsonrpc", "id", "result", "error"].includes(name));
  if (stray !== undefined) return `an answer with a member "${stray}"`;
  if (("result" in message) === ("error" in message)) {
    return "an answer with both or neither of result and error";
  }
  if (id === undefined ? message.id !== undefined && message.id !== null : message.id !== id) {
    return `an answer to ${JSON.stringify(message.id)}`;
  }
  return "error" in message ? checkError(message.error, profile) : checkResult(message.result, profile);
}

function checkError(error: unknown, { kind }: Profile): string | undefined {
  if (!isObject(error)) return "an error that is no object";
  const { code, message, data: _, ...rest } = error;
  if (Object.keys(rest).length > 0) return "an error with more than code, message and data";
  if (!Number.isInteger(code)) return "an error whose code is no integer";
  if (typeof message !== "string" || message === "") return "an error without a message";
  if (/(?<!received )undefined|\[object |\bNaN\b/.test(message)) return "an error that is badly worded";
  // 2026-07-28, basic: these are of older revisions.
  const isOld = code as number <= -32000 && code as number >= -32019 || code === -32042;
  return kind === "modern" && isOld ? `the code ${code} in a modern answer` : undefined;
}

const MODERN_MEMBERS = ["resultType", "ttlMs", "cacheScope", "requestState", "inputRequests"];

/** When members and kinds of content came (the changelogs). */
const SINCE: Readonly<Record<string, string>> = {
  annotations: "2025-03-26",
  audio: "2025-03-26",
  resource_link: "2025-06-18",
  structuredContent: "2025-06-18",
  outputSchema: "2025-06-18",
  title: "2025-06-18",
  icons: "2025-11-25",
};

/** What the revision does not know yet. */
function checkAge(result: Message, revision: string): string | undefined {
  const { content, tools, structuredContent } = result;
  const names = [
    ...Object.keys(result),
    ...[content].flat().map((each) => isObject(each) ? String(each.type) : ""),
    ...[tools].flat().flatMap((each) => isObject(each) ? Object.keys(each) : []),
  ];
  const early = names.find((name) => revision < (SINCE[name] ?? ""));
  if (early !== undefined) return `"${early}" in ${revision}`;
  return structuredContent === undefined || isObject(structuredContent)
    ? undefined
    : "structured content that is no object";
}

function checkResult(result: unknown, { kind, revision }: Profile): string | undefined {
  if (!isObject(result)) return "a result that is no object";
  if (kind !== "modern") {
    const stray = MODERN_MEMBERS.find((name) => name in result);
    return stray === undefined
      ? checkAge(result, revision)
      : `"${stray}" in a result of a revision with a handshake`;
  }
  const { resultType, _meta, ttlMs, cacheScope, requestState, inputRequests } = result;
  if (typeof resultType !== "string") return "a modern result without resultType";
  const server = isObject(_meta) ? _meta["io.modelcontextprotocol/serverInfo"] : undefined;
  if (!isObject(server) || server.name !== "test") return "a modern result without serverInfo";
  if (resultType === "input_required") {
    return requestState === undefined && inputRequests === undefined
      ? "a result that asks for nothing"
      : undefined;
  }
  const lists = ["tools", "prompts", "resources", "resourceTemplates", "contents", "supportedVersions"];
  if (!lists.some((name) => Array.isArray(result[name]))) return undefined;
  const isCached = Number.isInteger(ttlMs) && (ttlMs as number) >= 0 &&
    (cacheScope === "public" || cacheScope === "private");
  return isCached ? undefined : "a result that says not how long it may be kept";
}

const NOTIFICATION =
  /^notifications\/(progress|message|cancelled|tasks|subscriptions\/acknowledged|resources\/updated|(tools|resources|prompts)\/list_changed|elicitation\/complete)$/;

/** What is wrong with something that is no answer: a notification, or a question to the client. */
export function checkSpoken({ jsonrpc, method, id, params, ...rest }: Message): string | undefined {
  if (jsonrpc !== "2.0" || Object.keys(rest).length > 0) return "a message that is no JSON-RPC 2.0";
  if (id !== undefined) {
    const isQuestion = /^(elicitation\/create|sampling\/createMessage|roots\/list)$/.test(String(method));
    return isQuestion && typeof id === "string" ? undefined : "a question that is none";
  }
  if (!NOTIFICATION.test(String(method))) return `the notification "${method}"`;
  if (method !== "notifications/progress") return undefined;
  const { progressToken, progress } = isObject(params) ? params : {} as Message;
  const isToken = typeof progressToken === "string" || typeof progressToken === "number";
  return isToken && typeof progress === "number" ? undefined : "progress that is none";
}

export interface StreamEvent {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
}

/** Reads server-sent events as they come, and refuses whatever a careful server would not write. */
export class EventParser {
  readonly events: StreamEvent[] = [];
  problem: string | undefined;
  #rest = "";
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });

  /** Gives the events that end in this chunk. */
  take(chunk: Uint8Array): StreamEvent[] {
    this.#rest += this.#decoder.decode(chunk, { stream: true });
    const blocks = this.#rest.split("\n\n");
    this.#rest = blocks.pop()!;
    return blocks.flatMap((block) => this.#read(block));
  }

  /** The stream is over. */
  end(): void {
    if (this.#rest !== "") this.problem ??= "a stream that ends inside an event";
  }

  #read(block: string): StreamEvent[] {
    const event: Record<string, string> = {};
    for (const line of block.split("\n")) {
      if (line === ":") continue;
      const field = /^(id|event|data|retry):(?: (.*))?$/s.exec(line);
      if (!field || field[1]! in event) {
        this.problem ??= `the line ${JSON.stringify(line.slice(0, 100))} in a stream`;
      } else event[field[1]!] = field[2] ?? "";
    }
    if (event.retry !== undefined && !/^\d+$/.test(event.retry)) this.problem ??= "a retry that is no number";
    if (event.data === undefined) return [];
    this.events.push(event);
    return [event];
  }
}
