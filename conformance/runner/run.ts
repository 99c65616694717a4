/**
 * Runs many vectors against one target, several at a time. Vectors that move the clock or disturb others run
 * afterwards, one by one. After too many vectors in a row without a response, those of other files are tried, and the rest
 * are not run if these have none either.
 *
 * @module
 */
import type { LoadedVector } from "./vector/load.ts";
import { callProcedure } from "./target/procedure.ts";
import { runStep } from "./step.ts";
import { isEqual } from "./vector/match.ts";
import { type Result, type Run, runVector } from "./vector/vector.ts";
import { createContext } from "./context.ts";

/** After this many vectors in a row without a complete response, the target counts as unreachable. */
const MAX_UNREACHABLE_VECTORS = 12;
/** This many more are asked where there are other files, which take turns: one file may ask what a target ignores. */
const MAX_UNREACHABLE_VECTORS_IN_TURNS = 6;

/**
 * @param onResult called after each vector
 * @param interrupt ends the run early: vectors without a result are reported as not run
 */
export async function runAll(
  vectors: readonly LoadedVector[],
  run: Run,
  onResult: (result: Result) => void = () => {},
  interrupt?: AbortSignal,
): Promise<Result[]> {
  const results = new Map<string, Result>();
  let queue = vectors.filter((each) => !runsAlone(each));
  let unreachable = 0;
  let maxUnreachable = MAX_UNREACHABLE_VECTORS;
  const interrupted = new Promise<void>((resolve) =>
    interrupt?.addEventListener("abort", () => resolve(), { once: true })
  );
  const runNext = async (loaded: LoadedVector) => {
    const result = interrupt?.aborted ? toNotRun(loaded, INTERRUPTED_REASON) : await Promise.race([
      runAndCheck(
        loaded,
        unreachable >= maxUnreachable ? { ...run, notRunReason: unreachableReason(maxUnreachable) } : run,
      ),
      interrupted.then(() => toNotRun(loaded, INTERRUPTED_REASON)),
    ]);
    // A skipped vector sends no request.
    if (result.outcome !== "skip") {
      unreachable = result.isUnreachable ? unreachable + 1 : 0;
      if (
        unreachable === MAX_UNREACHABLE_VECTORS && queue.some(({ file }) => file.suite !== loaded.file.suite)
      ) {
        queue = alternateFiles(queue);
        maxUnreachable = MAX_UNREACHABLE_VECTORS + MAX_UNREACHABLE_VECTORS_IN_TURNS;
      }
    }
    results.set(loaded.name, result);
    onResult(result);
  };
  const alone = vectors.filter(runsAlone);
  const workers = Array.from({ length: Math.max(1, run.target.jobs) }, async () => {
    for (let next = queue.shift(); next; next = queue.shift()) await runNext(next);
  });
  await Promise.all(workers);
  for (const loaded of alone) {
    if (!interrupt?.aborted) await resetTarget(run);
    await runNext(loaded);
  }
  if (alone.length > 0 && !interrupt?.aborted) await resetTarget(run);
  return vectors.map(({ name }) => results.get(name)!);
}

/** One vector of each file in turn. */
function alternateFiles(vectors: readonly LoadedVector[]): LoadedVector[] {
  const taken = new Map<string, number>();
  const turns = vectors.map((loaded) => {
    const turn = taken.get(loaded.file.suite) ?? 0;
    taken.set(loaded.file.suite, turn + 1);
    return { loaded, turn };
  });
  return turns.sort((one, other) => one.turn - other.turn).map(({ loaded }) => loaded);
}

/** Whether a vector moves the clock or disturbs others. */
export function runsAlone({ vector, file }: LoadedVector): boolean {
  return vector.alone === true ||
    [...file.before ?? [], ...vector.steps].some((step) => step.advance !== undefined);
}

/** Compares the outcome with the one that a vector of `self/` expects of a correct runner. */
function checkOutcome({ vector: { outcome, verdict } }: LoadedVector, result: Result): Result {
  if (outcome === undefined) return result;
  const { class: failureClass, failed, harm } = result;
  const found = { class: failureClass, failed, harm };
  const isVerdict = verdict === undefined || isEqual({ class: undefined, ...verdict }, found);
  if (result.outcome === outcome && isVerdict) {
    const { class: _, ...rest } = result;
    return { ...rest, outcome: "pass", harm: [], failed: [] };
  }
  const reason = `expected outcome ${outcome}, got ${result.outcome}` +
    (isVerdict ? "" : `; expected verdict ${JSON.stringify(verdict)}, got ${JSON.stringify(found)}`);
  return { ...result, outcome: "fail", class: "broken", failed: result.covers, reason };
}

const unreachableReason = (count: number): string =>
  `not run: the previous ${count} vectors got no complete response`;
const INTERRUPTED_REASON = "not run: the run was interrupted";

async function runAndCheck(loaded: LoadedVector, run: Run): Promise<Result> {
  return checkOutcome(loaded, await runVector(loaded, run));
}

function toNotRun({ name, vector, rows, strength }: LoadedVector, reason: string): Result {
  const { title, flags = [] } = vector;
  return {
    name,
    title,
    covers: rows.map(({ id }) => id),
    flags,
    harm: [],
    failed: [],
    strength,
    outcome: "setup",
    reason,
    seconds: 0,
    exchanges: [],
    isUnreachable: true,
  };
}

async function resetTarget(run: Run): Promise<void> {
  if (!run.target.procedures.has("reset")) return;
  try {
    await callProcedure("reset", createContext("reset", run), runStep);
  } catch {
    // If the reset failed, the vectors that follow show it.
  }
}
