/**
 * A run: many vectors against one target, some at once; those that move the clock or disturb others come after, one by
 * one. A target that no longer answers is not asked to the end.
 *
 * @module
 */
import type { Loaded } from "./vector/load.ts";
import { callProcedure } from "./target/procedure.ts";
import { runStep } from "./step.ts";
import { type Result, type Run, runVector } from "./vector/vector.ts";
import { newWorld } from "./world.ts";

/** So many vectors in a row without an answer mean that nobody is there. */
const MAX_UNREACHABLE = 12;

/**
 * @param onResult told after each vector
 * @param leave ends the run: what has no result by then is not asked
 */
export async function runAll(
  vectors: readonly Loaded[],
  run: Run,
  onResult: (result: Result) => void = () => {},
  leave?: AbortSignal,
): Promise<Result[]> {
  const results = new Map<string, Result>();
  let gone = 0;
  const left = new Promise<void>((resolve) =>
    leave?.addEventListener("abort", () => resolve(), { once: true })
  );
  const one = async (loaded: Loaded) => {
    const result = leave?.aborted ? notAsked(loaded, INTERRUPTED) : await Promise.race([
      judgeOne(loaded, gone >= MAX_UNREACHABLE ? { ...run, isOver: GONE } : run),
      left.then(() => notAsked(loaded, INTERRUPTED)),
    ]);
    // What was skipped asked nobody.
    if (result.outcome !== "skip") gone = result.isGone ? gone + 1 : 0;
    results.set(loaded.name, result);
    onResult(result);
  };
  const apart = vectors.filter(isApart);
  const queue = vectors.filter((each) => !isApart(each));
  const workers = Array.from({ length: Math.max(1, run.target.jobs) }, async () => {
    for (let next = queue.shift(); next; next = queue.shift()) await one(next);
  });
  await Promise.all(workers);
  for (const loaded of apart) {
    if (!leave?.aborted) await reset(run);
    await one(loaded);
  }
  if (apart.length > 0 && !leave?.aborted) await reset(run);
  return vectors.map(({ name }) => results.get(name)!);
}

function isApart({ vector, file }: Loaded): boolean {
  return vector.alone === true ||
    [...file.before ?? [], ...vector.steps].some((step) => step.advance !== undefined);
}

/** A vector of `self/` may say which outcome a right runner comes to. */
function judge({ vector: { outcome } }: Loaded, result: Result): Result {
  if (outcome === undefined) return result;
  if (result.outcome === outcome) return { ...result, outcome: "pass" };
  return { ...result, outcome: "fail", reason: `the outcome is ${result.outcome}, but has to be ${outcome}` };
}

const GONE = `not asked: ${MAX_UNREACHABLE} vectors in a row before it had no answer, or one without end`;
const INTERRUPTED = "not asked: the run was interrupted";

async function judgeOne(loaded: Loaded, run: Run): Promise<Result> {
  return judge(loaded, await runVector(loaded, run));
}

function notAsked({ name, vector, strength }: Loaded, reason: string): Result {
  const { title, covers, flags = [] } = vector;
  return {
    name,
    title,
    covers,
    flags,
    strength,
    outcome: "setup",
    reason,
    seconds: 0,
    exchanges: [],
    isGone: true,
  };
}

async function reset(run: Run): Promise<void> {
  if (!run.target.procedures.has("reset")) return;
  try {
    await callProcedure("reset", newWorld("reset", run), runStep);
  } catch {
    // What a reset would have mended shows in the vectors themselves.
  }
}
