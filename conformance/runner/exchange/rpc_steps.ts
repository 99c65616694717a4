/**
 * The step `send`: JSON-RPC messages over HTTP or stdio, and which of them need a response (`FORMAT.md`
 * section 6).
 *
 * @module
 */
import { getSender, readEvents, recordExchange } from "./http_steps.ts";
import { utf8 } from "./bytes.ts";
import { EventReader } from "./event_reader.ts";
import {
  BrokenExchange,
  exchange,
  type HttpRequest,
  type HttpResponse,
  type OpenResponse,
  openWithTimeout,
} from "./exchange.ts";
import { createEndCheck, type IsEnough } from "./response_end.ts";
import { KitError } from "../outcome.ts";
import { BrokenMessages, StdioServer } from "./send_stdio.ts";
import { formatValue } from "../report/describe.ts";
import { fillFields, fillTemplates } from "../vector/template.ts";
import type { JsonObject, Step } from "../vector/vector_file.ts";
import { isEventStream, toView, type View } from "../vector/view.ts";
import type { VectorContext } from "../context.ts";

/** @throws {KitError} */
export async function sendMessages(step: Step, context: VectorContext): Promise<View> {
  const items = fillTemplates(step.send, context.variables) as unknown[];
  const lines = items.map((item) => typeof item === "string" ? item : JSON.stringify(item));
  const until = step.until === undefined ? undefined : fillTemplates(step.until, context.variables);
  return context.target.stdio
    ? await sendOverStdio(step, context, lines, until)
    : await sendOverHttp(step, context, lines, until);
}

/** Closes the standard input of the server and waits for its exit. */
export async function endInput(context: VectorContext): Promise<View> {
  if (!context.stdio) {
    throw new KitError('Invalid step: "end" needs a "send" before it, which starts the server');
  }
  try {
    return { ...await context.stdio.end() };
  } catch (error) {
    if (!(error instanceof BrokenExchange)) throw error;
    return { broken: error.kind, why: error.message };
  }
}

async function sendOverStdio(
  step: Step,
  context: VectorContext,
  lines: readonly string[],
  until: unknown,
): Promise<View> {
  const { stdio, limits } = context.target;
  context.stdio ??= new StdioServer(stdio!, limits);
  context.stdio.send(lines);
  let view: View;
  try {
    view = { messages: await context.stdio.receive(createEndCheck(lines, until, context)) };
  } catch (error) {
    if (!(error instanceof BrokenMessages)) throw error;
    view = { messages: error.messages, broken: error.kind, why: error.message };
  }
  context.exchanges.push({
    step: step.title ?? "",
    request: lines.join("\n"),
    answer: formatMessages(view["messages"] as unknown[], view["why"]),
  });
  return view;
}

const MAX_SHOWN_MESSAGES = 20;

/** Formats the first messages, each shortened. */
function formatMessages(messages: readonly unknown[], why: unknown): string {
  const more = messages.length - MAX_SHOWN_MESSAGES;
  return [
    ...messages.slice(0, MAX_SHOWN_MESSAGES).map(formatValue),
    ...(more > 0 ? [`… (${more} more)`] : []),
    ...(why === undefined ? [] : [`(${why})`]),
  ].join("\n");
}

async function sendOverHttp(
  step: Step,
  context: VectorContext,
  lines: readonly string[],
  until: unknown,
): Promise<View> {
  const messages: unknown[] = [];
  let view: View = {};
  for (const line of lines) {
    const outgoing = toRequest(step, context, line);
    const { response, broken, events } = await postMessage(
      outgoing,
      context,
      createEndCheck([line], until, context),
    );
    recordExchange(step, context, outgoing, response, broken);
    view = await toView(response, outgoing.url, broken);
    if (events) {
      for (const { json } of events) if (json !== undefined) messages.push(json);
    } else if (view["json"] !== undefined) messages.push(view["json"]);
    else if (view["size"] !== 0 && view["body"] !== undefined) messages.push({ unparsable: view["body"] });
    if (broken) break;
  }
  return { ...view, messages };
}

function toRequest(step: Step, context: VectorContext, line: string): HttpRequest {
  const { target, variables } = context;
  const endpoint = (variables["endpoints"] as JsonObject | undefined)?.["rpc"] ?? target.base;
  const usual = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const fields: Record<string, string> = { ...usual };
  const without: string[] = [];
  for (
    const [name, value] of Object.entries(fillFields({ ...target.sendHeaders, ...step.headers }, variables))
  ) {
    delete fields[name.toLowerCase()];
    if (value === null) without.push(name.toLowerCase());
    else fields[name.toLowerCase()] = String(value);
  }
  const url = new URL(String(endpoint), target.base);
  if (!target.origins.has(url.origin)) {
    throw new KitError(
      `Cannot send a request to ${url.href}: its origin is not in "base" or "origins" of the target`,
    );
  }
  const common = { method: "POST", url: url.href, without, raw: false, wire: undefined };
  return { ...common, fields: Object.entries(fields), body: utf8(line) };
}

interface PostResult {
  readonly response: Partial<HttpResponse>;
  readonly broken?: BrokenExchange;
  readonly events?: JsonObject[];
}

async function postMessage(
  outgoing: HttpRequest,
  context: VectorContext,
  isEnough: IsEnough,
): Promise<PostResult> {
  const { limits } = context.target;
  const since = performance.now();
  let opened: OpenResponse | undefined;
  try {
    opened = await openWithTimeout(getSender(context), outgoing, limits);
    const { status, fields, next, cancel } = opened;
    const response = { status, fields };
    if (isEventStream(fields)) {
      const stream = { response: opened, reader: new EventReader(), unread: [] };
      const messages: unknown[] = [];
      // A server may keep the stream open after the last response.
      const events = await readEvents(stream, context, async (all) => {
        messages.push(all.at(-1)!["json"]);
        return await isEnough(messages);
      }, since);
      return {
        response: { ...response, body: utf8(events.map((event) => `data: ${event["data"]}\n\n`).join("")) },
        events,
      };
    }
    const rest = {
      open: () => Promise.resolve({ status, fields, next, cancel }),
      close: () => Promise.resolve(),
    };
    return { response: await exchange(rest, outgoing, limits, since) };
  } catch (error) {
    if (!(error instanceof BrokenExchange)) throw error;
    const response = opened
      ? { status: opened.status, fields: opened.fields, ...error.response }
      : error.response;
    return { response, broken: error };
  } finally {
    opened?.cancel();
  }
}
