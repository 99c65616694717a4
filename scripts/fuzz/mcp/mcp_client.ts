/**
 * Sends one request to the fuzzed tool server and reads its response, with a timeout: one text, or a stream. Requests of the
 * server on the stream get valid, invalid or no responses.
 *
 * @module
 */
import type { ToolServer } from "../../../src/mcp/service.ts";
import { createGarbage, RawJson, toJson } from "../json_garbage.ts";
import type { Session } from "./mcp_corpus.ts";
import { createClientResult, createInvalidClientResult } from "./mcp_messages.ts";
import { REFUSAL } from "./mcp_method_oracle.ts";
import { type Exchange, toRequest } from "./mcp_requests.ts";
import { checkServerMessage, EventParser, findLeak, type Message, type StreamEvent } from "./mcp_shape.ts";
import { isObject } from "./mcp_wire.ts";
import { type FuzzSetup, ORIGIN } from "./mcp_setup.ts";
import type { Random } from "../random.ts";
import { uncounted } from "../timers.ts";

/** Timeout of a response, and of a stream that the server ends. */
const TIMEOUT_MS = 5000;
/** How long the next event of an open stream is awaited. */
const IDLE_MS = 3;
/** Events to read from one stream. */
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

export interface SendOptions {
  readonly random: Random;
  /** The server does not end the stream. */
  readonly isOpen: boolean;
  /** The session whose server requests may arrive, and the id of the client's request. */
  readonly session?: Session | undefined;
  readonly requestId?: unknown;
  /** The client aborts before the response. */
  readonly aborts?: boolean;
  /** The client keeps an open stream and reads it in the background. */
  readonly keeps?: boolean;
}

export const HANG = "timeout";

/** Sends a request and reads its response. */
export async function send(
  setup: FuzzSetup,
  server: ToolServer,
  exchange: Exchange,
  options: SendOptions,
): Promise<Observed | typeof HANG> {
  const controller = new AbortController();
  const answering = server.fetch(toRequest(exchange, controller.signal), setup.context);
  if (options.aborts) controller.abort();
  const response = await withTimeout(TIMEOUT_MS, answering);
  if (response === HANG) return HANG;
  const { status, headers } = response;
  if (headers.get("content-type") === "text/event-stream") return await readStream(setup, response, options);
  const text = await withTimeout(TIMEOUT_MS, response.text());
  if (text === HANG) return HANG;
  const isJson = headers.get("content-type") === "application/json";
  let problem: string | undefined;
  let messages: unknown[] = [];
  try {
    if (isJson) messages = [JSON.parse(text)];
  } catch {
    problem = "a body that is not JSON";
  }
  return { status, headers, isStream: false, text, messages, events: [], problem };
}

async function readStream(
  setup: FuzzSetup,
  response: Response,
  options: SendOptions,
): Promise<Observed | typeof HANG> {
  const reader = response.body!.getReader();
  const parser = new EventParser();
  const messages: unknown[] = [];
  let { isOpen } = options;
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
    const read = await withTimeout(isOpen ? IDLE_MS : TIMEOUT_MS, reading);
    if (read === HANG && isOpen && options.keeps) {
      readInBackground(setup, reader, parser, reading);
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
    for (const { event, data } of parser.parse(read.value)) {
      if (data === undefined || data === "" || event === "endpoint") continue;
      let message: Message;
      try {
        message = JSON.parse(data);
      } catch {
        return observe("an event that is not JSON");
      }
      messages.push(message);
      if (!isObject(message) || message.id === undefined || message.method === undefined) continue;
      if (!options.session) return observe("a server request without a session");
      const answered = await respond(setup, message, options, options.session);
      if (answered === "left") {
        await reader.cancel();
        return observe();
      }
      isOpen ||= answered === "not";
    }
  }
}

/** Reads the stream in the background until it ends or is closed. */
function readInBackground(
  setup: FuzzSetup,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  parser: EventParser,
  reading: ReturnType<typeof reader.read>,
): void {
  const read = async (): Promise<void> => {
    for (let next = await reading; !next.done; next = await reader.read()) {
      for (const { data } of parser.parse(next.value)) {
        const problem = data ? findLeak(data) ?? checkMessage(JSON.parse(data)) : undefined;
        if (problem !== undefined) setup.faults.push(`${problem}: ${data}`);
      }
    }
    parser.end();
    if (parser.problem !== undefined) setup.faults.push(parser.problem);
  };
  const end = read();
  setup.openStreams.push(async () => {
    await reader.cancel();
    await end;
  });
}

/** Checks a message on a stream without a request, or on the rest of one: see `openSessionStream`. */
function checkMessage(message: unknown): string | undefined {
  if (!isObject(message)) return "an event that is not a message";
  return message.method === undefined ? undefined : checkServerMessage(message);
}

/** Responds to a request of the server in one of many ways. */
async function respond(
  setup: FuzzSetup,
  question: Message,
  { random, requestId }: SendOptions,
  session: Session,
): Promise<"answered" | "not" | "left"> {
  const method = String(question.method);
  const open = { session, id: String(question.id), method };
  const { questions, seen } = setup.corpus;
  // A resumed stream sends the request again, even after its response.
  if (!seen.has(open.id)) questions.push(open);
  seen.add(open.id);
  const post = async (message: unknown): Promise<number> => {
    const response = await postTo(setup, random, session, toJson(message));
    await response.text();
    return response.status;
  };
  const reply = async (members: object): Promise<"answered" | "not"> => {
    const status = await post({ jsonrpc: "2.0", id: question.id, ...members });
    setup.answers.set(`reply ${status}`, (setup.answers.get(`reply ${status}`) ?? 0) + 1);
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
      return await reply({ error: random.oneIn(2) ? createGarbage(random) : null });
    case 3:
      return await reply({
        error: {
          code: random.oneIn(3) ? random.pick([1.5, new RawJson("1e999")]) : createGarbage(random),
          message: createGarbage(random),
        },
      });
    case 4:
      return await reply({ error: { code: REFUSAL, message: "No" } });
    case 5:
      return await reply({
        result: random.oneIn(2) ? createGarbage(random) : createInvalidClientResult(random, method),
      });
    case 6:
    case 7:
      // Requests with other ids cannot be cancelled.
      if (typeof requestId !== "number" && (typeof requestId !== "string" || requestId.length > 200)) {
        return "not";
      }
      await post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
      return "answered";
    default:
      return await reply({ result: createClientResult(random, method) });
  }
}

/** Posts a message of a session to one of the instances. */
async function postTo(
  { instances, context }: FuzzSetup,
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

/** Resolves to the value, or to {@linkcode HANG} after the timeout. */
export async function withTimeout<Value>(
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
