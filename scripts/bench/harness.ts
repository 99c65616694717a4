/**
 * Compares subjects in interleaved rounds (`measuring/rounds.ts`). Only ratios within one run are meaningful: each is the median of
 * the ratios of the rounds, with the interval that contains it with a probability of 95 %.
 *
 * @module
 */
import { availableParallelism, loadavg } from "node:os";
import process from "node:process";
import { explain } from "./reporting/explanations.ts";
import {
  type Conditions,
  findLoad,
  findNoise,
  type Interval,
  median,
  medianInterval,
  quantile,
} from "./measuring/statistics.ts";
import { addTable } from "./reporting/report.ts";
import { runRounds, type Sample, type Series } from "./measuring/rounds.ts";

/** An operation to measure. */
export interface Subject {
  readonly name: string;
  /** What it does and what it leaves out, in a sentence or two. @default the text of `reporting/explanations.ts` for its name */
  readonly explanation?: string;
  /** The name of the subject that this one is compared with. */
  readonly baseline?: string;
  /** The minimum ratio that the design requires. */
  readonly target?: number;
  /** The number of concurrent calls. @default 1 */
  readonly concurrency?: number;
  /** Runs before each slice and is not measured: creates what the calls consume. */
  readonly beforeSlice?: () => Promise<void>;
  /** Microseconds of processor time that the server's process has used so far. @default that of this process */
  readonly processorTime?: () => Promise<number>;
  /** Creates the call to measure. */
  readonly prepare: () => Promise<() => Promise<unknown>>;
}

/** A ratio to a baseline. */
export interface Comparison {
  readonly ratio: number;
  readonly interval: Interval | undefined;
  readonly noise: readonly string[];
}

export interface Result {
  readonly name: string;
  readonly explanation: string | undefined;
  readonly perSecond: number;
  /** Microseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Microseconds of processor time for each call, of the server if it is another process, else of this process. */
  readonly cpu: number | undefined;
  /** `cpu` in each round, to compare with another subject in the same rounds. */
  readonly costs: readonly number[];
  readonly ratio: number | undefined;
  /** Contains the ratio with a probability of 95 %. */
  readonly interval: Interval | undefined;
  /** The comparison of processor time, which other load affects less: the baseline's divided by this one's. */
  readonly processor: Comparison | undefined;
  /** Why the row is noisy; empty if it is not. */
  readonly noise: readonly string[];
  readonly baseline: string | undefined;
  readonly target: number | undefined;
}

/** Durations of a slice that are kept. */
const MAX_SAMPLES = 1000;
/** Characters of the first column of the printed table, and of the others. */
const NAME_WIDTH = 51;
const COLUMN_WIDTHS = [10, 10, 10, 18, 10, 27];
/** Before this process has measured anything. */
const LOAD_AT_START = loadavg()[0]!;

/** Measures the subjects. @param slice milliseconds of one subject in one round */
export async function measure(
  subjects: readonly Subject[],
  rounds: number,
  slice: number,
): Promise<Result[]> {
  const calls = new Map<Subject, () => Promise<unknown>>();
  for (const subject of subjects) calls.set(subject, await subject.prepare());
  const runners = subjects.map((subject) => ({
    name: subject.name,
    run: () => measureSlice(subject, calls.get(subject)!, slice),
  }));
  return toResults(subjects, await runRounds(runners, rounds));
}

/** Computes the results of subjects from their series. Subjects without a series are left out. */
export function toResults(
  subjects: readonly Pick<
    Subject,
    "name" | "explanation" | "baseline" | "target"
  >[],
  all: readonly Series[],
): Result[] {
  const machine = findLoad(
    LOAD_AT_START,
    loadavg()[0]!,
    availableParallelism(),
  );
  const series = new Map(all.map((each) => [each.name, each]));
  return subjects.flatMap(
    ({ name, explanation = explain(name), baseline, target }): Result[] => {
      const own = series.get(name);
      if (own === undefined) return [];
      const other = baseline === undefined ? undefined : series.get(baseline);
      const conditions = {
        isSteady: own.isSteady && (other?.isSteady ?? true),
        machine,
      };
      const costs = own.samples.flatMap(({ cpu }) => cpu ?? []);
      const times = own.samples.flatMap(({ times }) => times);
      const rate = compare(
        own,
        other,
        conditions,
        ({ perSecond }) => perSecond,
      );
      return [{
        name,
        explanation,
        perSecond: median(own.samples.map(({ perSecond }) => perSecond)),
        p50: quantile(times, 0.5) * 1000,
        p99: quantile(times, 0.99) * 1000,
        cpu: costs.length > 0 ? median(costs) : undefined,
        costs,
        ratio: rate?.ratio,
        interval: rate?.interval,
        noise: rate?.noise ??
          findNoise({ ...conditions, ratio: undefined, interval: undefined }),
        processor: compare(own, other, conditions, ({ cpu }) => 1 / cpu!),
        baseline,
        target,
      }];
    },
  );
}

/** Compares each round with the same round of the other; `undefined` if a value is missing. */
function compare(
  own: Series,
  other: Series | undefined,
  conditions: Pick<Conditions, "isSteady" | "machine">,
  read: (sample: Sample) => number,
): Comparison | undefined {
  const ratios = other &&
    own.samples.map((sample, round) => read(sample) / read(other.samples[round]!));
  if (!ratios?.every((ratio) => Number.isFinite(ratio))) return undefined;
  const ratio = median(ratios);
  const interval = medianInterval(ratios);
  return {
    ratio,
    interval,
    noise: findNoise({ ...conditions, ratio, interval }),
  };
}

/** Microseconds of processor time of this process. */
async function readOwnTime(): Promise<number> {
  const { user, system } = process.cpuUsage();
  return user + system;
}

async function measureSlice(
  { beforeSlice, processorTime = readOwnTime, concurrency = 1 }: Subject,
  call: () => Promise<unknown>,
  slice: number,
): Promise<Sample> {
  await beforeSlice?.();
  const durations: number[] = [];
  const before = await processorTime();
  const perSecond = await runSlice(call, concurrency, slice, durations);
  const cpu = (await processorTime() - before) / durations.length;
  return { perSecond, cpu, times: sample(durations) };
}

/** Runs one slice. Returns calls per second; adds the milliseconds of each call to `durations`. */
async function runSlice(
  call: () => Promise<unknown>,
  concurrency: number,
  slice: number,
  durations: number[],
): Promise<number> {
  const started = performance.now();
  const end = started + slice;
  async function worker(): Promise<void> {
    for (let before = performance.now(); before < end;) {
      await call();
      const after = performance.now();
      durations.push(after - before);
      before = after;
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker));
  return durations.length / (performance.now() - started) * 1000;
}

/** Selects at most 1,000 values, evenly. */
function sample(values: readonly number[]): number[] {
  const step = Math.ceil(values.length / MAX_SAMPLES);
  return values.filter((_, i) => i % step === 0);
}

/** Prints the results as a table, and adds it to the page. */
export function printResults(title: string, results: readonly Result[]): void {
  addTable(title, results);
  console.log(`\n${title}`);
  console.log(toLine(["", "per second", "p50 us", "p99 us", "ratio", "cpu us", ""]));
  for (const result of results) {
    console.log(formatResult(result));
    const { baseline } = result;
    if (baseline !== undefined && !baseline.startsWith("floor")) {
      console.log(`  (ratio to: ${baseline})`);
    }
  }
}

/** Formats a result as a line of the printed table. */
export function formatResult(
  { name, perSecond, p50, p99, cpu, ratio, interval, noise, target }: Result,
): string {
  const limits = interval ? ` ${interval.low.toFixed(2)}-${interval.high.toFixed(2)}` : "";
  const verdict = target === undefined || ratio === undefined
    ? []
    : [`target ${target.toFixed(2)}: ${ratio >= target ? "met" : "MISSED"}`];
  return toLine([
    name,
    perSecond.toFixed(0),
    p50.toFixed(1),
    p99.toFixed(1),
    ratio === undefined ? "" : ratio.toFixed(2) + limits,
    cpu?.toFixed(1) ?? "",
    [...noise.length > 0 ? ["noisy"] : [], ...verdict].join(", "),
  ]);
}

/** Aligns cells in columns. A cell that is longer than its column moves the next ones. */
function toLine([name, ...cells]: readonly [string, ...string[]]): string {
  const aligned = cells.map((cell, i) => cell.padStart(COLUMN_WIDTHS[i]!));
  return [name.padEnd(NAME_WIDTH), ...aligned].join(" ").trimEnd();
}
