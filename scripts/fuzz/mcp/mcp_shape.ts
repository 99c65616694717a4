/**
 * Checks the form of everything that the fuzzed tool server sends: JSON-RPC 2.0, the members of results in each revision,
 * events of streams, and internal information that must not leak.
 *
 * @module
 */
import type { Profile } from "./mcp_profile.ts";
import { isObject } from "./mcp_wire.ts";

export type Message = Readonly<Record<string, unknown>>;

/** Secrets, stack traces and paths of the server. */
const LEAK =
  /hunter2|\/srv\/|\/src\/(?:mcp|jsonrpc|http)\/|node:internal|node_modules|Maximum call stack|\bat .{1,80}\.(?:ts|js|mjs):\d+/;

/** Finds internal information in a text. */
export function findLeak(text: string): string | undefined {
  const leak = LEAK.exec(text);
  return leak ? `a response that reveals internal information: ${leak[0]}` : undefined;
}

/** Describes what is wrong with a response. @param id of the request, `undefined` if it could not be read */
export function checkResponse(message: unknown, id: unknown, profile: Profile): string | undefined {
  if (!isObject(message) || message.jsonrpc !== "2.0") return "a response that is not JSON-RPC 2.0";
  const stray = Object.keys(message).find((name) => !["jsonrpc", "id", "result", "error"].includes(name));
  if (stray !== undefined) return `a response with an unknown member "${stray}"`;
  if (("result" in message) === ("error" in message)) {
    return "a response with both or neither of result and error";
  }
  if (id === undefined ? message.id !== undefined && message.id !== null : message.id !== id) {
    return `a response with the id ${JSON.stringify(message.id)}`;
  }
  return "error" in message ? checkError(message.error, profile) : checkResult(message.result, profile);
}

function checkError(error: unknown, { kind }: Profile): string | undefined {
  if (!isObject(error)) return "an error that is not an object";
  const { code, message, data: _, ...rest } = error;
  if (Object.keys(rest).length > 0) return "an error with an unknown member";
  if (!Number.isInteger(code)) return "an error whose code is not an integer";
  if (typeof message !== "string" || message === "") return "an error without a message";
  if (/(?<!received )undefined|\[object |\bNaN\b/.test(message)) {
    return "an error message with a converted value";
  }
  // 2026-07-28, basic: these codes are of older revisions.
  const isOld = code as number <= -32000 && code as number >= -32019 || code === -32042;
  return kind === "modern" && isOld ? `the code ${code} in a response of 2026-07-28` : undefined;
}

const MODERN_MEMBERS = ["resultType", "ttlMs", "cacheScope", "requestState", "inputRequests"];

/** The revision that introduced a member or kind of content (changelogs). */
const SINCE: Readonly<Record<string, string>> = {
  annotations: "2025-03-26",
  audio: "2025-03-26",
  resource_link: "2025-06-18",
  structuredContent: "2025-06-18",
  outputSchema: "2025-06-18",
  title: "2025-06-18",
  icons: "2025-11-25",
};

/** Finds members that are newer than the revision. */
function checkRevision(result: Message, revision: string): string | undefined {
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
    : "structured content that is not an object";
}

function checkResult(result: unknown, { kind, revision }: Profile): string | undefined {
  if (!isObject(result)) return "a result that is not an object";
  if (kind !== "modern") {
    const stray = MODERN_MEMBERS.find((name) => name in result);
    return stray === undefined
      ? checkRevision(result, revision)
      : `"${stray}" in a result of a revision with a handshake`;
  }
  const { resultType, _meta, ttlMs, cacheScope, requestState, inputRequests } = result;
  if (typeof resultType !== "string") return "a result of 2026-07-28 without resultType";
  const server = isObject(_meta) ? _meta["io.modelcontextprotocol/serverInfo"] : undefined;
  if (!isObject(server) || server.name !== "test") return "a result of 2026-07-28 without serverInfo";
  if (resultType === "input_required") {
    return requestState === undefined && inputRequests === undefined
      ? "an input_required result without requests"
      : undefined;
  }
  const lists = ["tools", "prompts", "resources", "resourceTemplates", "contents", "supportedVersions"];
  if (!lists.some((name) => Array.isArray(result[name]))) return undefined;
  const isCached = Number.isInteger(ttlMs) && (ttlMs as number) >= 0 &&
    (cacheScope === "public" || cacheScope === "private");
  return isCached ? undefined : "a result without ttlMs and cacheScope";
}

const NOTIFICATION =
  /^notifications\/(progress|message|cancelled|tasks|subscriptions\/acknowledged|resources\/updated|(tools|resources|prompts)\/list_changed|elicitation\/complete)$/;

/** Describes what is wrong with a notification or request of the server. */
export function checkServerMessage({ jsonrpc, method, id, params, ...rest }: Message): string | undefined {
  if (jsonrpc !== "2.0" || Object.keys(rest).length > 0) return "a message that is not JSON-RPC 2.0";
  if (id !== undefined) {
    const isQuestion = /^(elicitation\/create|sampling\/createMessage|roots\/list)$/.test(String(method));
    return isQuestion && typeof id === "string" ? undefined : "an invalid server request";
  }
  if (!NOTIFICATION.test(String(method))) return `an unknown notification "${method}"`;
  if (method !== "notifications/progress") return undefined;
  const { progressToken, progress } = isObject(params) ? params : {} as Message;
  const isToken = typeof progressToken === "string" || typeof progressToken === "number";
  return isToken && typeof progress === "number" ? undefined : "an invalid progress notification";
}

export interface StreamEvent {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
}

/** A strict parser of server-sent events. */
export class EventParser {
  readonly events: StreamEvent[] = [];
  problem: string | undefined;
  #rest = "";
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });

  /** Returns the events that end in this chunk. */
  parse(chunk: Uint8Array): StreamEvent[] {
    this.#rest += this.#decoder.decode(chunk, { stream: true });
    const blocks = this.#rest.split("\n\n");
    this.#rest = blocks.pop()!;
    return blocks.flatMap((block) => this.#read(block));
  }

  /** Checks the end of the stream. */
  end(): void {
    if (this.#rest !== "") this.problem ??= "a stream that ends inside an event";
  }

  #read(block: string): StreamEvent[] {
    const event: Record<string, string> = {};
    for (const line of block.split("\n")) {
      if (line === ":") continue;
      const field = /^(id|event|data|retry):(?: (.*))?$/s.exec(line);
      if (!field || field[1]! in event) {
        this.problem ??= `an invalid line in a stream: ${JSON.stringify(line.slice(0, 100))}`;
      } else event[field[1]!] = field[2] ?? "";
    }
    if (event.retry !== undefined && !/^\d+$/.test(event.retry)) {
      this.problem ??= "a retry that is not a number";
    }
    if (event.data === undefined) return [];
    this.events.push(event);
    return [event];
  }
}
