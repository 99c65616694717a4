/**
 * `send`: JSON-RPC messages over whatever carries them, and which of them ask for an answer (`FORMAT.md` section 6).
 *
 * @module
 */
import { readEvents, remember, senderOf } from "./ask_http.ts";
import { utf8 } from "./bytes.ts";
import { EventReader } from "./event_reader.ts";
import { type Answer, Broken, exchange, type OpenAnswer, openWithin, type Outgoing } from "./exchange.ts";
import { match, parseJson } from "../vector/match.ts";
import { KitError } from "../outcome.ts";
import { Messages, StdioServer } from "./send_stdio.ts";
import { show } from "../report/say.ts";
import { fill, fillFields } from "../vector/template.ts";
import { isMembers, type Members, type Step } from "../vector/vector_file.ts";
import { joinFields, toView, type View } from "../vector/view.ts";
import type { World } from "../world.ts";

/** @throws {KitError} */
export async function sendMessages(step: Step, world: World): Promise<View> {
  const items = fill(step.send, world.variables) as unknown[];
  const lines = items.map((item) => typeof item === "string" ? item : JSON.stringify(item));
  const until = step.until === undefined ? undefined : fill(step.until, world.variables);
  return world.target.stdio
    ? await overStdio(step, world, lines, until)
    : await overHttp(step, world, lines, until);
}

/** Closes a server's input and waits for its exit. */
export async function endInput(world: World): Promise<View> {
  if (!world.stdio) throw new KitError('Cannot end the input: no "send" started the server');
  try {
    return { ...await world.stdio.end() };
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    return { broken: error.word, why: error.message };
  }
}

type IsEnough = (messages: readonly unknown[]) => Promise<boolean>;

/** Says when everything that was sent has its answer, or a message matches. Each message is looked at once. */
function enough(lines: readonly string[], until: unknown, world: World): IsEnough {
  let seen = 0;
  if (until !== undefined) {
    return async (messages) => {
      for (; seen < messages.length; seen++) {
        if (!await match(until, messages[seen], world.variables)) return true;
      }
      return false;
    };
  }
  const sent = lines.map(parseJson);
  const open = new Set(sent.filter(isRequest).map((request) => (request as Members)["id"]));
  let batches = sent.filter((each) => Array.isArray(each) && each.some(isRequest)).length;
  return (messages) => {
    for (; seen < messages.length; seen++) {
      const message = messages[seen];
      if (Array.isArray(message)) batches--;
      else if (isResponse(message)) open.delete((message as Members)["id"]);
    }
    return Promise.resolve(batches <= 0 && open.size === 0);
  };
}

function isRequest(value: unknown): boolean {
  return isMembers(value) && typeof value["method"] === "string" &&
    (typeof value["id"] === "string" || typeof value["id"] === "number");
}

function isResponse(value: unknown): boolean {
  return isMembers(value) && !("method" in value) && ("result" in value || "error" in value);
}

async function overStdio(step: Step, world: World, lines: readonly string[], until: unknown): Promise<View> {
  const { stdio, limits } = world.target;
  world.stdio ??= new StdioServer(stdio!, limits);
  world.stdio.send(lines);
  let view: View;
  try {
    view = { messages: await world.stdio.receive(enough(lines, until, world)) };
  } catch (error) {
    if (!(error instanceof Messages)) throw error;
    view = { messages: error.messages, broken: error.word, why: error.message };
  }
  world.exchanges.push({
    step: step.title ?? "",
    request: lines.join("\n"),
    answer: showMessages(view["messages"] as unknown[], view["why"]),
  });
  return view;
}

const MAX_SHOWN = 20;

/** The first messages, each short: what comes may be anything, and much. */
function showMessages(messages: readonly unknown[], why: unknown): string {
  const more = messages.length - MAX_SHOWN;
  return [
    ...messages.slice(0, MAX_SHOWN).map(show),
    ...(more > 0 ? [`… (${more} more)`] : []),
    ...(why === undefined ? [] : [`(${why})`]),
  ].join("\n");
}

async function overHttp(step: Step, world: World, lines: readonly string[], until: unknown): Promise<View> {
  const messages: unknown[] = [];
  let view: View = {};
  for (const line of lines) {
    const outgoing = toOutgoing(step, world, line);
    const { answer, broken, events } = await post(outgoing, world, enough([line], until, world));
    remember(step, world, outgoing, answer, broken);
    view = await toView(answer, outgoing.url, broken);
    if (events) {
      for (const { json } of events) if (json !== undefined) messages.push(json);
    } else if (view["json"] !== undefined) messages.push(view["json"]);
    else if (view["size"] !== 0 && view["body"] !== undefined) messages.push({ unparsable: view["body"] });
    if (broken) break;
  }
  return { ...view, messages };
}

function toOutgoing(step: Step, world: World, line: string): Outgoing {
  const { target, variables } = world;
  const endpoint = (variables["endpoints"] as Members | undefined)?.["rpc"] ?? target.base;
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
    throw new KitError(`Cannot ask ${url.href}: the target does not name this origin`);
  }
  const common = { method: "POST", url: url.href, without, raw: false, wire: undefined };
  return { ...common, fields: Object.entries(fields), body: utf8(line) };
}

interface Posted {
  readonly answer: Partial<Answer>;
  readonly broken?: Broken;
  readonly events?: Members[];
}

async function post(outgoing: Outgoing, world: World, isEnough: IsEnough): Promise<Posted> {
  const { limits } = world.target;
  const since = performance.now();
  let opened: OpenAnswer | undefined;
  try {
    opened = await openWithin(senderOf(world), outgoing, limits);
    const { status, fields, next, cancel } = opened;
    const answer = { status, fields };
    if (/^text\/event-stream\b/i.test(joinFields(fields)["content-type"] ?? "")) {
      const stream = { answer: opened, reader: new EventReader(), waiting: [] };
      const messages: unknown[] = [];
      // A server may keep the stream open after the last answer.
      const events = await readEvents(stream, world, async (all) => {
        messages.push(all.at(-1)!["json"]);
        return await isEnough(messages);
      }, since);
      return {
        answer: { ...answer, body: utf8(events.map((event) => `data: ${event["data"]}\n\n`).join("")) },
        events,
      };
    }
    const rest = {
      open: () => Promise.resolve({ status, fields, next, cancel }),
      close: () => Promise.resolve(),
    };
    return { answer: await exchange(rest, outgoing, limits, since) };
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    const answer = opened ? { status: opened.status, fields: opened.fields, ...error.answer } : error.answer;
    return { answer, broken: error };
  } finally {
    opened?.cancel();
  }
}
