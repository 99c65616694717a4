/**
 * A conversation of the fuzz run over stdio: lines of both eras in pieces of any size, and questions answered on the way.
 *
 * @module
 */
import { garbage, mangle, spoil, toJson } from "../json_garbage.ts";
import { HANG, within } from "./mcp_client.ts";
import {
  capabilities,
  goodAnswer,
  goodNotification,
  goodRequest,
  type Members,
  MODERN,
  modernMeta,
  REVISIONS,
} from "./mcp_messages.ts";
import { checkAnswer, checkSpoken, findLeak } from "./mcp_shape.ts";
import { depthOf, isObject, kindOf, MAX_DEPTH, MAX_ID_LENGTH } from "./mcp_wire.ts";
import type { World } from "./mcp_world.ts";
import type { Random } from "../random.ts";

const BOUND = 5000;

/** Talks; gives the number of lines sent. */
export async function talkOverStdio(
  world: World,
  random: Random,
  { problems }: { readonly problems: string[] },
): Promise<number> {
  const fail = (problem: string, shown = ""): void =>
    void problems.push(`${problem}, over stdio: ${shown.slice(0, 800)}`);
  const server = random.pick(world.instances);
  const count = 5 + random.below(60);
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const input = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
  const asked = new Map<unknown, { readonly message: unknown; readonly least: number }[]>();
  const cancelled = new Set<unknown>();
  const answered = new Map<unknown, number>();
  let nameless = 0;
  let loose = 0;
  let text = "";
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let chunks: number[] = [];

  const write = (bytes: Uint8Array): void => {
    chunks.push(...bytes);
    while (chunks.length > 0 && !random.oneIn(3)) {
      const size = random.oneIn(4) ? 1 + random.below(7) : chunks.length;
      controller.enqueue(Uint8Array.from(chunks.slice(0, size)));
      chunks = chunks.slice(size);
    }
  };
  const output = new WritableStream<Uint8Array>({
    write(chunk) {
      text += decoder.decode(chunk, { stream: true });
      const lines = text.split("\n");
      text = lines.pop()!;
      for (const line of lines) hear(line);
    },
  });
  function hear(line: string): void {
    const leak = findLeak(line);
    if (leak !== undefined) return fail(leak, line);
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return fail("a line that is no JSON", line);
    }
    if (Array.isArray(value)) {
      for (const each of value) hearOne(each, line);
    } else hearOne(value, line);
  }
  function hearOne(message: unknown, line: string): void {
    if (!isObject(message)) return fail("a line that is no message", line);
    const { id, method } = message;
    if (method !== undefined) {
      const odd = checkSpoken(message);
      if (odd !== undefined) fail(odd, line);
      if (id !== undefined && random.below(5) > 0) writeLine(reply(random, id, String(method)));
      return;
    }
    const { result } = message;
    const kind = isObject(result) && result.resultType !== undefined ? "modern" : "plain";
    const problem = checkAnswer(message, id ?? undefined, { kind, revision: MODERN });
    if (problem !== undefined) fail(problem, line);
    if (id === undefined || id === null) nameless--;
    else answered.set(id, (answered.get(id) ?? 0) + 1);
  }
  const writeLine = (message: unknown): void => {
    if (isOver) return;
    const bytes = new TextEncoder().encode(toJson(message) + "\n");
    note(bytes);
    write(bytes);
  };
  let isOver = false;

  const done = server.serveStdio(input, output);
  for (let i = 0; i < count; i++) {
    let message: Members | Members[] = nextLine(random, world, 2 * i);
    if (random.oneIn(25)) message = [message, nextLine(random, world, 2 * i + 1)];
    const isSpoilt = random.oneIn(3);
    if (isSpoilt) spoil(random, message);
    const json = toJson(message);
    const bytes = isSpoilt && random.oneIn(4) ? mangle(random, json) : new TextEncoder().encode(json);
    const line = bytes.map((byte) => byte === 10 ? 32 : byte);
    note(line);
    write(Uint8Array.of(...line, ...random.oneIn(5) ? [13, 10] : [10]));
    if (random.oneIn(5)) await new Promise<void>((resolve) => setTimeout(resolve, random.below(2)));
  }
  isOver = true;
  if (chunks.length > 0) controller.enqueue(Uint8Array.from(chunks));
  if (random.oneIn(8)) {
    // What was under way goes nowhere; that nothing stays behind shows when all is closed.
    controller.error(new Error("broken"));
    const end = await within(BOUND, done.then(() => "well", () => "badly"));
    if (end !== "badly") fail(`a broken input ended ${end}`);
    return count;
  }
  controller.close();
  if (await within(BOUND, done) === HANG) fail("no end");
  if (text !== "") fail("half a line", text);
  for (const [id, requests] of asked) {
    const came = answered.get(id) ?? 0;
    // Of two with one id, a cancellation or a second stream may silence either.
    const least = cancelled.has(id) || requests.length > 1 ? 0 : requests[0]!.least;
    if (came > requests.length || came < least) {
      fail(`${came} answers to ${requests.length} requests`, toJson(requests.map(({ message }) => message)));
    }
  }
  for (const [id, came] of answered) {
    if (!asked.has(id)) fail(`${came} answers to nobody's ${JSON.stringify(id)}`);
  }
  if (Math.abs(nameless) > loose) fail(`${nameless} answers without an id too few`);
  return count;

  /** What a line is there to be answered with: requests by their ids, what cannot be read without one. */
  function note(bytes: Uint8Array): void {
    let value: unknown;
    try {
      const line = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes).replace(
        /^\ufeff/,
        "",
      );
      if (line.trim() === "") return;
      value = JSON.parse(line);
      if (depthOf(value) > MAX_DEPTH) value = undefined;
    } catch {
      value = undefined;
    }
    if (!Array.isArray(value)) return noteOne(value, 1);
    // Which revision is spoken decides whether there are batches; refused ones have one answer.
    loose += value.length + 1;
    for (const each of value) noteOne(each, 0);
  }
  function noteOne(message: unknown, least: number): void {
    const kind = kindOf(message);
    if (kind === "answer") return;
    const { id, method, params } = isObject(message) ? message : { id: undefined };
    if (kind === "notification") {
      const { requestId } = isObject(params) ? params : { requestId: undefined };
      if (method === "notifications/cancelled") cancelled.add(requestId);
    } else if (
      !(typeof id === "string" && id.length <= MAX_ID_LENGTH) &&
      !(typeof id === "number" && Number.isFinite(id))
    ) nameless++;
    else asked.set(id, [...asked.get(id) ?? [], { message, least }]);
  }
}

/** Ids are never the same twice, unless they are spoilt. */
function nextLine(random: Random, { loot }: World, number: number): Members {
  const head = { jsonrpc: "2.0", id: number % 2 ? number : `line-${number}` };
  if (random.oneIn(12)) {
    const protocolVersion = random.pick(REVISIONS);
    return { ...head, method: "initialize", params: { protocolVersion, capabilities: capabilities(random) } };
  }
  if (random.oneIn(15)) return { jsonrpc: "2.0", ...goodNotification(random, loot) };
  const isModern = random.oneIn(2);
  const { method, params } = goodRequest(random, loot, isModern);
  return { ...head, method, params: { ...params, ...(isModern && { _meta: modernMeta(random, MODERN) }) } };
}

function reply(random: Random, id: unknown, method: string): Members {
  const head = { jsonrpc: "2.0", id };
  switch (random.below(6)) {
    case 0:
      return { ...head, error: random.oneIn(2) ? null : garbage(random) };
    case 1:
      return { ...head, error: { code: garbage(random), message: garbage(random) } };
    case 2:
      return { ...head, result: garbage(random) };
    default:
      return { ...head, result: goodAnswer(random, method) };
  }
}
