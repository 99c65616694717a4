/**
 * Compares subjects: in each round every subject runs for a slice of time, so that other load on the machine affects all
 * of them equally. Only ratios within one run are meaningful.
 *
 * @module
 */

/** An operation to measure. */
export interface Subject {
  readonly name: string;
  /** The name of the subject that this one is compared with. */
  readonly baseline?: string;
  /** The minimum ratio that the design requires. */
  readonly target?: number;
  /** The number of concurrent calls. @default 1 */
  readonly concurrency?: number;
  /** Runs before each slice and is not measured: creates what the calls consume. */
  readonly beforeSlice?: () => Promise<void>;
  /** Microseconds of processor time that the server's process has used so far. */
  readonly processorTime?: () => Promise<number>;
  /** Creates the call to measure. */
  readonly prepare: () => Promise<() => Promise<unknown>>;
}

export interface Result {
  readonly name: string;
  readonly perSecond: number;
  /** Microseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Microseconds of processor time of the server for each call, if it is another process. */
  readonly cpu: number | undefined;
  readonly ratio: number | undefined;
  readonly baseline: string | undefined;
  readonly target: number | undefined;
}

/** Measures the subjects. @param slice milliseconds of one subject in one round */
export async function measure(
  subjects: readonly Subject[],
  rounds: number,
  slice: number,
): Promise<Result[]> {
  const calls = new Map<Subject, () => Promise<unknown>>();
  for (const subject of subjects) calls.set(subject, await subject.prepare());
  const rates = new Map<string, number[]>(subjects.map(({ name }) => [name, []]));
  const times = new Map<string, number[]>(subjects.map(({ name }) => [name, []]));
  const costs = new Map<string, number[]>(subjects.map(({ name }) => [name, []]));
  // The first rounds are not counted, because code is still being compiled.
  for (let round = -2; round < rounds; round++) {
    for (const subject of subjects) {
      await subject.beforeSlice?.();
      const durations: number[] = [];
      const before = await subject.processorTime?.();
      const rate = await runSlice(calls.get(subject)!, subject.concurrency ?? 1, slice, durations);
      const after = await subject.processorTime?.();
      if (round < 0) continue;
      if (before !== undefined) costs.get(subject.name)!.push((after! - before) / durations.length);
      rates.get(subject.name)!.push(rate);
      times.get(subject.name)!.push(...sample(durations));
    }
  }
  return subjects.map(({ name, baseline, target }) => {
    const sorted = times.get(name)!.sort((a, b) => a - b);
    const at = (part: number) => (sorted[Math.floor((sorted.length - 1) * part)] ?? 0) * 1000;
    const own = rates.get(name)!;
    const cost = costs.get(name)!;
    const other = baseline === undefined ? undefined : rates.get(baseline);
    return {
      name,
      perSecond: median(own),
      p50: at(0.5),
      p99: at(0.99),
      cpu: cost.length > 0 ? median(cost) : undefined,
      ratio: other && median(own.map((rate, round) => rate / other[round]!)),
      baseline,
      target,
    };
  });
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
  const step = Math.max(1, Math.floor(values.length / 1000));
  return values.filter((_, i) => i % step === 0);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Prints the results as a table. */
export function printResults(title: string, results: readonly Result[]): void {
  console.log(`\n${title}`);
  const row = (...cells: readonly string[]) =>
    console.log(
      cells.map((cell, i) => i === 0 ? cell.padEnd(52) : cell.padStart(i > 5 ? 28 : 11)).join("").trimEnd(),
    );
  const hasServerTime = results.some(({ cpu }) => cpu !== undefined);
  row("", "per second", "p50 us", "p99 us", "ratio", hasServerTime ? "server us" : "", "");
  for (const { name, perSecond, p50, p99, cpu, ratio, baseline, target } of results) {
    const verdict = target === undefined || ratio === undefined
      ? ""
      : ratio >= target
      ? `target ${target}: met`
      : `target ${target}: MISSED`;
    const compared = ratio === undefined ? "" : ratio.toFixed(2);
    row(name, perSecond.toFixed(0), p50.toFixed(1), p99.toFixed(1), compared, cpu?.toFixed(1) ?? "", verdict);
    if (baseline !== undefined && !baseline.startsWith("floor")) console.log(`  (ratio to: ${baseline})`);
  }
}
