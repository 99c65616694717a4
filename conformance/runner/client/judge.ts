/**
 * The verdict on a client: how it ended and which requests it sent, compared with the expectation of the scenario.
 *
 * @module
 */
import { type Strength, toFailureOutcome } from "../outcome.ts";
import { findMismatch } from "../vector/match.ts";
import { fillTemplates, type Variables } from "../vector/template.ts";
import { isJsonObject, type Outcome } from "../vector/vector_file.ts";
import { type DriverResult, EXIT } from "./driver.ts";
import type { RecordedRequest } from "./recorded.ts";
import type { Ending, LoadedScenario, RequestCheck } from "./scenario.ts";

/** As for servers (FORMAT.md section 7). A client that ends otherwise, but accepts nothing, is `other-refusal`. */
export type ClientClass = "broken" | "other-refusal" | "advice";

export interface Verdict {
  readonly outcome: Outcome;
  readonly class?: ClientClass;
  /** Whether what had to be refused was accepted, or sent where it must not go. */
  readonly harm: boolean;
  /** What differs from the expectation. */
  readonly reason?: string;
}

/** How the driver says that it ended; `undefined` for a crash or timeout. */
export function toEnding({ code }: DriverResult): Ending | undefined {
  return code === EXIT.accepted ? "accepted" : code === EXIT.refused ? "refused" : undefined;
}

/** Judges the runs of a driver against one scenario. */
export async function judge(
  { scenario, strength }: LoadedScenario,
  results: readonly DriverResult[],
  requests: readonly RecordedRequest[],
  variables: Variables,
): Promise<Verdict> {
  const { ends, requests: checks = [] } = scenario.expect;
  for (const check of checks) {
    const reason = await findProblem(check, requests, variables);
    if (reason !== undefined) return toFailure(strength, reason, check.count === 0);
  }
  for (const result of results) {
    const ending = toEnding(result);
    if (ends === undefined || ending === ends) continue;
    if (ending === undefined && ends === "refused") {
      const reason = `did not refuse, but ${describeEnd(result)}`;
      return { outcome: "observe", class: "other-refusal", harm: false, reason };
    }
    const expected = ends === "accepted" ? "accept" : "refuse";
    return toFailure(strength, `did not ${expected}: ${describeEnd(result)}`, true);
  }
  return { outcome: "pass", harm: false };
}

function toFailure(strength: Strength, reason: string, harm: boolean): Verdict {
  const failureClass = strength === "MUST" ? "broken" : "advice";
  return { outcome: toFailureOutcome(strength), class: failureClass, harm, reason };
}

/** The end of a driver in words. */
export function describeEnd(result: DriverResult): string {
  const last = (result.stdout.trim() || result.stderr.trim()).split("\n").at(-1)?.slice(0, 200) ?? "";
  const ending = toEnding(result) ??
    (result.isTimeout ? "did not end in time" : `ended with exit code ${result.code ?? "of a signal"}`);
  return last === "" ? ending : `${ending} (${last})`;
}

async function findProblem(
  { at, nth, where, count = { $min: 1 }, expect, distinct }: RequestCheck,
  all: readonly RecordedRequest[],
  variables: Variables,
): Promise<string | undefined> {
  const filled = { where: fillKnown(where, variables), expect: fillKnown(expect, variables) };
  let requests = all.filter((each) => each.at === at);
  if (nth !== undefined) requests = requests.slice(nth - 1, nth);
  if (where !== undefined) {
    const matching: RecordedRequest[] = [];
    for (const each of requests) if (!await findMismatch(filled.where, each, variables)) matching.push(each);
    requests = matching;
  }
  const counted = await findMismatch(count, requests.length, variables, `number of requests to ${at}`);
  if (counted) return `${counted.path}: expected ${counted.expected}, received ${counted.actual}`;
  for (const each of expect === undefined ? [] : requests) {
    const found = await findMismatch(filled.expect, each, variables);
    if (found) return `request to ${at}, ${found.path}: expected ${found.expected}, received ${found.actual}`;
  }
  if (distinct !== undefined) {
    const values = requests.map((each) => getMember(each, distinct.split(".")));
    const isDistinct = !values.includes(undefined) && new Set(values).size === values.length;
    if (!isDistinct) return `requests to ${at}: ${distinct} is missing or repeated`;
  }
  return undefined;
}

/** A template of a request that was never sent matches nothing. */
function fillKnown(pattern: unknown, variables: Variables): unknown {
  try {
    return fillTemplates(pattern, variables);
  } catch {
    return { $eq: { missing: "the request that the expectation refers to was not sent" } };
  }
}

function getMember(value: unknown, path: readonly string[]): unknown {
  const [name = "", ...rest] = path;
  if (path.length === 0) return value;
  return isJsonObject(value) ? getMember(value[name], rest) : undefined;
}
