/**
 * Statistics of a measurement: the median, its confidence interval, whether a rate is steady, and why a row is noisy.
 *
 * @module
 */

/** Width of a confidence interval on each side of the ratio, above which the row is noisy. */
const MAX_INTERVAL_PART = 0.1;
/** Rounds without which there is no interval of 95 %. */
const MIN_INTERVAL_ROUNDS = 6;
/** Slices whose rates decide whether a subject is steady. */
const STEADY_WINDOW = 4;
/** Change of the rate over the window that counts as none. */
const MAX_STEADY_CHANGE = 0.05;

/** The limits of a confidence interval. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Returns a value between the nearest two. @param part from 0 to 1 */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * part;
  const low = sorted[Math.floor(at)] ?? 0;
  return low + ((sorted[Math.ceil(at)] ?? 0) - low) * (at - Math.floor(at));
}

/**
 * The interval that contains the median of all possible rounds with a probability of at least 95 %, whatever their
 * distribution: a measured round is below the median with probability 1/2, so the interval is between two of the sorted
 * rounds (https://www.itl.nist.gov/div898/software/dataplot/refman1/auxillar/mediancl.htm, the binomial method).
 * `undefined` for fewer than 6 rounds, which cannot give it.
 */
export function medianInterval(
  values: readonly number[],
): Interval | undefined {
  const count = values.length;
  if (count < MIN_INTERVAL_ROUNDS) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  // The probability that at most `left` of the rounds are below the median.
  let probability = 2 ** -count;
  let sum = probability;
  let left = 0;
  for (;;) {
    probability *= (count - left) / (left + 1);
    if (sum + probability > 0.025) break;
    sum += probability;
    left++;
  }
  return { low: sorted[left]!, high: sorted[count - 1 - left]! };
}

/** Whether the line through the last rates is flat, so that compilation and caches have settled. */
export function isSteady(rates: readonly number[]): boolean {
  if (rates.length < STEADY_WINDOW) return false;
  const last = rates.slice(-STEADY_WINDOW);
  const mean = last.reduce((sum, rate) => sum + rate, 0) / STEADY_WINDOW;
  const middle = (STEADY_WINDOW - 1) / 2;
  const products = last.reduce(
    (sum, rate, i) => sum + (i - middle) * (rate - mean),
    0,
  );
  const squares = last.reduce((sum, _, i) => sum + (i - middle) ** 2, 0);
  return Math.abs(products / squares * (STEADY_WINDOW - 1)) <=
    MAX_STEADY_CHANGE * mean;
}

/** What the noise of a row is judged by. */
export interface Conditions {
  readonly ratio: number | undefined;
  readonly interval: Interval | undefined;
  readonly isSteady: boolean;
  /** Why the whole machine is noisy, if it is. */
  readonly machine: string | undefined;
}

/** Why a row cannot be trusted; empty if it can. */
export function findNoise(
  { ratio, interval, isSteady, machine }: Conditions,
): string[] {
  const reasons: string[] = [];
  if (machine !== undefined) reasons.push(machine);
  if (!isSteady) {
    reasons.push("the rate was not steady after the longest warm-up");
  }
  if (ratio === undefined) return reasons;
  if (interval === undefined) {
    reasons.push(`fewer than ${MIN_INTERVAL_ROUNDS} rounds give no interval`);
  } else {
    const part = Math.max(ratio - interval.low, interval.high - ratio) / ratio;
    if (part > MAX_INTERVAL_PART) {
      reasons.push(`the interval is ±${(part * 100).toFixed(0)} %`);
    }
  }
  return reasons;
}

/** Processes of a bench that run at the same time: the one that sends and the one that responds. */
const OWN_PROCESSES = 2;

/**
 * Why the load of the machine affects a measurement. The bench itself is a part of the load average that is read during it.
 * @param atStart load average before the bench @param now load average @param cores processors
 */
export function findLoad(
  atStart: number,
  now: number,
  cores: number,
): string | undefined {
  const load = atStart > cores ? atStart : now > cores + OWN_PROCESSES ? now : undefined;
  return load === undefined
    ? undefined
    : `the load average was ${load.toFixed(1)} on ${cores} core${cores === 1 ? "" : "s"}`;
}
