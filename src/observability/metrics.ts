/**
 * Counters, histograms and gauges in Prometheus' text format
 * (https://prometheus.io/docs/instrumenting/exposition_formats/). The number of series is bounded: a label whose values
 * strangers choose has at most {@linkcode MAX_LABEL_VALUES}, the rest is `other` (`metrics_test.ts`).
 *
 * @module
 */

/** The type of the response to `/metrics`. */
export const METRICS_MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Values of one label, per metric. */
export const MAX_LABEL_VALUES = 200;

/** Upper bounds of histograms, in seconds. */
const SECONDS: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A number that only grows, for each combination of labels. */
export interface Counter {
  /** @param values of the labels, in their order */
  add(values?: readonly string[], amount?: number): void;
}

/** How often something took how long, for each combination of labels. */
export interface Histogram {
  /** @param seconds how long it took */
  observe(seconds: number, values?: readonly string[]): void;
}

/** The metrics of a process. */
export interface Registry {
  counter(name: string, help: string, labels?: readonly string[]): Counter;
  histogram(name: string, help: string, labels?: readonly string[]): Histogram;
  /** @param read called for each scrape */
  gauge(name: string, help: string, read: () => number): void;
  /** All metrics as text. */
  text(): string;
}

interface Metric {
  write(): string[];
}

/** Makes an empty registry. */
export function createRegistry(): Registry {
  const metrics: Metric[] = [];
  const add = <Added>(metric: Metric & Added): Added => {
    metrics.push(metric);
    return metric;
  };
  return {
    counter: (name, help, labels = []) => add(createCounter(name, help, labels)),
    histogram: (name, help, labels = []) => add(createHistogram(name, help, labels)),
    gauge: (name, help, read) =>
      void add({ write: () => [...head(name, help, "gauge"), `${name} ${read()}`] }),
    text: () => metrics.flatMap((metric) => metric.write()).join("\n") + "\n",
  };
}

function createCounter(name: string, help: string, labels: readonly string[]): Metric & Counter {
  const series = createSeries(labels, () => ({ total: 0 }));
  return {
    add: (values = [], amount = 1) => void (series.find(values).total += amount),
    write: () => [
      ...head(name, help, "counter"),
      ...series.all().map(([text, { total }]) => `${name}${braces(text)} ${total}`),
    ],
  };
}

function createHistogram(name: string, help: string, labels: readonly string[]): Metric & Histogram {
  const series = createSeries(
    labels,
    () => ({ counts: new Array<number>(SECONDS.length + 1).fill(0), sum: 0 }),
  );
  return {
    observe(seconds, values = []) {
      const one = series.find(values);
      let at = 0;
      while (at < SECONDS.length && seconds > SECONDS[at]!) at++;
      one.counts[at]!++;
      one.sum += seconds;
    },
    write: () => [
      ...head(name, help, "histogram"),
      ...series.all().flatMap(([text, { counts, sum }]) => {
        let below = 0;
        const buckets = counts.map((count, at) => {
          below += count;
          const bound = at < SECONDS.length ? String(SECONDS[at]) : "+Inf";
          return `${name}_bucket${braces([text, `le="${bound}"`].filter(Boolean).join(","))} ${below}`;
        });
        return [...buckets, `${name}_sum${braces(text)} ${sum}`, `${name}_count${braces(text)} ${below}`];
      }),
    ],
  };
}

interface Series<One> {
  find(values: readonly string[]): One;
  /** With the text of their labels. */
  all(): readonly (readonly [string, One])[];
}

/** A tree of maps, one level for each label: a key put together from the values takes longer. */
interface Branch<One> {
  readonly below: Map<string, Branch<One>>;
  one?: One;
}

function createSeries<One>(labels: readonly string[], make: () => One): Series<One> {
  const known = labels.map(() => new Set<string>());
  const written: (readonly [string, One])[] = [];
  const root: Branch<One> = { below: new Map() };
  return {
    find(values) {
      let branch: Branch<One> | undefined = root;
      for (let i = 0; i < values.length; i++) {
        branch = branch.below.get(values[i]!);
        if (!branch) break;
      }
      if (branch?.one) return branch.one;
      const bounded = labels.map((_, i) => {
        const value = values[i] ?? "";
        const seen = known[i]!;
        if (seen.has(value)) return value;
        if (seen.size >= MAX_LABEL_VALUES) return "other";
        seen.add(value);
        return value;
      });
      branch = root;
      for (const value of bounded) {
        let next = branch.below.get(value);
        if (!next) branch.below.set(value, next = { below: new Map() });
        branch = next;
      }
      if (!branch.one) {
        branch.one = make();
        written.push([bounded.map((value, i) => `${labels[i]}="${escape(value)}"`).join(","), branch.one]);
      }
      return branch.one;
    },
    all: () => written,
  };
}

function head(name: string, help: string, type: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

const braces = (text: string): string => text === "" ? "" : `{${text}}`;

function escape(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => character === "\n" ? "\\n" : `\\${character}`);
}
