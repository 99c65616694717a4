/**
 * Collects the results of a run into one report, with secrets masked. The other files of this folder print
 * it.
 *
 * @module
 */
import { join } from "node:path";
import type { Arguments } from "../arguments.ts";
import { readBaseline } from "./baseline.ts";
import {
  countByLevel,
  countRows,
  type Figures,
  type RowCounts,
  type RowResult,
  toRowResults,
} from "./coverage.ts";
import type { LoadedVector, Requirements, Row } from "../vector/load.ts";
import { countUnmetNeeds, type UnmetNeed } from "../vector/unmet_needs.ts";
import { replaceControls } from "./format_exchange.ts";
import { createMasker } from "./mask.ts";
import { toRepeatCommand, toShellCommand } from "./repeat.ts";
import { type ChangedVector, findChanged, type FrozenSet, readSet } from "./sets.ts";
import { findShortfall, type Shortfall } from "./shortfall.ts";
import type { Exchange } from "../context.ts";
import { FAILING_OUTCOMES, isFailure } from "../outcome.ts";
import type { Target } from "../target/target.ts";
import type { Outcome } from "../vector/vector_file.ts";
import type { Result } from "../vector/vector.ts";
import { VERSION } from "../version.ts";

/** An exchange with the shell command that repeats it. */
export interface ReportedExchange extends Exchange {
  readonly curl?: string;
}

export interface Reported extends Result {
  readonly exchanges: readonly ReportedExchange[];
  /** Whether the report shows the failure: `--class` may select others. */
  readonly isShown: boolean;
  /** The command that runs the vector again. */
  readonly repeat?: string;
  /** Whether the outcome makes the run fail. */
  readonly counts: boolean;
  /** The reason given for an expected failure. */
  readonly expected?: string;
  readonly rows: readonly Row[];
}

export interface Report {
  readonly suites: readonly string[];
  /** Version of the kit, and digest of all vectors of the suites. */
  readonly kit: { readonly version: string; readonly digest: string };
  /** The frozen set that counts, and its vectors that changed since. */
  readonly set?: {
    readonly name: string;
    readonly hasDigests: boolean;
    readonly changed: readonly ChangedVector[];
  };
  readonly seed: string;
  readonly started: Date;
  readonly seconds: number;
  readonly target: {
    readonly name: string;
    readonly version?: string;
    readonly base: string;
    readonly features: readonly string[];
    /** The features that were detected, as text. */
    readonly notes?: readonly string[];
  };
  readonly summary: Readonly<Record<Outcome, number>>;
  readonly passed: boolean;
  /** Expected failures that pass, and are to be removed from the list. */
  readonly stale: readonly string[];
  /** Number of vectors that were not skipped. */
  readonly asked: number;
  /** Why the run says little about the target. */
  readonly shortfall?: Shortfall;
  /** What skipped vectors need from the target. */
  readonly lacks: readonly UnmetNeed[];
  readonly vectors: readonly Reported[];
  readonly rows: readonly RowResult[];
  readonly figures: readonly Figures[];
  readonly rowCounts: RowCounts;
}

export interface RunRecord {
  readonly args: Arguments;
  readonly root: string;
  readonly target: Target;
  readonly requirements: Requirements;
  readonly vectors: readonly LoadedVector[];
  readonly results: readonly Result[];
  readonly seed: string;
  readonly started: Date;
  /** Digest of all vectors of the suites. */
  readonly digest: string;
}

/** @throws {LoadError} for an invalid list of expected failures or an unknown set */
export function toReport(
  { args: args, root, target, requirements, vectors: loaded, results, seed, started, digest }: RunRecord,
): Report {
  const baseline = readBaseline(args.baseline, target.deviations);
  const set = args.set === undefined ? undefined : readSet(join(root, "sets.json"), args.set);
  const changed = new Map((set ? findChanged(set, loaded) : []).map((each) => [each.name, each]));
  const summary: Record<Outcome, number> = {
    pass: 0,
    fail: 0,
    warn: 0,
    observe: 0,
    skip: 0,
    setup: 0,
    error: 0,
  };
  const vectors = results.map((result): Reported => {
    summary[result.outcome]++;
    const uncounted = set && findUncounted(result.name, set, changed);
    const expected = isFailure(result.outcome) ? uncounted ?? baseline.get(result.name) : undefined;
    const isShown = args.classes.length === 0 || result.class === undefined ||
      args.classes.includes(result.class);
    const mask = createMasker(target.variables);
    // The masker learns the secrets from all exchanges first: one may be known for a secret only where it is sent back.
    for (const { request, answer } of result.exchanges) [request, answer].forEach(mask);
    const masked = result.exchanges.map((each) => ({
      ...each,
      request: replaceControls(mask(each.request)),
      answer: replaceControls(mask(each.answer)),
    }));
    const { stdio } = target;
    const address = {
      base: mask(target.base),
      ...(stdio && { command: "command" in stdio ? stdio.command.map(mask) : [] }),
    };
    const exchanges = masked.map((each): ReportedExchange => {
      const curl = toShellCommand(each.request, address);
      return curl === "" ? each : { ...each, curl };
    });
    return {
      ...result,
      ...(result.reason !== undefined && { reason: replaceControls(mask(result.reason)) }),
      exchanges,
      isShown,
      ...(isFailure(result.outcome) && { repeat: toRepeatCommand(args, result.name, seed, mask) }),
      counts: isShown && expected === undefined &&
        (FAILING_OUTCOMES.has(result.outcome) || args.strict && result.outcome === "warn"),
      ...(expected !== undefined && { expected }),
      rows: (result.class === undefined ? result.covers : result.failed).flatMap((id) =>
        requirements.rows.get(id) ?? []
      ),
    };
  });
  // A race may pass by chance.
  const stale = results
    .filter(({ name, outcome, flags }) => baseline.has(name) && outcome === "pass" && !flags.includes("race"))
    .map(({ name }) => name);
  const asked = results.filter(({ outcome }) => outcome !== "skip").length;
  const rows = toRowResults(requirements, results);
  const shortfall = findShortfall(results, target);
  const mask = createMasker(target.variables);
  const figures = countByLevel(rows, requirements);
  return {
    suites: args.suites,
    kit: { version: VERSION, digest },
    ...(set && {
      set: {
        name: set.name,
        hasDigests: [...set.digests.values()].some((each) => each !== undefined),
        changed: [...changed.values()],
      },
    }),
    seed,
    started,
    seconds: (Date.now() - started.getTime()) / 1000,
    target: {
      name: mask(target.name),
      ...(target.version !== undefined && { version: target.version }),
      base: mask(target.base),
      features: [...target.features].sort(),
      ...(target.notes && { notes: target.notes.map(mask) }),
    },
    summary,
    passed: shortfall === undefined && stale.length === 0 && vectors.every(({ counts }) => !counts),
    stale,
    asked,
    ...(shortfall && { shortfall: { ...shortfall, text: mask(shortfall.text) } }),
    lacks: countUnmetNeeds(results, root),
    vectors,
    rows,
    figures,
    rowCounts: countRows(figures),
  };
}

/** Why a failure does not count in a run with a frozen set. */
function findUncounted(
  name: string,
  set: FrozenSet,
  changed: ReadonlyMap<string, ChangedVector>,
): string | undefined {
  if (!set.digests.has(name)) return `not in the set ${set.name}`;
  const change = changed.get(name);
  return change && `changed since the set ${set.name} was frozen${change.reason ? `: ${change.reason}` : ""}`;
}
