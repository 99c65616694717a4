/**
 * Runs slices of several subjects: warms each until its rate is steady, then measures all of them in each round, in a random
 * order, so that other load on the machine affects all of them equally.
 *
 * @module
 */
import { isSteady } from "./statistics.ts";

/** What one slice of a subject measured. */
export interface Sample {
  readonly perSecond: number;
  /** Microseconds of processor time of one call. */
  readonly cpu?: number;
  /** Milliseconds of calls, at most 1,000 of them. */
  readonly times: readonly number[];
}

/** A subject whose slices are run. */
export interface Runner {
  readonly name: string;
  /** Runs one slice; `undefined` if the subject cannot go on, which leaves it out. */
  readonly run: () => Promise<Sample | undefined>;
}

/** The samples of a subject, one for each round. */
export interface Series {
  readonly name: string;
  readonly samples: readonly Sample[];
  /** Whether its rate was steady when the first round began. */
  readonly isSteady: boolean;
}

/** Slices after which a subject is measured, although its rate still changes. */
const MAX_WARM_SLICES = 12;

/** Resolves to the series of all subjects that completed every round, in their order. */
export async function runRounds(
  runners: readonly Runner[],
  rounds: number,
): Promise<Series[]> {
  const active = new Set(runners);
  const steady = new Set<Runner>();
  const rates = new Map<Runner, number[]>(
    runners.map((runner) => [runner, []]),
  );
  for (let i = 0; i < MAX_WARM_SLICES; i++) {
    for (
      const runner of shuffle(
        [...active].filter((runner) => !steady.has(runner)),
      )
    ) {
      const sample = await runner.run();
      if (sample === undefined) active.delete(runner);
      else rates.get(runner)!.push(sample.perSecond);
      if (isSteady(rates.get(runner)!)) steady.add(runner);
    }
  }
  const samples = new Map<Runner, Sample[]>(
    runners.map((runner) => [runner, []]),
  );
  for (let round = 0; round < rounds; round++) {
    for (const runner of shuffle([...active])) {
      const sample = await runner.run();
      if (sample === undefined) active.delete(runner);
      else samples.get(runner)!.push(sample);
    }
  }
  return runners.filter((runner) => active.has(runner)).map((runner) => ({
    name: runner.name,
    samples: samples.get(runner)!,
    isSteady: steady.has(runner),
  }));
}

/** Puts the items into a random order, in place. */
export function shuffle<Item>(items: Item[]): Item[] {
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [items[i], items[j]] = [items[j]!, items[i]!];
  }
  return items;
}
