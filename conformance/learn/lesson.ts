/**
 * A flow as blocks of lines: each exchange beside what the documents ask of it and what the vector looks at. What was
 * told once is named and not told again.
 *
 * @module
 */
import type { Loaded, Requirements, Row } from "../runner/vector/load.ts";
import { isMembers, type Members, type Step } from "../runner/vector/vector_file.ts";
import type { Exchange } from "../runner/world.ts";
import { besides, wrap } from "./columns.ts";
import { exchangeLines } from "./exchange_text.ts";
import { fits, type Flow, type Point } from "./flow.ts";
import { type End, type Walk, walk, type Walked } from "./walk.ts";

const MAX_PATTERN_CHARACTERS = 300;
const MAX_ENTRIES = 8;

export interface Block {
  readonly kind: "flow" | "part" | "exchange" | "again" | "held" | "broken" | "skipped";
  readonly lines: readonly string[];
}

export interface Lesson extends Walk {
  readonly requirements: Requirements;
  readonly vectors: ReadonlyMap<string, Loaded>;
  /** Of the terminal. */
  readonly width: number;
}

/** A lesson that is left early leaves nothing open. */
export async function* teach(flow: Flow, lesson: Lesson): AsyncGenerator<Block> {
  const { vectors, width } = lesson;
  const told = new Set<string>();
  yield { kind: "flow", lines: [flow.title, "═".repeat(flow.title.length), ...wrap(flow.about, width)] };
  for (const [position, { says, vector }] of flow.parts.entries()) {
    const loaded = vectors.get(vector);
    if (!loaded) throw new TypeError(`Cannot walk "${flow.name}": there is no vector "${vector}"`);
    const heads = [`${position + 1}. ${says}`, `   ${vector}: ${loaded.vector.title}`];
    yield { kind: "part", lines: heads.flatMap((line) => wrap(line, width)) };
    const steps = walk(loaded, lesson);
    try {
      let next = await steps.next();
      for (; !next.done; next = await steps.next()) yield* show(next.value, loaded, flow, lesson, told);
      yield ended(next.value, width);
    } finally {
      await steps.return({ outcome: "skipped" });
    }
  }
}

function* show(
  walked: Walked,
  loaded: Loaded,
  { points }: Flow,
  { target, requirements, width }: Lesson,
  told: Set<string>,
): Generator<Block> {
  const { step, exchanges, isBefore, isLast } = walked;
  const endpoints = target.variables["endpoints"] as Readonly<Record<string, string>>;
  for (const [at, exchange] of exchanges.entries()) {
    // A refusal is what a vector is about, and what comes after it shows that nothing changed.
    const isRefusal = !isBefore && step.call === undefined && /^4\d\d/.test(exchange.answer);
    const isAsked = !told.has(loaded.name) && (isRefusal || isLast && at === exchanges.length - 1);
    const point = points.find((each) => fits(each.fits, exchange, endpoints, target.base, step.call));
    const key = point?.says ?? startOf(exchange);
    const isOwn = !isBefore && step.call === undefined && (step.parallel === undefined || at === 0);
    if (!isAsked && !isOwn && told.has(key)) {
      yield { kind: "again", lines: [`   again: ${startOf(exchange)}, ${statusOf(exchange)}`] };
      continue;
    }
    const notes = [
      ...head(exchange.step || step.title, point, told.has(key)),
      ...rowsOf([
        ...point && !told.has(key) ? point.rows : [],
        ...isAsked ? loaded.vector.covers : [],
      ], requirements),
      ...(isBefore ? [] : archive(step)),
      ...checks(step, isAsked),
    ];
    told.add(key);
    if (isAsked) told.add(loaded.name);
    yield { kind: "exchange", lines: besides(exchangeLines(exchange), notes, width) };
  }
}

function head(title: string | undefined, point: Point | undefined, isTold: boolean): string[] {
  const lines = [...(title ? [`[${title}]`] : []), ...(point && !isTold ? [point.says] : [])];
  return lines.length > 0 ? [...lines, ""] : [];
}

function rowsOf(ids: readonly string[], { rows }: Requirements): string[] {
  return [...new Set(ids)].flatMap((id) => {
    const { level, text }: Row = rows.get(id)!;
    return [`${id} ${level}`, `  ${text}`];
  });
}

/** What the vector looks at in the answer. */
function checks({ expect, call }: Step, isAsked: boolean): string[] {
  if (!expect || call !== undefined && !isAsked) return [];
  const lines = Object.entries(expect as Members).map(([name, pattern]) =>
    `  ${name} ${cut(JSON.stringify(pattern))}`
  );
  return ["", "The vector looks at:", ...lines];
}

/** Entries of an archive that is sent, as the vector describes them. */
function archive({ request }: Step): string[] {
  const zips = [request?.zip, ...request?.multipart?.map(({ zip }) => zip) ?? []].filter(isMembers);
  const entries = zips.flatMap(({ entries }) => Array.isArray(entries) ? entries : []);
  if (entries.length === 0) return [];
  const lines = entries.slice(0, MAX_ENTRIES).map((entry) => `  ${cut(JSON.stringify(entry))}`);
  return ["", "In the archive:", ...lines];
}

function cut(text: string): string {
  return text.length > MAX_PATTERN_CHARACTERS ? `${text.slice(0, MAX_PATTERN_CHARACTERS)}…` : text;
}

function ended({ outcome, reason }: End, width: number): Block {
  const said = outcome === "held"
    ? "as it has to be"
    : outcome === "broken"
    ? "not as it has to be"
    : "left out";
  return { kind: outcome, lines: wrap(`   ${said}${reason === undefined ? "" : `: ${reason}`}`, width) };
}

/** Method and path, or the message. */
function startOf({ request }: Exchange): string {
  return /^[A-Z]+ [^\s?]+/.exec(request)?.[0] ?? request.slice(0, 60);
}

function statusOf({ answer }: Exchange): string {
  return /^\d{3}/.exec(answer)?.[0] ?? "no answer";
}
