/**
 * Shows a flow as blocks of lines: each exchange beside its requirements and the expectations of the vector.
 * An exchange that was explained before is shown in one line.
 *
 * @module
 */
import type { LoadedVector, Requirements, Row } from "../runner/vector/load.ts";
import { isJsonObject, type JsonObject, type Step } from "../runner/vector/vector_file.ts";
import type { Exchange } from "../runner/context.ts";
import { toColumns, wrap } from "./columns.ts";
import { exchangeLines } from "./exchange_text.ts";
import { type Explanation, fits, type Flow } from "./flow.ts";
import { type End, type WalkedStep, type WalkSettings, walkVector } from "./walk_vector.ts";

const MAX_PATTERN_CHARACTERS = 300;
const MAX_ENTRIES = 8;

export interface Block {
  readonly kind: "flow" | "part" | "exchange" | "repeated" | "passed" | "failed" | "skipped";
  readonly lines: readonly string[];
}

export interface FlowContext extends WalkSettings {
  readonly requirements: Requirements;
  readonly vectors: ReadonlyMap<string, LoadedVector>;
  /** Width of the terminal in columns. */
  readonly width: number;
}

/** Runs the vectors of a flow and yields its blocks. Ending the iteration early closes everything. */
export async function* showFlow(flow: Flow, lesson: FlowContext): AsyncGenerator<Block> {
  const { vectors, width } = lesson;
  const shown = new Set<string>();
  yield { kind: "flow", lines: [flow.title, "═".repeat(flow.title.length), ...wrap(flow.summary, width)] };
  for (const [position, { text: says, vector }] of flow.parts.entries()) {
    const loaded = vectors.get(vector);
    if (!loaded) throw new TypeError(`Invalid flow "${flow.name}": unknown vector "${vector}"`);
    const heads = [`${position + 1}. ${says}`, `   ${vector}: ${loaded.vector.title}`];
    yield { kind: "part", lines: heads.flatMap((line) => wrap(line, width)) };
    const steps = walkVector(loaded, lesson);
    try {
      let next = await steps.next();
      for (; !next.done; next = await steps.next()) yield* showStep(next.value, loaded, flow, lesson, shown);
      yield toEndBlock(next.value, width);
    } finally {
      await steps.return({ outcome: "skipped" });
    }
  }
}

function* showStep(
  walked: WalkedStep,
  loaded: LoadedVector,
  { explanations: points }: Flow,
  { target, requirements, width }: FlowContext,
  shown: Set<string>,
): Generator<Block> {
  const { step, exchanges, isBefore, isLast } = walked;
  const endpoints = target.variables["endpoints"] as Readonly<Record<string, string>>;
  for (const [at, exchange] of exchanges.entries()) {
    // The requirements of a vector belong to the refusal that it tests, otherwise to its last exchange.
    const isRefusal = !isBefore && step.call === undefined && /^4\d\d/.test(exchange.answer);
    const isTested = !shown.has(loaded.name) && (isRefusal || isLast && at === exchanges.length - 1);
    const point = points.find((each) => fits(each.exchange, exchange, endpoints, target.base, step.call));
    const key = point?.text ?? getRequestLine(exchange);
    const isOwn = !isBefore && step.call === undefined && (step.parallel === undefined || at === 0);
    if (!isTested && !isOwn && shown.has(key)) {
      yield { kind: "repeated", lines: [`   repeated: ${getRequestLine(exchange)}, ${getStatus(exchange)}`] };
      continue;
    }
    const notes = [
      ...formatHead(exchange.step || step.title, point, shown.has(key)),
      ...formatRows([
        ...point && !shown.has(key) ? point.rows : [],
        ...isTested ? loaded.vector.covers : [],
      ], requirements),
      ...(isBefore ? [] : formatArchive(step)),
      ...formatChecks(step, isTested),
    ];
    shown.add(key);
    if (isTested) shown.add(loaded.name);
    yield { kind: "exchange", lines: toColumns(exchangeLines(exchange), notes, width) };
  }
}

function formatHead(title: string | undefined, point: Explanation | undefined, isShown: boolean): string[] {
  const lines = [...(title ? [`[${title}]`] : []), ...(point && !isShown ? [point.text] : [])];
  return lines.length > 0 ? [...lines, ""] : [];
}

function formatRows(ids: readonly string[], { rows }: Requirements): string[] {
  return [...new Set(ids)].flatMap((id) => {
    const { level, text }: Row = rows.get(id)!;
    return [`${id} ${level}`, `  ${text}`];
  });
}

/** The expectations of the step. */
function formatChecks({ expect, call }: Step, isTested: boolean): string[] {
  if (!expect || call !== undefined && !isTested) return [];
  const lines = Object.entries(expect as JsonObject).map(([name, pattern]) =>
    `  ${name} ${cut(JSON.stringify(pattern))}`
  );
  return ["", "The vector expects:", ...lines];
}

/** The entries of a sent archive, as the vector describes them. */
function formatArchive({ request }: Step): string[] {
  const zips = [request?.zip, ...request?.multipart?.map(({ zip }) => zip) ?? []].filter(isJsonObject);
  const entries = zips.flatMap(({ entries }) => Array.isArray(entries) ? entries : []);
  if (entries.length === 0) return [];
  const lines = entries.slice(0, MAX_ENTRIES).map((entry) => `  ${cut(JSON.stringify(entry))}`);
  return ["", "Archive entries:", ...lines];
}

function cut(text: string): string {
  return text.length > MAX_PATTERN_CHARACTERS ? `${text.slice(0, MAX_PATTERN_CHARACTERS)}…` : text;
}

function toEndBlock({ outcome, reason }: End, width: number): Block {
  const said = outcome === "passed" ? "passed" : outcome === "failed" ? "failed" : "skipped";
  return { kind: outcome, lines: wrap(`   ${said}${reason === undefined ? "" : `: ${reason}`}`, width) };
}

/** Method and path, or the start of a message. */
function getRequestLine({ request }: Exchange): string {
  return /^[A-Z]+ [^\s?]+/.exec(request)?.[0] ?? request.slice(0, 60);
}

function getStatus({ answer }: Exchange): string {
  return /^\d{3}/.exec(answer)?.[0] ?? "no response";
}
