/**
 * Fuzzes stdio: sends lines of every revision in chunks of any size, and responds to server requests.
 *
 * @module
 */
import { createGarbage, mutate, mutateText, toJson } from "../json_garbage.ts";
import { HANG, withTimeout } from "./mcp_client.ts";
import {
  createClientResult,
  createModernMeta,
  createNotification,
  createRequest,
  type Members,
  MODERN,
  pickCapabilities,
  REVISIONS,
} from "./mcp_messages.ts";
import { checkResponse, checkServerMessage, findLeak } from "./mcp_shape.ts";
import { getKind, isObject, MAX_DEPTH, MAX_ID_LENGTH, measureDepth } from "./mcp_wire.ts";
import type { FuzzSetup } from "./mcp_setup.ts";
import type { Random } from "../random.ts";

const TIMEOUT_MS = 5000;

/** Sends lines; resolves to their number. */
export async function fuzzStdio(
  setup: FuzzSetup,
  random: Random,
  { problems }: { readonly problems: string[] },
): Promise<number> {
  const fail = (problem: string, shown = ""): void =>
    void problems.push(`${problem}, over stdio: ${shown.slice(0, 800)}`);
  const server = random.pick(setup.instances);
  const count = 5 + random.below(60);
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const input = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
  const asked = new Map<unknown, { readonly message: unknown; readonly minResponses: number }[]>();
  const cancelled = new Set<unknown>();
  const answered = new Map<unknown, number>();
  let withoutId = 0;
  let tolerance = 0;
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
      for (const line of lines) receive(line);
    },
  });
  function receive(line: string): void {
    const leak = findLeak(line);
    if (leak !== undefined) return fail(leak, line);
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return fail("a line that is not JSON", line);
    }
    if (Array.isArray(value)) {
      for (const each of value) receiveOne(each, line);
    } else receiveOne(value, line);
  }
  function receiveOne(message: unknown, line: string): void {
    if (!isObject(message)) return fail("a line that is not a message", line);
    const { id, method } = message;
    if (method !== undefined) {
      const problem = checkServerMessage(message);
      if (problem !== undefined) fail(problem, line);
      if (id !== undefined && random.below(5) > 0) writeLine(createReply(random, id, String(method)));
      return;
    }
    const { result } = message;
    const kind = isObject(result) && result.resultType !== undefined ? "modern" : "plain";
    const problem = checkResponse(message, id ?? undefined, { kind, revision: MODERN });
    if (problem !== undefined) fail(problem, line);
    if (id === undefined || id === null) withoutId--;
    else answered.set(id, (answered.get(id) ?? 0) + 1);
  }
  const writeLine = (message: unknown): void => {
    if (isDone) return;
    const bytes = new TextEncoder().encode(toJson(message) + "\n");
    recordLine(bytes);
    write(bytes);
  };
  let isDone = false;

  const done = server.serveStdio(input, output);
  for (let i = 0; i < count; i++) {
    let message: Members | Members[] = nextLine(random, setup, 2 * i);
    if (random.oneIn(25)) message = [message, nextLine(random, setup, 2 * i + 1)];
    const isMutated = random.oneIn(3);
    if (isMutated) mutate(random, message);
    const json = toJson(message);
    const bytes = isMutated && random.oneIn(4) ? mutateText(random, json) : new TextEncoder().encode(json);
    const line = bytes.map((byte) => byte === 10 ? 32 : byte);
    recordLine(line);
    write(Uint8Array.of(...line, ...random.oneIn(5) ? [13, 10] : [10]));
    if (random.oneIn(5)) await new Promise<void>((resolve) => setTimeout(resolve, random.below(2)));
  }
  isDone = true;
  if (chunks.length > 0) controller.enqueue(Uint8Array.from(chunks));
  if (random.oneIn(8)) {
    // Responses of running calls are lost. Leaks are found when everything is closed.
    controller.error(new Error("broken"));
    const end = await withTimeout(TIMEOUT_MS, done.then(() => "normally", () => "with an error"));
    if (end !== "with an error") fail(`after an error of the input, serveStdio ended ${end}`);
    return count;
  }
  controller.close();
  if (await withTimeout(TIMEOUT_MS, done) === HANG) fail("serveStdio does not end");
  if (text !== "") fail("an incomplete line", text);
  for (const [id, requests] of asked) {
    const received = answered.get(id) ?? 0;
    // Of requests with the same id, or after a cancellation, one may get no response.
    const minResponses = cancelled.has(id) || requests.length > 1 ? 0 : requests[0]!.minResponses;
    if (received > requests.length || received < minResponses) {
      fail(
        `${received} responses to ${requests.length} requests`,
        toJson(requests.map(({ message }) => message)),
      );
    }
  }
  for (const [id, received] of answered) {
    if (!asked.has(id)) fail(`${received} responses to an unknown id ${JSON.stringify(id)}`);
  }
  if (Math.abs(withoutId) > tolerance) fail(`${withoutId} responses without an id are missing`);
  return count;

  /** Records which responses a line requires: for requests with their id, for unreadable lines without one. */
  function recordLine(bytes: Uint8Array): void {
    let value: unknown;
    try {
      const line = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes).replace(
        /^\ufeff/,
        "",
      );
      if (line.trim() === "") return;
      value = JSON.parse(line);
      if (measureDepth(value) > MAX_DEPTH) value = undefined;
    } catch {
      value = undefined;
    }
    if (!Array.isArray(value)) return recordMessage(value, 1);
    // Only some revisions have batches; a refused batch gets one response.
    tolerance += value.length + 1;
    for (const each of value) recordMessage(each, 0);
  }
  function recordMessage(message: unknown, minResponses: number): void {
    const kind = getKind(message);
    if (kind === "answer") return;
    const { id, method, params } = isObject(message) ? message : { id: undefined };
    if (kind === "notification") {
      const { requestId } = isObject(params) ? params : { requestId: undefined };
      if (method === "notifications/cancelled") cancelled.add(requestId);
    } else if (
      !(typeof id === "string" && id.length <= MAX_ID_LENGTH) &&
      !(typeof id === "number" && Math.abs(id) <= Number.MAX_SAFE_INTEGER)
    ) withoutId++;
    else asked.set(id, [...asked.get(id) ?? [], { message, minResponses }]);
  }
}

/** Returns the next message. Ids are unique, unless a mutation changes them. */
function nextLine(random: Random, { corpus }: FuzzSetup, number: number): Members {
  const head = { jsonrpc: "2.0", id: number % 2 ? number : `line-${number}` };
  if (random.oneIn(12)) {
    const protocolVersion = random.pick(REVISIONS);
    return {
      ...head,
      method: "initialize",
      params: { protocolVersion, capabilities: pickCapabilities(random) },
    };
  }
  if (random.oneIn(15)) return { jsonrpc: "2.0", ...createNotification(random, corpus) };
  const isModern = random.oneIn(2);
  const { method, params } = createRequest(random, corpus, isModern);
  return {
    ...head,
    method,
    params: { ...params, ...(isModern && { _meta: createModernMeta(random, MODERN) }) },
  };
}

function createReply(random: Random, id: unknown, method: string): Members {
  const head = { jsonrpc: "2.0", id };
  switch (random.below(6)) {
    case 0:
      return { ...head, error: random.oneIn(2) ? null : createGarbage(random) };
    case 1:
      return { ...head, error: { code: createGarbage(random), message: createGarbage(random) } };
    case 2:
      return { ...head, result: createGarbage(random) };
    default:
      return { ...head, result: createClientResult(random, method) };
  }
}
