/**
 * Unexpected JSON: values of wrong types and sizes, and invalid texts and bytes.
 *
 * @module
 */
import type { Random } from "./random.ts";

/** A JSON text that `JSON.stringify` would not write. */
export class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Like `JSON.stringify`, with {@linkcode RawJson} texts. */
export function toJson(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map(toJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value).filter(([, each]) => each !== undefined);
  return `{${members.map(([name, each]) => `${JSON.stringify(name)}:${toJson(each)}`).join(",")}}`;
}

/** Names with a meaning in JavaScript, JSON-RPC or MCP. */
export const NAMES: readonly string[] = [
  "__proto__",
  "constructor",
  "toString",
  "toJSON",
  "then",
  "length",
  "",
  "0",
  "id",
  "method",
  "params",
  "result",
  "error",
  "jsonrpc",
  "_meta",
  "name",
  "uri",
  "cursor",
  "arguments",
  "requestState",
  "inputResponses",
  "taskId",
  "task",
  "notifications",
  "progressToken",
  "io.modelcontextprotocol/protocolVersion",
  "\ud800",
  "a b",
  "é",
];

const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  new RawJson("-0"),
  -1,
  1.5,
  1e21,
  new RawJson("1e999"),
  new RawJson("-1e999"),
  new RawJson("123456789012345678901234567890"),
  new RawJson("0.1e-999"),
  "",
  " ",
  "x",
  "\u0000",
  "\ud800",
  "\udc00x",
  "𝄞é\u202e",
  "\ufffd",
  "=?base64?eA==?=",
  "%",
  "%ff",
  "..",
  "2026-07-28",
  "2025-11-25",
  "1",
  "true",
  "__proto__",
  "{}",
  [],
  {},
  [[]],
  [null],
  ["x", 1],
  { toString: 1, valueOf: 1 },
  { toJSON: "x" },
  { then: {} },
  { length: 1e9 },
  new RawJson('{"__proto__":{"name":"add","x":1}}'),
  new RawJson('{"constructor":{"prototype":{"x":1}}}'),
  new RawJson('{"a":1,"a":2}'),
];

/** Returns an unexpected value. */
export function createGarbage(random: Random): unknown {
  switch (random.below(14)) {
    case 0:
      return "x".repeat(1 + random.below(random.oneIn(10) ? 40_000 : 400));
    case 1:
      return createNested(random);
    case 2:
      return Array.from({ length: random.below(50) }, () => copy(random.pick(VALUES)));
    case 3:
      return { [random.pick(NAMES)]: copy(random.pick(VALUES)), [random.pick(NAMES)]: 1 };
    default:
      return copy(random.pick(VALUES));
  }
}

/** Copies a value, because it may be mutated later. */
function copy(value: unknown): unknown {
  if (typeof value !== "object" || value === null || value instanceof RawJson) return value;
  if (Array.isArray(value)) return value.map(copy);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, copy(each)]));
}

/** Nested arrays or objects, sometimes deeper than a recursive reader supports. */
function createNested(random: Random): RawJson {
  const depth = random.oneIn(6) ? 1000 + random.below(9000) : 1 + random.below(600);
  return random.oneIn(2)
    ? new RawJson("[".repeat(depth) + "]".repeat(depth))
    : new RawJson('{"a":'.repeat(depth) + "1" + "}".repeat(depth));
}

type Container = unknown[] | Record<string, unknown>;

/** Makes one change somewhere in the value: removes, adds, renames or replaces a member or item. */
export function mutate(random: Random, value: Container): void {
  const found: Container[] = [];
  collectContainers(value, found);
  const at = random.pick(found);
  if (Array.isArray(at)) {
    const i = random.below(at.length + 1);
    if (random.oneIn(3)) at.splice(i, 1);
    else at[i] = createGarbage(random);
    return;
  }
  const names = Object.keys(at);
  const name = names.length > 0 ? random.pick(names) : random.pick(NAMES);
  switch (random.below(6)) {
    case 0:
      delete at[name];
      break;
    case 1:
      setMember(at, random.pick(NAMES), createGarbage(random));
      break;
    case 2: {
      const member = at[name];
      delete at[name];
      setMember(at, random.oneIn(2) ? name.toUpperCase() : random.pick(NAMES), member);
      break;
    }
    default:
      setMember(at, name, createGarbage(random));
  }
}

function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

function collectContainers(value: unknown, found: Container[]): void {
  if (typeof value !== "object" || value === null || value instanceof RawJson || found.length > 60) return;
  found.push(value as Container);
  for (const each of Object.values(value)) collectContainers(each, found);
}

const encoder = new TextEncoder();

/** Truncates, extends or repeats a text, or makes it invalid JSON or UTF-8. */
export function mutateText(random: Random, text: string): Uint8Array<ArrayBuffer> {
  const bytes = encoder.encode(text);
  const at = random.below(bytes.length + 1);
  const insert = (...more: number[]) =>
    Uint8Array.of(...bytes.subarray(0, at), ...more, ...bytes.subarray(at));
  switch (random.below(12)) {
    case 0:
      return bytes.slice(0, at);
    case 1:
      return insert(0xff);
    case 2:
      return insert(0xed, 0xa0, 0x80);
    case 3:
      return insert(0);
    case 4:
      return Uint8Array.of(0xef, 0xbb, 0xbf, ...bytes);
    case 5:
      return encoder.encode(text + text);
    case 6:
      return encoder.encode(text.replace(/^\{/, '{"id":null,"method":5,"jsonrpc":"1.0","params":7,'));
    case 7:
      return encoder.encode(text.replaceAll('"', "'"));
    case 8:
      return encoder.encode(" \t\r ".repeat(random.below(500)) + text);
    case 9:
      return encoder.encode(text.replace("{", "{/* x */").replace("}", ",}"));
    case 10:
      return Uint8Array.from(text, (letter) => letter.charCodeAt(0)).slice(0, 60_000);
    default: {
      const changed = bytes.slice();
      if (changed.length > 0) changed[random.below(changed.length)] = random.below(256);
      return changed;
    }
  }
}
