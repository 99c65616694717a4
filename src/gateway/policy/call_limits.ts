/**
 * Limits of calls and of what they cost, counted for all instances on one store.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import { type CountedCaller, createSharedCount, type SharedCount } from "../../rate_limits/shared_count.ts";
import type { Store } from "../../store/store.ts";
import { findValues, parsePath, type PathSegment } from "./argument_path.ts";
import { PolicyError } from "./condition.ts";
import { type CompiledMatch, compileMatch, MATCH_MEMBERS } from "./match.ts";
import type { OfferedDefinition } from "./offered.ts";
import type { LimitSubject, PolicyLimit } from "./policy_options.ts";
import { checkMembers } from "./rules.ts";

/** Why a call is over a limit. */
export interface LimitRefusal {
  /** The place in the policy. */
  readonly place: string;
  readonly message: string;
}

/** The limits of a policy. */
export interface CallLimits {
  /** Whether a limit is about the definition. */
  concern(definition: OfferedDefinition, name: string): boolean;
  /** Counts the call for all of its limits; or for none, when it is over one. */
  take(
    definition: OfferedDefinition,
    name: string,
    input: unknown,
    caller: Principal | undefined,
  ): Promise<LimitRefusal | undefined>;
}

/** What limits need of the server. */
export interface LimitServer {
  readonly store: Store;
  readonly now: () => number;
  readonly implied: ReadonlyMap<string, ReadonlySet<string>>;
  readonly onFailure: (error: unknown) => void;
}

/** One count of a limit: of calls, or of what they cost. */
interface CompiledCount {
  readonly place: string;
  readonly match: CompiledMatch;
  readonly each: ReadonlySet<LimitSubject>;
  readonly count: SharedCount;
  /** The cost of a call. */
  readonly cost: number | readonly PathSegment[];
  readonly noun: string;
}

/** A count, and whose it is. */
interface Taking {
  readonly of: CompiledCount;
  readonly counted: CountedCaller;
  readonly amount: number;
}

const SUBJECTS: readonly LimitSubject[] = ["user", "client", "tool", "upstream", "all"];
const MEMBERS: ReadonlySet<string> = new Set<keyof PolicyLimit>([...MATCH_MEMBERS, "each", "limit", "spend"]);
const LIMIT_MEMBERS: ReadonlySet<string> = new Set(["calls", "per"]);
const SPEND_MEMBERS: ReadonlySet<string> = new Set(["cost", "budget", "per"]);
const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
const MAX_SECONDS = 31 * 86_400;
const MAX_LIMITS = 200;
const MAX_BUDGET = 1e12;

/** Seconds of a time such as `5m`. @throws {PolicyError} */
export function readDuration(value: unknown, place: string): number {
  const [, count, unit] = /^([1-9]\d{0,6})?([smhd])$/.exec(String(value)) ?? [];
  const seconds = unit === undefined ? 0 : Number(count ?? 1) * UNIT_SECONDS[unit]!;
  if (seconds > 0 && seconds <= MAX_SECONDS) return seconds;
  throw new PolicyError(place, "must be a time such as 30s, 5m, 1h or 1d, of at most 31d");
}

/** @throws {PolicyError} */
export function createCallLimits(limits: readonly PolicyLimit[], server: LimitServer): CallLimits {
  if (!Array.isArray(limits) || limits.length > MAX_LIMITS) {
    throw new PolicyError("limits", `must be a list of at most ${MAX_LIMITS} limits`);
  }
  const counts = limits.flatMap((limit, i) => compileLimit(limit, `limits[${i}]`, server));
  const isAbout = (of: CompiledCount, definition: OfferedDefinition, name: string) =>
    of.match.definition(definition, name) !== false;

  return {
    concern: (definition, name) => counts.some((of) => isAbout(of, definition, name)),
    async take(definition, name, input, caller) {
      const takings: Taking[] = [];
      for (const of of counts) {
        if (!isAbout(of, definition, name) || of.match.caller(caller) === false) continue;
        const amount = findCost(of, input);
        if (amount === undefined) {
          return {
            place: of.place,
            message: "The argument that says what the call costs is missing or invalid",
          };
        }
        const counted = of.count.find(subjectOf(of, definition, name, caller));
        takings.push({ of, counted, amount });
      }
      // Counts are read after the reports of others of this instance.
      for (let busy; (busy = takings.find(({ counted }) => counted.reporting));) await busy.counted.reporting;
      const full = takings.filter(({ of, counted, amount }) => of.count.countRemaining(counted) < amount);
      if (full.length > 0) return refuse(full);
      await Promise.all(takings.map(({ of, counted, amount }) => of.count.add(counted, amount)));
      return undefined;
    },
  };
}

function refuse(full: readonly Taking[]): LimitRefusal {
  const [{ of, amount }] = full as [Taking];
  const { requests, seconds } = of.count.limit;
  if (amount > requests) {
    return { place: of.place, message: `Limit reached: one call may cost at most ${requests}` };
  }
  const wait = Math.max(...full.map(({ of, counted, amount }) => of.count.findReset(counted, amount)));
  return {
    place: of.place,
    message: `Limit reached: ${requests} ${of.noun} in ${seconds} s. Try again in ${wait} s`,
  };
}

function compileLimit(limit: PolicyLimit, place: string, server: LimitServer): CompiledCount[] {
  checkMembers(limit, MEMBERS, place);
  const { limit: calls, spend, each = "user" } = limit;
  if (calls === undefined && spend === undefined) throw new PolicyError(place, "must have limit or spend");
  const subjects = [each].flat() as LimitSubject[];
  if (subjects.length === 0 || subjects.some((subject) => !SUBJECTS.includes(subject))) {
    throw new PolicyError(`${place}.each`, `must be of ${SUBJECTS.join(", ")}`);
  }
  const shared = {
    match: compileMatch(limit, place, server.implied),
    each: new Set(subjects),
  };
  const compiled: CompiledCount[] = [];
  if (calls !== undefined) {
    const here = `${place}.limit`;
    checkMembers(calls, LIMIT_MEMBERS, here);
    const requests = readAmount(calls.calls, `${here}.calls`, Number.isSafeInteger);
    const seconds = readDuration(calls.per, `${here}.per`);
    const count = createSharedCount({ name: `policy.${place}`, requests, seconds }, server);
    compiled.push({ ...shared, place: here, count, cost: 1, noun: "calls" });
  }
  if (spend !== undefined) {
    const here = `${place}.spend`;
    checkMembers(spend, SPEND_MEMBERS, here);
    const requests = readAmount(spend.budget, `${here}.budget`, Number.isFinite);
    const seconds = readDuration(spend.per, `${here}.per`);
    const count = createSharedCount({ name: `policy.${here}`, requests, seconds }, server);
    compiled.push({
      ...shared,
      place: here,
      count,
      cost: readCost(spend.cost, `${here}.cost`),
      noun: "of the budget",
    });
  }
  return compiled;
}

function readAmount(value: unknown, place: string, isValid: (value: unknown) => boolean): number {
  if (isValid(value) && (value as number) > 0 && (value as number) <= MAX_BUDGET) return value as number;
  throw new PolicyError(place, `must be a number above 0 and at most ${MAX_BUDGET}`);
}

function readCost(value: unknown, place: string): number | readonly PathSegment[] {
  if (typeof value === "number") return readAmount(value, place, Number.isFinite);
  const path = typeof value === "string" ? parsePath(value) : undefined;
  if (path) return path;
  throw new PolicyError(place, 'must be a number, or the path of an argument such as "arguments.amount"');
}

/** `undefined` when the arguments do not say it: a call of unknown cost would be free. */
function findCost({ cost }: CompiledCount, input: unknown): number | undefined {
  if (typeof cost === "number") return cost;
  let sum = 0;
  for (const each of findValues(input, cost).found) {
    const value = typeof each === "string" ? undefined : each.value;
    if (typeof value !== "number" || !Number.isFinite(value) || value < 0) return undefined;
    sum += value;
  }
  return sum;
}

/** Whose count it is. Anonymous callers are one. */
function subjectOf(
  { each }: CompiledCount,
  definition: OfferedDefinition,
  name: string,
  caller: Principal | undefined,
): string {
  const { subject, client, issuer } = caller ?? {};
  return JSON.stringify([
    each.has("user") ? ["user", issuer ?? "", subject ?? "", subject === undefined ? client ?? "" : ""] : 0,
    each.has("client") ? ["client", issuer ?? "", client ?? ""] : 0,
    each.has("tool") ? [definition.kind, name] : 0,
    each.has("upstream") ? [definition.upstream ?? ""] : 0,
  ]);
}
