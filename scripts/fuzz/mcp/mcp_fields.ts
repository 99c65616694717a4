/**
 * Header fields of requests to the fuzzed tool server: those that the revisions require, and invalid ones.
 *
 * @module
 */
import { createGarbage, NAMES, toJson } from "../json_garbage.ts";
import type { Corpus } from "./mcp_corpus.ts";
import { type Members, MODERN, REVISIONS } from "./mcp_messages.ts";
import type { Random } from "../random.ts";

export const STREAMABLE = "application/json, text/event-stream";

const NAMED: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

/** Adds the header fields that revision 2026-07-28 requires. */
export function addModernFields(random: Random, message: unknown, headers: Record<string, string>): void {
  const { method, params } = message as { method?: unknown; params?: Members | null };
  const meta = typeof params === "object" && params !== null
    ? params._meta as Members | undefined
    : undefined;
  const version = meta?.["io.modelcontextprotocol/protocolVersion"];
  if (typeof version !== "string" || typeof method !== "string") return;
  headers.accept ??= STREAMABLE;
  headers["mcp-protocol-version"] = version;
  headers["mcp-method"] = method;
  const name = params![NAMED[method] ?? ""];
  if (Object.hasOwn(NAMED, method) && typeof name === "string") headers["mcp-name"] = encodeField(name);
  const given = params!.arguments as Members | undefined;
  if (name !== "route" || typeof given !== "object" || given === null) return;
  const { region, level, deep } = given as { region?: unknown; level?: unknown; deep?: { flag?: unknown } };
  for (const [field, value] of [["region", region], ["level", level], ["flag", deep?.flag]] as const) {
    if (value === undefined || value === null) continue;
    headers[`mcp-param-${field}`] = value === 42 && random.oneIn(4)
      ? random.pick(["42.0", "0x2a", "0x2a", "4.2e1", "+42"])
      : encodeField(typeof value === "string" ? value : toJson(value));
  }
}

function encodeField(text: string): string {
  const isPlain = /^(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?$/.test(text);
  if (isPlain && !text.startsWith("=?base64?")) return text;
  return `=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode(text.slice(0, 5000))))}?=`;
}

/** Values of fields that the server reads; `undefined` removes the field. */
const FIELDS: readonly (readonly [name: string, values: readonly (string | undefined)[]])[] = [
  ["content-type", [
    undefined,
    "text/plain",
    "application/json; charset=utf-8",
    "APPLICATION/JSON",
    "x",
    "application/json-rpc",
    "",
  ]],
  ["accept", [
    undefined,
    "application/json",
    "text/event-stream",
    "*/*",
    "text/*",
    "TEXT/EVENT-STREAM;q=0",
    "x/y",
    "",
    ",,,",
  ]],
  ["mcp-protocol-version", [
    undefined,
    ...REVISIONS,
    MODERN,
    "2026-07-29",
    "1.0",
    "",
    "2025-11-25, 2025-11-25",
    "é",
  ]],
  ["mcp-method", [undefined, "tools/call", "TOOLS/CALL", "tools/list", ""]],
  ["mcp-name", [
    undefined,
    "add",
    "=?base64?YWRk?=",
    "=?base64?YWR?=",
    "=?base64?!!!!?=",
    "=?base64?/w==?=",
    "=?base64?=?=",
    "=?base64??=",
    "=?BASE64?YWRk?=",
    "\u00e9",
    "=?base64?YWRk",
  ]],
  ["mcp-param-region", [undefined, "x", "=?base64?eA==?=", "=?base64?eA=?=", "\u00e9"]],
  ["mcp-param-level", [undefined, "42", "42.0", "0x2a", "1e1", " 42", "", "Infinity", "nan"]],
  ["mcp-param-flag", [undefined, "true", "True", "1"]],
  ["origin", [
    "http://localhost:3000",
    "https://evil.example",
    "null",
    "http://127.0.0.1.evil.example",
    "",
    "x",
  ]],
  ["host", ["localhost:1", "evil.example", "127.0.0.1:8787", "", "[::1]", "127.0.0.1@evil.example"]],
  ["authorization", [
    undefined,
    "Bearer reader",
    "Bearer writer",
    "Bearer stale",
    "Basic eDp5",
    "Bearer",
    "",
  ]],
  ["last-event-id", [
    "x",
    "1-AAAAAAAAAAAAAAAAAAAAAA",
    "AAAAAAAAAAAAAAAAAAAAAA.0",
    "AAAA.999999999",
    "99999999999999999-x",
    "",
    "..",
    "a.-1",
  ]],
  ["content-length", ["0", "5", "70000", "x", "-1", "1e3", ""]],
  ["mcp-session-id", [undefined, "x", "", "x".repeat(9000), "\u00e9"]],
];

/** Changes one header field. */
export function mutateFields(
  random: Random,
  corpus: Corpus,
  foreign: readonly string[],
  headers: Headers,
): void {
  const [name, values] = random.pick(FIELDS);
  if (name === "mcp-session-id" && random.oneIn(2)) {
    setField(headers, name, pickSessionId(random, corpus, foreign));
  } else if (name === "last-event-id" && corpus.events.length > 0 && random.oneIn(2)) {
    setField(headers, name, random.pick(corpus.events).id);
  } else setField(headers, name, random.oneIn(15) ? toJson(createGarbage(random)) : random.pick(values));
  if (random.oneIn(40)) setField(headers, `mcp-param-${random.pick(NAMES)}`, "x");
}

/** Returns a session id that is valid, was valid or never was. */
function pickSessionId(random: Random, corpus: Corpus, foreign: readonly string[]): string {
  const { id } = corpus.sessions.length > 0 ? random.pick(corpus.sessions) : { id: "x" };
  const at = random.below(id.length);
  switch (random.below(4)) {
    case 0:
      return id;
    case 1:
      return id.slice(0, at);
    case 2:
      return id.slice(0, at) + (id[at] === "A" ? "B" : "A") + id.slice(at + 1);
    default:
      return random.pick(foreign);
  }
}

/** Sets a field, if its value is allowed in a header. */
export function setField(headers: Headers, name: string, value: string | undefined): void {
  try {
    if (value === undefined) headers.delete(name);
    else headers.set(name, value);
  } catch {
    // A client cannot send it either.
  }
}
