/**
 * A conversation of the fuzz run over HTTP+SSE: the stream is opened at one instance, messages are posted to either.
 *
 * @module
 */
import { HANG, within } from "./mcp_client.ts";
import { mangle, spoil, toJson } from "../json_garbage.ts";
import { goodAnswer, goodId, goodNotification, goodRequest, type Members } from "./mcp_messages.ts";
import type { Profile } from "./mcp_profile.ts";
import { checkAnswer, checkSpoken, EventParser, findLeak } from "./mcp_shape.ts";
import { depthOf, isObject, kindOf, MAX_DEPTH } from "./mcp_wire.ts";
import { BODY_LIMIT, ORIGIN, type World } from "./mcp_world.ts";
import type { Random } from "../random.ts";

const BOUND = 5000;
/** Nothing of the modern era comes here; which of the others is spoken the client may choose. */
const PROFILE: Profile = { kind: "legacy", revision: "2025-11-25" };
/** Tools that answer whatever the client does: what they are asked for is waited for. */
const SURE = /^(add|echo|greet|number|refuse|rpc_error|media|progress|job|read_only|needs|late)$/;

/** Talks; gives the number of messages sent. */
export async function talkOverSse(
  world: World,
  random: Random,
  { problems }: { readonly problems: string[] },
): Promise<number> {
  const { instances, context } = world;
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
      for (const { event, data = "" } of parser.take(next.value)) {
        if (event === "endpoint") address = data;
        else take(event, data);
      }
      wake();
    }
  };
  const take = (event: string | undefined, data: string): void => {
    const leak = findLeak(data);
    if (leak !== undefined || event !== "message") return fail(leak ?? `an event "${event}"`, data);
    let message: unknown;
    try {
      message = JSON.parse(data);
    } catch {
      // Told below.
    }
    if (!isObject(message)) return fail("an event that is no message", data);
    if (message.method !== undefined) {
      const odd = checkSpoken(message);
      if (odd !== undefined) fail(odd, data);
      if (message.id !== undefined) questions.push({ id: message.id, method: String(message.method) });
      return;
    }
    answers.set(message.id, (answers.get(message.id) ?? 0) + 1);
    const problem = checkAnswer(message, message.id ?? undefined, PROFILE);
    if (problem !== undefined) fail(problem, data);
  };
  let cancel = (): Promise<void> => Promise.resolve();
  const reading = read();
  const heard = async (isTrue: () => boolean): Promise<boolean> => {
    while (!isTrue()) {
      const woken = await within(BOUND, new Promise<void>((resolve) => wake = resolve));
      if (woken === HANG) return false;
    }
    return true;
  };
  if (!await heard(() => address !== undefined)) fail("no endpoint event");

  const sent = 3 + random.below(15);
  const asked = new Map<unknown, number>();
  const sure = new Set<unknown>();
  for (let i = 0; i < sent && address !== undefined; i++) {
    const message = nextMessage(random, world, questions);
    questions = questions.filter(({ id }) => id !== message.id || message.method !== undefined);
    const isSpoilt = random.oneIn(3);
    if (isSpoilt) spoil(random, message);
    const text = toJson(message);
    const body = isSpoilt && random.oneIn(4) ? mangle(random, text) : new TextEncoder().encode(text);
    const { status, value } = await post(world, random, address, body);
    const wanted = statusFor(value, body);
    if (!wanted.includes(status)) fail(`${status} in place of ${wanted.join(" or ")}`, text);
    if (status !== 202 || !isObject(value) || kindOf(value) !== "request") continue;
    asked.set(value.id, (asked.get(value.id) ?? 0) + 1);
    const { name } = isObject(value.params) ? value.params : { name: undefined };
    if (
      value.method === "ping" || value.method === "tools/call" && typeof name === "string" && SURE.test(name)
    ) {
      sure.add(value.id);
    }
    if (random.oneIn(9)) await random.pick(instances).listChanged("tools");
    if (random.oneIn(4) && !await heard(() => answers.has(value.id) || !sure.has(value.id))) {
      fail("no answer", text);
    }
  }
  for (const id of sure) if (!await heard(() => answers.has(id))) fail(`no answer to ${JSON.stringify(id)}`);
  for (const [id, count] of answers) {
    if (count > (asked.get(id) ?? 0)) {
      fail(`${count} answers to ${asked.get(id) ?? 0} requests ${JSON.stringify(id)}`);
    }
  }
  await cancel();
  if (await within(BOUND, reading) === HANG) fail("no end");
  if (parser.problem !== undefined) fail(parser.problem);
  return sent;
}

function nextMessage(
  random: Random,
  { loot }: World,
  questions: readonly { readonly id: unknown; readonly method: string }[],
): Members {
  if (questions.length > 0 && random.oneIn(2)) {
    const { id, method } = random.pick(questions);
    return { jsonrpc: "2.0", id, result: goodAnswer(random, method) };
  }
  if (random.oneIn(8)) return { jsonrpc: "2.0", ...goodNotification(random, loot) };
  return { jsonrpc: "2.0", id: goodId(random), ...goodRequest(random, loot, false) };
}

async function post(
  { instances, context }: World,
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

/** A question may have gone meanwhile, so an answer is 202 or 400. */
function statusFor(value: unknown, body: Uint8Array): readonly number[] {
  if (body.length > BODY_LIMIT) return [413];
  if (value === undefined || depthOf(value) > MAX_DEPTH) return [400];
  const kind = kindOf(value);
  return kind === "invalid" ? [400] : kind === "answer" ? [202, 400] : [202];
}
