/**
 * Sends one request to the fuzzed tool server and reads its answer within a bound of time: one text, or a stream, whose
 * questions are answered well, badly or not at all.
 *
 * @module
 */
import type { ToolServer } from "../../../src/mcp/service.ts";
import { garbage, Raw, toJson } from "../json_garbage.ts";
import type { Session } from "./mcp_loot.ts";
import { badAnswer, goodAnswer } from "./mcp_messages.ts";
import { REFUSAL } from "./mcp_method_oracle.ts";
import { type Exchange, toRequest } from "./mcp_requests.ts";
import { checkSpoken, EventParser, findLeak, type Message, type StreamEvent } from "./mcp_shape.ts";
import { isObject } from "./mcp_wire.ts";
import { ORIGIN, type World } from "./mcp_world.ts";
import type { Random } from "../random.ts";
import { uncounted } from "../timers.ts";

/** Milliseconds in which everything ends that ends by itself. */
const BOUND = 5000;
/** Milliseconds after which nothing more is waited for on a stream that stays open. */
const QUIET = 3;
/** Events that are read of one. */
const MAX_EVENTS = 40;

export interface Observed {
  readonly status: number;
  readonly headers: Headers;
  readonly isStream: boolean;
  /** The whole body, or all events. */
  readonly text: string;
  /** The JSON of a body, or the messages of a stream. */
  readonly messages: readonly unknown[];
  readonly events: readonly StreamEvent[];
  readonly problem?: string | undefined;
}

export interface Manners {
  readonly random: Random;
  /** Does not end by itself. */
  readonly isOpen: boolean;
  /** Whose questions may come, and the id of the request that asks them. */
  readonly session?: Session | undefined;
  readonly requestId?: unknown;
  /** Goes away before the answer. */
  readonly aborts?: boolean;
  /** Leaves a stream that does not end by itself open, and reads on. */
  readonly keeps?: boolean;
}

export const HANG = "no end";

/** Sends, and reads what comes. */
export async function send(
  world: World,
  server: ToolServer,
  exchange: Exchange,
  manners: Manners,
): Promise<Observed | typeof HANG> {
  const controller = new AbortController();
  const answering = server.fetch(toRequest(exchange, controller.signal), world.context);
  if (manners.aborts) controller.abort();
  const response = await within(BOUND, answering);
  if (response === HANG) return HANG;
  const { status, headers } = response;
  if (headers.get("content-type") === "text/event-stream") return await readStream(world, response, manners);
  const text = await within(BOUND, response.text());
  if (text === HANG) return HANG;
  const isJson = headers.get("content-type") === "application/json";
  let problem: string | undefined;
  let messages: unknown[] = [];
  try {
    if (isJson) messages = [JSON.parse(text)];
  } catch {
    problem = "a body that is no JSON";
  }
  return { status, headers, isStream: false, text, messages, events: [], problem };
}

async function readStream(
  world: World,
  response: Response,
  manners: Manners,
): Promise<Observed | typeof HANG> {
  const reader = response.body!.getReader();
  const parser = new EventParser();
  const messages: unknown[] = [];
  let { isOpen } = manners;
  const observe = (problem?: string): Observed => ({
    status: response.status,
    headers: response.headers,
    isStream: true,
    text: parser.events.map(({ data }) => data).join("\n"),
    messages,
    events: parser.events,
    problem: problem ?? parser.problem,
  });
  for (;;) {
    const reading = reader.read();
    const read = await within(isOpen ? QUIET : BOUND, reading);
    if (read === HANG && isOpen && manners.keeps) {
      keep(world, reader, parser, reading);
      return observe();
    }
    if (read === HANG || parser.events.length > MAX_EVENTS) {
      await reader.cancel();
      return isOpen || parser.events.length > MAX_EVENTS ? observe() : HANG;
    }
    if (read.done) {
      parser.end();
      return observe();
    }
    for (const { event, data } of parser.take(read.value)) {
      if (data === undefined || data === "" || event === "endpoint") continue;
      let message: Message;
      try {
        message = JSON.parse(data);
      } catch {
        return observe("an event that is no JSON");
      }
      messages.push(message);
      if (!isObject(message) || message.id === undefined || message.method === undefined) continue;
      if (!manners.session) return observe("a question without a session");
      const answered = await answer(world, message, manners, manners.session);
      if (answered === "left") {
        await reader.cancel();
        return observe();
      }
      isOpen ||= answered === "not";
    }
  }
}

/** Reads on, until the world closes the stream or it ends. */
function keep(
  world: World,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  parser: EventParser,
  reading: ReturnType<typeof reader.read>,
): void {
  const read = async (): Promise<void> => {
    for (let next = await reading; !next.done; next = await reader.read()) {
      for (const { data } of parser.take(next.value)) {
        const problem = data ? findLeak(data) ?? checkNews(JSON.parse(data)) : undefined;
        if (problem !== undefined) world.faults.push(`${problem}: ${data}`);
      }
    }
    parser.end();
    if (parser.problem !== undefined) world.faults.push(parser.problem);
  };
  const end = read();
  world.kept.push(async () => {
    await reader.cancel();
    await end;
  });
}

/** What comes on a stream that belongs to no request, or is the rest of one: see `openSessionStream`. */
function checkNews(message: unknown): string | undefined {
  if (!isObject(message)) return "no message on a stream";
  return message.method === undefined ? undefined : checkSpoken(message);
}

/** Answers a question of the server's, in one of many ways. */
async function answer(
  world: World,
  question: Message,
  { random, requestId }: Manners,
  session: Session,
): Promise<"answered" | "not" | "left"> {
  const method = String(question.method);
  const open = { session, id: String(question.id), method };
  const { questions, heard } = world.loot;
  // A stream that is read again tells of it again, answered or not.
  if (!heard.has(open.id)) questions.push(open);
  heard.add(open.id);
  const post = async (message: unknown): Promise<number> => {
    const response = await postTo(world, random, session, toJson(message));
    await response.text();
    return response.status;
  };
  const reply = async (members: object): Promise<"answered" | "not"> => {
    const status = await post({ jsonrpc: "2.0", id: question.id, ...members });
    world.answers.set(`reply ${status}`, (world.answers.get(`reply ${status}`) ?? 0) + 1);
    if (status !== 202) return "not";
    const answered = questions.findIndex((each) => each.id === open.id);
    if (answered >= 0) questions.splice(answered, 1);
    return "answered";
  };
  switch (random.below(10)) {
    case 0:
      return "left";
    case 1:
      return "not";
    case 2:
      return await reply({ error: random.oneIn(2) ? garbage(random) : null });
    case 3:
      return await reply({
        error: {
          code: random.oneIn(3) ? random.pick([1.5, new Raw("1e999")]) : garbage(random),
          message: garbage(random),
        },
      });
    case 4:
      return await reply({ error: { code: REFUSAL, message: "No" } });
    case 5:
      return await reply({ result: random.oneIn(2) ? garbage(random) : badAnswer(random, method) });
    case 6:
    case 7:
      // Of others nothing is cancelled.
      if (typeof requestId !== "number" && (typeof requestId !== "string" || requestId.length > 200)) {
        return "not";
      }
      await post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
      return "answered";
    default:
      return await reply({ result: goodAnswer(random, method) });
  }
}

/** Posts to either instance, as the client of a session. */
export async function postTo(
  { instances, context }: World,
  random: Random,
  { id, token }: Session,
  body: string,
): Promise<Response> {
  const headers: Record<string, string> = { "content-type": "application/json", "mcp-session-id": id };
  if (token) headers.authorization = `Bearer ${token}`;
  return await random.pick(instances).fetch(
    new Request(`${ORIGIN}/mcp`, { method: "POST", headers, body: new TextEncoder().encode(body) }),
    context,
  );
}

/** The value, or {@linkcode HANG} when it is not there in time. */
export async function within<Value>(
  milliseconds: number,
  value: Promise<Value>,
): Promise<Value | typeof HANG> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<typeof HANG>((resolve) => {
    timer = uncounted.setTimeout(() => resolve(HANG), milliseconds);
  });
  try {
    return await Promise.race([value, late]);
  } finally {
    uncounted.clearTimeout(timer);
  }
}
