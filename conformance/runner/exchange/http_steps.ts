/**
 * Steps that send HTTP requests: one request, several at once, or a stream that later steps read.
 *
 * @module
 */
import { utf8 } from "./bytes.ts";
import { CookieJar } from "./cookie_jar.ts";
import { EventReader } from "./event_reader.ts";
import {
  BrokenExchange,
  exchange,
  type HttpRequest,
  type HttpResponse,
  openWithTimeout,
  type Sender,
  withTimeout,
} from "./exchange.ts";
import { findMismatch } from "../vector/match.ts";
import { KitError, NotClaimed } from "../outcome.ts";
import { formatRequest, formatResponse } from "../report/format_exchange.ts";
import { buildRequest } from "./request.ts";
import { describeRequest } from "./send_scripted.ts";
import { endWithResponse } from "./response_end.ts";
import { fillFields, fillTemplates } from "../vector/template.ts";
import type { JsonObject, RequestDescription, Step } from "../vector/vector_file.ts";
import { toView, type View } from "../vector/view.ts";
import type { OpenStream, VectorContext } from "../context.ts";

/** Limit of redirects that a step follows (RFC 9110 section 15.4 names no number). */
const MAX_REDIRECTS = 10;

/** Sends the request of a step, or all of its copies. Returns a view of each response. @throws {KitError} */
export async function sendRequests(step: Step, context: VectorContext): Promise<View[]> {
  const { parallel } = step;
  if (parallel === undefined) return [await sendRequest(step, step.request!, context, {})];
  const all = typeof parallel === "number" ? Array.from({ length: parallel }, () => step.request!) : parallel;
  const outgoing = await Promise.all(all.map((each, copy) => buildForTarget(step, each, context, { copy })));
  return await Promise.all(outgoing.map((each) => sendOne(step, each, context)));
}

async function sendRequest(
  step: Step,
  described: RequestDescription,
  context: VectorContext,
  more: JsonObject,
): Promise<View> {
  return await sendOne(step, await buildForTarget(step, described, context, more), context);
}

async function buildForTarget(
  step: Step,
  described: RequestDescription,
  context: VectorContext,
  more: JsonObject,
): Promise<HttpRequest> {
  const { target, variables } = context;
  const available = { ...variables, ...more };
  const { headers = {}, ...rest } = described;
  const filled = {
    ...fillTemplates(rest, available) as RequestDescription,
    headers: fillFields(headers, available),
  };
  const outgoing = await buildRequest(filled, { base: target.base, raw: step.raw === true });
  if (!target.origins.has(new URL(outgoing.url).origin)) {
    throw new KitError(
      `Cannot send a request to ${outgoing.url}: its origin is not in "base" or "origins" of the target`,
    );
  }
  const cookies = step.as === undefined ? undefined : getJar(context, step.as).cookieField(outgoing.url);
  return cookies === undefined
    ? outgoing
    : { ...outgoing, fields: [...outgoing.fields, ["cookie", cookies]] };
}

/** The cookie jar of this name. It is created at first use. */
export function getJar({ jars }: VectorContext, name: string): CookieJar {
  const jar = jars.get(name) ?? new CookieJar();
  jars.set(name, jar);
  return jar;
}

async function sendOne(step: Step, outgoing: HttpRequest, context: VectorContext, hops = 0): Promise<View> {
  if (step.echo) return await toEchoView(outgoing, context);
  if (step.stream !== undefined) return await openStream(step, outgoing, context);
  let response: Partial<HttpResponse>;
  let broken: BrokenExchange | undefined;
  let events: readonly JsonObject[] | undefined;
  try {
    if (step.until === undefined) {
      response = await exchange(
        endWithResponse(getSender(context), context),
        outgoing,
        context.target.limits,
      );
    } else ({ response, events } = await requestUntil(step, outgoing, context));
  } catch (error) {
    if (!(error instanceof BrokenExchange)) throw error;
    broken = error;
    response = error.response;
    if (error instanceof BrokenEvents) events = error.events;
  }
  recordExchange(step, context, outgoing, response, broken);
  const view = await toView(response, outgoing.url, broken);
  const next = step.follow ? findNextUrl(view, context) : undefined;
  if (next !== undefined && hops < MAX_REDIRECTS) {
    return await sendOne(
      step,
      await buildForTarget(step, { url: "{{next}}" }, context, { next }),
      context,
      hops + 1,
    );
  }
  return events ? { ...view, events } : view;
}

/** The URL of a redirect that stays within the target's origins. */
function findNextUrl({ status, headers, url }: View, { target }: VectorContext): string | undefined {
  const location = (headers as JsonObject | undefined)?.["location"];
  if (![301, 302, 303].includes(Number(status)) || typeof location !== "string") return undefined;
  const next = URL.parse(location, String(url));
  return next && target.origins.has(next.origin) ? next.href : undefined;
}

/** The sender of an HTTP target, or of a step with `answers`. @throws {NotClaimed} for another target */
export function getSender({ script, target }: VectorContext): Sender {
  const sender = script ?? target.sender;
  if (!sender) throw new NotClaimed("http");
  return sender;
}

/** Records an exchange and stores its cookies in the jar of the step. */
export function recordExchange(
  step: Step,
  context: VectorContext,
  outgoing: HttpRequest,
  response: Partial<HttpResponse>,
  broken?: BrokenExchange,
): void {
  if (step.as !== undefined) getJar(context, step.as).applySetCookie(outgoing.url, response.fields ?? []);
  context.exchanges.push({
    step: step.title ?? "",
    request: formatRequest(outgoing),
    answer: formatResponse(response, broken),
  });
}

async function toEchoView(outgoing: HttpRequest, { isSelf }: VectorContext): Promise<View> {
  if (!isSelf) throw new KitError('Invalid step: "echo" is allowed in self/ only');
  const body = utf8(JSON.stringify(describeRequest(outgoing)));
  return await toView({ status: 200, fields: [], body }, outgoing.url);
}

async function openStream(step: Step, outgoing: HttpRequest, context: VectorContext): Promise<View> {
  const name = step.stream!;
  if (context.streams.has(name)) {
    throw new KitError(`Cannot open the stream "${name}": a stream of this name is open`);
  }
  try {
    const response = await openWithTimeout(getSender(context), outgoing, context.target.limits);
    context.streams.set(name, { response, reader: new EventReader(), unread: [] });
    recordExchange(step, context, outgoing, { status: response.status, fields: response.fields });
    return await toView({ status: response.status, fields: response.fields }, outgoing.url);
  } catch (error) {
    if (!(error instanceof BrokenExchange)) throw error;
    recordExchange(step, context, outgoing, error.response, error);
    return await toView(error.response, outgoing.url, error);
  }
}

/** Reads events of an open stream until one matches, or until it ends. */
export async function readStream(step: Step, context: VectorContext): Promise<View> {
  const stream = getStream(step.read!, context);
  try {
    return { events: await readUntilMatch(stream, step.until, context) };
  } catch (error) {
    if (!(error instanceof BrokenEvents)) throw error;
    return { broken: error.kind, events: error.events, why: error.message };
  }
}

export function closeStream(step: Step, context: VectorContext): View {
  getStream(step.close!, context).response.cancel();
  context.streams.delete(step.close!);
  return {};
}

function getStream(name: string, { streams }: VectorContext): OpenStream {
  const stream = streams.get(name);
  if (!stream) throw new KitError(`Cannot read the stream "${name}": no step opened it`);
  return stream;
}

async function requestUntil(
  step: Step,
  outgoing: HttpRequest,
  context: VectorContext,
): Promise<{ response: Partial<HttpResponse>; events: JsonObject[] }> {
  const since = performance.now();
  const opened = await openWithTimeout(getSender(context), outgoing, context.target.limits);
  const response = { status: opened.status, fields: opened.fields };
  try {
    const stream = { response: opened, reader: new EventReader(), unread: [] };
    return { response, events: await readUntilMatch(stream, step.until, context, since) };
  } catch (error) {
    if (!(error instanceof BrokenEvents)) throw error;
    throw new BrokenEvents(new BrokenExchange(error.kind, error.message, response), error.events);
  } finally {
    opened.cancel();
  }
}

/** Limit of messages or events in one step. No vector needs more. */
export const MAX_MESSAGES = 10_000;

/** Reads events up to the first that matches; without a pattern, until the end. @throws {BrokenEvents} */
async function readUntilMatch(
  stream: OpenStream,
  until: unknown,
  context: VectorContext,
  since?: number,
): Promise<JsonObject[]> {
  if (until === undefined) return await readEvents(stream, context, undefined, since);
  const pattern = fillTemplates(until, context.variables);
  return await readEvents(
    stream,
    context,
    async (events) => !await findMismatch(pattern, events.at(-1), context.variables),
    since,
  );
}

/**
 * Reads events until `isEnough`; without it, until the end. The whole reading has the time limit of one exchange.
 * @param isEnough called after each event, with all events
 * @param since when the exchange began
 * @throws {BrokenEvents}
 */
export async function readEvents(
  stream: OpenStream,
  context: VectorContext,
  isEnough: ((events: readonly JsonObject[]) => Promise<boolean>) | undefined,
  since: number = performance.now(),
): Promise<JsonObject[]> {
  const { seconds, bytes } = context.target.limits;
  const end = since + seconds * 1000;
  const events: JsonObject[] = [];
  let size = 0;
  try {
    while (true) {
      while (stream.unread.length > 0) {
        events.push(stream.unread.shift()!);
        if (isEnough && await isEnough(events)) return events;
        if (events.length >= MAX_MESSAGES) {
          throw new BrokenExchange("flooded", `Received more than ${MAX_MESSAGES} events`);
        }
      }
      const remaining = Math.max((end - performance.now()) / 1000, 0.001);
      const chunk = await withTimeout(
        stream.response.next(),
        remaining,
        () => new BrokenExchange("hung", `The expected event did not arrive within ${seconds} s`),
      );
      if (!chunk) {
        if (!isEnough) return events;
        throw new BrokenExchange("closed", "The stream ended before the expected event");
      }
      size += chunk.length;
      if (size > bytes) throw new BrokenExchange("flooded", `The stream is longer than ${bytes} bytes`);
      for (const event of stream.reader.push(chunk)) stream.unread.push(event);
    }
  } catch (error) {
    throw error instanceof BrokenExchange ? new BrokenEvents(error, events) : error;
  }
}

class BrokenEvents extends BrokenExchange {
  readonly events: readonly JsonObject[];

  constructor({ kind, message, response }: BrokenExchange, events: readonly JsonObject[]) {
    super(kind, message, response);
    this.events = events;
  }
}
