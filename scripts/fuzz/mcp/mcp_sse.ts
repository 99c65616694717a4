/**
 * Fuzzes HTTP+SSE: opens the stream at one instance and posts messages to both.
 *
 * @module
 */
import { HANG, withTimeout } from "./mcp_client.ts";
import { mutate, mutateText, toJson } from "../json_garbage.ts";
import {
  createClientResult,
  createId,
  createNotification,
  createRequest,
  type Members,
} from "./mcp_messages.ts";
import type { Profile } from "./mcp_profile.ts";
import { checkResponse, checkServerMessage, EventParser, findLeak } from "./mcp_shape.ts";
import { getKind, isObject, MAX_DEPTH, measureDepth } from "./mcp_wire.ts";
import { BODY_LIMIT, type FuzzSetup, ORIGIN } from "./mcp_setup.ts";
import type { Random } from "../random.ts";

const TIMEOUT_MS = 5000;
/** This transport has no revision 2026-07-28; the client chooses one of the others. */
const PROFILE: Profile = { kind: "legacy", revision: "2025-11-25" };
/** Tools that respond whatever the client does, so their response is awaited. */
const ALWAYS_RESPONDS = /^(add|echo|greet|number|refuse|rpc_error|media|progress|job|read_only|needs|late)$/;

/** Sends messages; resolves to their number. */
export async function fuzzSse(
  setup: FuzzSetup,
  random: Random,
  { problems }: { readonly problems: string[] },
): Promise<number> {
  const { instances, context } = setup;
  const fail = (problem: string, shown = ""): void =>
    void problems.push(`${problem}, over HTTP+SSE: ${shown.slice(0, 800)}`);
  const response = await random.pick(instances).fetch(
    new Request(`${ORIGIN}/mcp/sse`, { headers: { accept: "text/event-stream" } }),
    context,
  );
  const parser = new EventParser();
  const answers = new Map<unknown, number>();
  let questions: { readonly id: unknown; readonly method: string }[] = [];
  let address: string | undefined;
  let wake = (): void => {};

  const read = async (): Promise<void> => {
    const reader = response.body!.getReader();
    cancel = () => reader.cancel();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      for (const { event, data = "" } of parser.parse(next.value)) {
        if (event === "endpoint") address = data;
        else receive(event, data);
      }
      wake();
    }
  };
  const receive = (event: string | undefined, data: string): void => {
    const leak = findLeak(data);
    if (leak !== undefined || event !== "message") return fail(leak ?? `an event "${event}"`, data);
    let message: unknown;
    try {
      message = JSON.parse(data);
    } catch {
      // Reported below.
    }
    if (!isObject(message)) return fail("an event that is not a message", data);
    if (message.method !== undefined) {
      const problem = checkServerMessage(message);
      if (problem !== undefined) fail(problem, data);
      if (message.id !== undefined) questions.push({ id: message.id, method: String(message.method) });
      return;
    }
    answers.set(message.id, (answers.get(message.id) ?? 0) + 1);
    const problem = checkResponse(message, message.id ?? undefined, PROFILE);
    if (problem !== undefined) fail(problem, data);
  };
  let cancel = (): Promise<void> => Promise.resolve();
  const reading = read();
  const waitUntil = async (isTrue: () => boolean): Promise<boolean> => {
    while (!isTrue()) {
      const woken = await withTimeout(TIMEOUT_MS, new Promise<void>((resolve) => wake = resolve));
      if (woken === HANG) return false;
    }
    return true;
  };
  if (!await waitUntil(() => address !== undefined)) fail("no endpoint event");

  const sent = 3 + random.below(15);
  const asked = new Map<unknown, number>();
  const mustRespond = new Set<unknown>();
  for (let i = 0; i < sent && address !== undefined; i++) {
    const message = nextMessage(random, setup, questions);
    questions = questions.filter(({ id }) => id !== message.id || message.method !== undefined);
    const isMutated = random.oneIn(3);
    if (isMutated) mutate(random, message);
    const text = toJson(message);
    const body = isMutated && random.oneIn(4) ? mutateText(random, text) : new TextEncoder().encode(text);
    const { status, value } = await post(setup, random, address, body);
    const expected = predictStatuses(value, body);
    if (!expected.includes(status)) fail(`${status} instead of ${expected.join(" or ")}`, text);
    if (status !== 202 || !isObject(value) || getKind(value) !== "request") continue;
    asked.set(value.id, (asked.get(value.id) ?? 0) + 1);
    const { name } = isObject(value.params) ? value.params : { name: undefined };
    if (
      value.method === "ping" ||
      value.method === "tools/call" && typeof name === "string" && ALWAYS_RESPONDS.test(name)
    ) {
      mustRespond.add(value.id);
    }
    if (random.oneIn(9)) await random.pick(instances).listChanged("tools");
    if (random.oneIn(4) && !await waitUntil(() => answers.has(value.id) || !mustRespond.has(value.id))) {
      fail("no response", text);
    }
  }
  for (const id of mustRespond) {
    if (!await waitUntil(() => answers.has(id))) fail(`no response to ${JSON.stringify(id)}`);
  }
  for (const [id, count] of answers) {
    if (count > (asked.get(id) ?? 0)) {
      fail(`${count} responses to ${asked.get(id) ?? 0} requests ${JSON.stringify(id)}`);
    }
  }
  await cancel();
  if (await withTimeout(TIMEOUT_MS, reading) === HANG) fail("the stream does not end");
  if (parser.problem !== undefined) fail(parser.problem);
  return sent;
}

function nextMessage(
  random: Random,
  { corpus }: FuzzSetup,
  questions: readonly { readonly id: unknown; readonly method: string }[],
): Members {
  if (questions.length > 0 && random.oneIn(2)) {
    const { id, method } = random.pick(questions);
    return { jsonrpc: "2.0", id, result: createClientResult(random, method) };
  }
  if (random.oneIn(8)) return { jsonrpc: "2.0", ...createNotification(random, corpus) };
  return { jsonrpc: "2.0", id: createId(random), ...createRequest(random, corpus, false) };
}

async function post(
  { instances, context }: FuzzSetup,
  random: Random,
  address: string,
  body: Uint8Array<ArrayBuffer>,
): Promise<{ readonly status: number; readonly value: unknown }> {
  const request = new Request(ORIGIN + address, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  const response = await random.pick(instances).fetch(request, context);
  await response.text();
  try {
    return {
      status: response.status,
      value: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)),
    };
  } catch {
    return { status: response.status, value: undefined };
  }
}

/** Predicts the status. A server request may have ended, so a response gets 202 or 400. */
function predictStatuses(value: unknown, body: Uint8Array): readonly number[] {
  if (body.length > BODY_LIMIT) return [413];
  if (value === undefined || measureDepth(value) > MAX_DEPTH) return [400];
  const kind = getKind(value);
  return kind === "invalid" ? [400] : kind === "answer" ? [202, 400] : [202];
}
