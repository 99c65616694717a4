/**
 * Steps that ask over HTTP: one request, copies at once, a stream that stays open and is read later.
 *
 * @module
 */
import { toBase64, toText } from "./bytes.ts";
import { CookieJar } from "./cookie_jar.ts";
import { EventReader } from "./event_reader.ts";
import { type Answer, Broken, exchange, openWithin, type Outgoing, type Sender, within } from "./exchange.ts";
import { match } from "../vector/match.ts";
import { KitError, NotClaimed } from "../outcome.ts";
import { showAnswer, showRequest } from "../report/record.ts";
import { buildRequest } from "./request.ts";
import { fill, fillFields } from "../vector/template.ts";
import type { Members, RequestDescription, Step } from "../vector/vector_file.ts";
import { toView, type View } from "../vector/view.ts";
import type { OpenStream, World } from "../world.ts";

/** Redirects that a browser goes along before it gives up (RFC 9110 section 15.4 names no number). */
const MAX_REDIRECTS = 10;

/** Sends a step's request, or all of its copies, and gives a view of each answer. @throws {KitError} */
export async function ask(step: Step, world: World): Promise<View[]> {
  const { parallel } = step;
  if (parallel === undefined) return [await askOne(step, step.request!, world, {})];
  const all = typeof parallel === "number" ? Array.from({ length: parallel }, () => step.request!) : parallel;
  const outgoing = await Promise.all(all.map((each, copy) => build(step, each, world, { copy })));
  return await Promise.all(outgoing.map((each) => sendOne(step, each, world)));
}

async function askOne(step: Step, described: RequestDescription, world: World, more: Members): Promise<View> {
  return await sendOne(step, await build(step, described, world, more), world);
}

async function build(
  step: Step,
  described: RequestDescription,
  world: World,
  more: Members,
): Promise<Outgoing> {
  const { target, variables } = world;
  const known = { ...variables, ...more };
  const { headers = {}, ...rest } = described;
  const filled = { ...fill(rest, known) as RequestDescription, headers: fillFields(headers, known) };
  const outgoing = await buildRequest(filled, { base: target.base, raw: step.raw === true });
  if (!target.origins.has(new URL(outgoing.url).origin)) {
    throw new KitError(
      `Cannot ask ${outgoing.url}: the target does not name this origin (it may, in "base" or "origins")`,
    );
  }
  const cookies = step.as === undefined ? undefined : jarOf(world, step.as).fieldFor(outgoing.url);
  return cookies === undefined
    ? outgoing
    : { ...outgoing, fields: [...outgoing.fields, ["cookie", cookies]] };
}

/** The cookies of a browser of this vector. */
export function jarOf({ jars }: World, name: string): CookieJar {
  const jar = jars.get(name) ?? new CookieJar();
  jars.set(name, jar);
  return jar;
}

async function sendOne(step: Step, outgoing: Outgoing, world: World, hops = 0): Promise<View> {
  if (step.echo) return await echo(outgoing, world);
  if (step.stream !== undefined) return await openStream(step, outgoing, world);
  let answer: Partial<Answer>;
  let broken: Broken | undefined;
  let events: readonly Members[] | undefined;
  try {
    if (step.until === undefined) answer = await exchange(senderOf(world), outgoing, world.target.limits);
    else ({ answer, events } = await readUntil(step, outgoing, world));
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    broken = error;
    answer = error.answer;
    if (error instanceof BrokenEvents) events = error.events;
  }
  remember(step, world, outgoing, answer, broken);
  const view = await toView(answer, outgoing.url, broken);
  const next = step.follow ? nextAddress(view, world) : undefined;
  if (next !== undefined && hops < MAX_REDIRECTS) {
    return await sendOne(step, await build(step, { url: "{{next}}" }, world, { next }), world, hops + 1);
  }
  return events ? { ...view, events } : view;
}

/** Where a browser goes on, as long as that is the target itself. */
function nextAddress({ status, headers, url }: View, { target }: World): string | undefined {
  const location = (headers as Members | undefined)?.["location"];
  if (![301, 302, 303].includes(Number(status)) || typeof location !== "string") return undefined;
  const next = URL.parse(location, String(url));
  return next && target.origins.has(next.origin) ? next.href : undefined;
}

/** The sender of a target that is reached over HTTP. */
export function senderOf({ target }: World): Sender {
  if (!target.sender) throw new NotClaimed("http");
  return target.sender;
}

/** Adds an exchange to the record and hands cookies to the step's jar. */
export function remember(
  step: Step,
  world: World,
  outgoing: Outgoing,
  answer: Partial<Answer>,
  broken?: Broken,
): void {
  if (step.as !== undefined) jarOf(world, step.as).take(outgoing.url, answer.fields ?? []);
  world.exchanges.push({
    step: step.title ?? "",
    request: showRequest(outgoing),
    answer: showAnswer(answer, broken),
  });
}

async function echo({ method, url, fields, body }: Outgoing, { isSelf }: World): Promise<View> {
  if (!isSelf) throw new KitError('Cannot run the step: "echo" is for self/ only');
  const headers = Object.fromEntries(fields.map(([name, value]) => [name.toLowerCase(), value]));
  const bytes = body ?? new Uint8Array();
  const json = { method, url, headers, body: toText(bytes), base64: toBase64(bytes) };
  const answer = { status: 200, fields: [], body: new TextEncoder().encode(JSON.stringify(json)) };
  return await toView(answer, url);
}

async function openStream(step: Step, outgoing: Outgoing, world: World): Promise<View> {
  const name = step.stream!;
  if (world.streams.has(name)) {
    throw new KitError(`Cannot open the stream "${name}": there is one of this name`);
  }
  try {
    const answer = await openWithin(senderOf(world), outgoing, world.target.limits);
    world.streams.set(name, { answer, reader: new EventReader(), waiting: [] });
    remember(step, world, outgoing, { status: answer.status, fields: answer.fields });
    return await toView({ status: answer.status, fields: answer.fields }, outgoing.url);
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    remember(step, world, outgoing, error.answer, error);
    return await toView(error.answer, outgoing.url, error);
  }
}

/** Reads events of an open stream until one matches, or to its end. */
export async function readStream(step: Step, world: World): Promise<View> {
  const stream = streamOf(step.read!, world);
  try {
    return { events: await collect(stream, step.until, world) };
  } catch (error) {
    if (!(error instanceof BrokenEvents)) throw error;
    return { broken: error.word, events: error.events, why: error.message };
  }
}

export function closeStream(step: Step, world: World): View {
  streamOf(step.close!, world).answer.cancel();
  world.streams.delete(step.close!);
  return {};
}

function streamOf(name: string, { streams }: World): OpenStream {
  const stream = streams.get(name);
  if (!stream) throw new KitError(`Cannot read the stream "${name}": no step opened it`);
  return stream;
}

async function readUntil(
  step: Step,
  outgoing: Outgoing,
  world: World,
): Promise<{ answer: Partial<Answer>; events: Members[] }> {
  const since = performance.now();
  const opened = await openWithin(senderOf(world), outgoing, world.target.limits);
  const answer = { status: opened.status, fields: opened.fields };
  try {
    const stream = { answer: opened, reader: new EventReader(), waiting: [] };
    return { answer, events: await collect(stream, step.until, world, since) };
  } catch (error) {
    if (!(error instanceof BrokenEvents)) throw error;
    throw new BrokenEvents(new Broken(error.word, error.message, answer), error.events);
  } finally {
    opened.cancel();
  }
}

/** More messages or events than any question asks for. */
export const MAX_MESSAGES = 10_000;

/** Events up to and including the first that matches; without a pattern, to the end. @throws {BrokenEvents} */
async function collect(
  stream: OpenStream,
  until: unknown,
  world: World,
  since?: number,
): Promise<Members[]> {
  if (until === undefined) return await readEvents(stream, world, undefined, since);
  const pattern = fill(until, world.variables);
  return await readEvents(
    stream,
    world,
    async (events) => !await match(pattern, events.at(-1), world.variables),
    since,
  );
}

/**
 * Events until enough of them are there; without `isEnough`, to the end. However many come, and however slowly: the time is
 * that of one exchange.
 * @param isEnough asked after each event, about all of them
 * @param since when the exchange began
 * @throws {BrokenEvents}
 */
export async function readEvents(
  stream: OpenStream,
  world: World,
  isEnough: ((events: readonly Members[]) => Promise<boolean>) | undefined,
  since: number = performance.now(),
): Promise<Members[]> {
  const { seconds, bytes } = world.target.limits;
  const end = since + seconds * 1000;
  const events: Members[] = [];
  let size = 0;
  try {
    while (true) {
      while (stream.waiting.length > 0) {
        events.push(stream.waiting.shift()!);
        if (isEnough && await isEnough(events)) return events;
        if (events.length >= MAX_MESSAGES) {
          throw new Broken("flooded", `More than ${MAX_MESSAGES} events came`);
        }
      }
      const left = Math.max((end - performance.now()) / 1000, 0.001);
      const chunk = await within(
        stream.answer.next(),
        left,
        () => new Broken("hung", `An event that was waited for did not come within ${seconds} s`),
      );
      if (!chunk) {
        if (!isEnough) return events;
        throw new Broken("closed", "The stream ended before the event that was waited for");
      }
      size += chunk.length;
      if (size > bytes) throw new Broken("flooded", `The stream is longer than ${bytes} bytes`);
      for (const event of stream.reader.push(chunk)) stream.waiting.push(event);
    }
  } catch (error) {
    throw error instanceof Broken ? new BrokenEvents(error, events) : error;
  }
}

class BrokenEvents extends Broken {
  readonly events: readonly Members[];

  constructor({ word, message, answer }: Broken, events: readonly Members[]) {
    super(word, message, answer);
    this.events = events;
  }
}
