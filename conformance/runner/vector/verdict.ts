/**
 * Judges a failed step: which covered rows failed, how severe that is, and which impact was observed
 * (`FORMAT.md` section 7).
 *
 * @module
 */
import { type ExpectationFailed, getStrongest, type Mismatch, toFailureOutcome } from "../outcome.ts";
import { ABSENCE, governs, isAbsence } from "./about.ts";
import { findBlamed, isOfRedirect } from "./blame.ts";
import { NO_VALUE } from "../report/describe.ts";
import {
  type FailureClass,
  isJsonObject,
  type JsonObject,
  type Outcome,
  type Requirement,
} from "./vector_file.ts";

export interface Verdict {
  /** `setup` if the step only prepares the test. */
  readonly outcome: Outcome;
  readonly class?: FailureClass;
  /** Flags whose impact was observed. */
  readonly harm: readonly string[];
  /** Ids of the covered rows that failed. */
  readonly failed: readonly string[];
}

/** Ways for an exchange to break that say nothing about the rule. One that hung or was closed is an answer of its kind. */
const NO_ANSWER: ReadonlySet<unknown> = new Set(["refused", "garbled"]);

/**
 * Judges a failed step.
 * @param covers ids of the rows that the step may fail; by default all of the vector, empty for a step that only prepares
 */
export function judgeStep(
  { mismatches, expected, view, isExcess }: ExpectationFailed,
  rows: readonly Requirement[],
  covers: readonly string[] | undefined,
  flags: readonly string[],
): Verdict {
  if (covers?.length === 0) return { outcome: "setup", harm: [], failed: [] };
  // What the covered rows are about was not seen: there was no connection, or no HTTP.
  if (mismatches.length === 0 && NO_ANSWER.has(view?.["broken"])) {
    return { outcome: "setup", harm: [], failed: [] };
  }
  const covered = covers ? rows.filter(({ id }) => covers.includes(id)) : rows;
  const form = covered.filter(({ about }) => about !== undefined);
  // If a vector covers only rows about form, these are its rules, those about JSON-RPC as such last.
  const rules = [
    covered.filter(({ about }) => about === undefined),
    covered.filter((row) => !isAboutProtocol(row)),
  ].find((each) => each.length > 0) ?? covered;
  const isMessage = view !== undefined && holdsProtocol(view);
  const isOtherContent = view !== undefined && !isMessage && holdsContent(view);
  // Where a message came, only its jsonrpc is about JSON-RPC as such; where nothing came, nothing is.
  const findGoverning = (mismatch: Mismatch): readonly Requirement[] =>
    form.filter((row) =>
      row.about!.some((each) => governs(each, mismatch)) &&
      (isOtherContent || !isAboutProtocol(row) || isMessage && mismatch.path.endsWith(".jsonrpc"))
    );

  const asksRefusal = expectsRefusal(expected);
  const isRefused = view !== undefined && isRefusal(view);
  const isBroken = view?.["broken"] !== undefined;
  const counting = form.filter(({ about }) => about!.some(({ at }) => at === MESSAGE_COUNT));
  const isUnanswered = isWithoutMessages(expected, view);
  const otherForms = mismatches.filter((mismatch) => isOtherForm(mismatch, view));
  // Another number of messages, or of responses in a batch, than expected, or none.
  const isMiscounted = mismatches.some(({ path }) => /^messages(\.\d+)?\.length$/.test(path)) ||
    otherForms.some(({ pattern }) => Number(countResponses(pattern)) > 1) ||
    isUnanswered && (counting.length > 0 || !isRefused);
  const violations = mismatches.filter(isViolation);
  const isRuleViolated = violations.some((mismatch) => !isAboutViolation(mismatch, findGoverning(mismatch)));
  const isOtherRefusal = asksRefusal && isRefused && !isRuleViolated && !isMiscounted &&
    otherForms.length === 0 && mismatches.length > 0;

  let failed: readonly Requirement[];
  if (isOtherRefusal) {
    // What an error status of HTTP has for a body need not be a message.
    const isFree = Number(view["status"]) >= 400 && !isMessage;
    failed = findBlamed(
      mismatches,
      (each) => findGoverning(each).filter((row) => !isFree || !isAboutProtocol(row)),
      view,
    );
  } else if (isMiscounted) {
    const protocol = isUnanswered && isOtherContent ? form.filter(isAboutProtocol) : [];
    failed = [counting, protocol, rules].find((each) => each.length > 0)!;
  } else if (asksRefusal || isRefused || isBroken || mismatches.length === 0) failed = rules;
  else {
    failed = mismatches.flatMap((mismatch) => {
      const own = findGoverning(mismatch);
      return own.length > 0 ? own : rules;
    });
  }
  failed = [...new Set(failed)];
  const isAccepted = asksRefusal && !isRefused && !isBroken && !isMiscounted;
  // An error in place of a success is no value that came out.
  const isObserved = isRuleViolated && (asksRefusal || !isRefused);
  // A redirect alone shows that the browser was sent, and nothing else.
  const isHarmed = isObserved && violations.some((each) => !isOfRedirect(each)) || isExcess ||
    isAccepted && !namesProhibition(expected) && !(Number(view?.["status"]) >= 300);
  const harm = flags.filter((flag) => {
    if (flag === "interop") return !asksRefusal && (isRefused || isBroken);
    if (flag === "exhaustion") return isBroken;
    if (flag === "leak") return isObserved;
    if (flag === "open-redirect") {
      return leadsElsewhere(view) &&
        (isOtherRefusal && mismatches.some(isOfRedirect) || isObserved || isAccepted);
    }
    return isHarmed;
  });
  if (failed.length === 0) return { outcome: "observe", class: "other-refusal", harm, failed: [] };
  const strength = getStrongest(failed);
  const isOtherError = isOtherRefusal && violations.length === 0 &&
    mismatches.some(({ path }) => ERROR_PLACE.test(path));
  return {
    outcome: toFailureOutcome(strength),
    class: isOtherError ? "other-refusal" : strength === "MUST" ? "broken" : "advice",
    harm,
    failed: failed.map(({ id }) => id),
  };
}

/** Places that tell one error from another: the status, an `error`, or a whole member of the view. */
const ERROR_PLACE = /^(\w*|messages\.\d+)$|(^|\.)error(\.code)?$/;

/** The place of the number of messages. A row with this place in `about` governs nothing else. */
const MESSAGE_COUNT = "messages.length";

/** Whether one message came where a list is expected, or a list where one is: no error code explains that. */
function isOtherForm({ path, pattern }: Mismatch, view: JsonObject | undefined): boolean {
  const position = /^messages\.(\d+)$/.exec(path)?.[1];
  const messages = view?.["messages"];
  if (position === undefined || !Array.isArray(messages) || !isMessagePattern(pattern)) return false;
  const message = messages[Number(position)];
  return (Array.isArray(message) || isJsonObject(message) && !isUnparsable(message)) &&
    Array.isArray(message) !== isListPattern(pattern);
}

/** Whether a pattern is that of a list: a list, or the number or an item of one. */
function isListPattern(pattern: unknown): boolean {
  return Array.isArray(pattern) ||
    isJsonObject(pattern) && ("$length" in pattern || "$contains" in pattern);
}

/** Whether a pattern names what a message has, as one or in a list. */
function isMessagePattern(pattern: unknown): boolean {
  return isListPattern(pattern) ||
    isJsonObject(pattern) && Object.keys(pattern).every((name) => !name.startsWith("$"));
}

/** How many responses a pattern of a list asks for, if it says so. */
function countResponses(pattern: unknown): unknown {
  if (Array.isArray(pattern)) return pattern.length;
  return isJsonObject(pattern) ? pattern["$length"] : undefined;
}

/** Whether messages are expected and none was received: nothing, or what is not JSON. */
function isWithoutMessages(expected: unknown, view: JsonObject | undefined): boolean {
  if (view === undefined) return false;
  const { messages, events, json, broken } = view;
  const isReceived = json !== undefined || Array.isArray(messages) && !messages.every(isUnparsable) ||
    Array.isArray(events) && events.some((event: JsonObject) => event["json"] !== undefined);
  return !isReceived && (expectsMessages(expected) || broken === undefined && expectsProtocol(expected));
}

const isUnparsable = (message: unknown): boolean =>
  isJsonObject(message) && message["unparsable"] !== undefined && Object.keys(message).length === 1;

/** Whether the JSON of a body or event is expected to be a JSON-RPC message. */
function expectsProtocol(expected: unknown): boolean {
  if (!isJsonObject(expected)) return false;
  const { json, events, $oneOf, $all } = expected;
  if (Array.isArray($oneOf)) return $oneOf.every(expectsProtocol);
  return Array.isArray($all) && $all.some(expectsProtocol) || namesProtocol(json) || namesProtocol(events);
}

/** Whether a pattern names `jsonrpc`, and not as a value that must be absent. */
function namesProtocol(pattern: unknown): boolean {
  if (Array.isArray(pattern)) return pattern.some(namesProtocol);
  return isJsonObject(pattern) &&
    Object.entries(pattern).some(([name, each]) =>
      name === "jsonrpc" ? !isAbsence(each) : name !== "$not" && namesProtocol(each)
    );
}

/** Whether a response has a message with `jsonrpc`. */
function holdsProtocol({ json, messages, events }: JsonObject): boolean {
  const all = [json, messages, Array.isArray(events) ? events.map((event: JsonObject) => event["json"]) : []];
  return all.flat(2).some((each) => isJsonObject(each) && each["jsonrpc"] !== undefined);
}

/** Whether a response came that has content. */
function holdsContent({ broken, body, messages, events }: JsonObject): boolean {
  return broken === undefined &&
    (typeof body === "string" && body !== "" ||
      [messages, events].some((each) => Array.isArray(each) && each.length > 0));
}

/** Whether a row is about messages of JSON-RPC as such, not about one value of `jsonrpc`. */
function isAboutProtocol({ about = [] }: Requirement): boolean {
  return about.some(({ at, value }) => at.endsWith(".jsonrpc") && value === undefined);
}

function expectsMessages(expected: unknown): boolean {
  if (!isJsonObject(expected)) return false;
  const { messages, $oneOf, $all } = expected;
  if (messages !== undefined) return !Array.isArray(messages) || messages.length > 0;
  return Array.isArray($oneOf) && $oneOf.every(expectsMessages) ||
    Array.isArray($all) && $all.some(expectsMessages);
}

/** Whether a value is present that must not be: what a prohibition is about was seen. */
export function isViolation({ pattern, actual }: Mismatch): boolean {
  return isProhibition(pattern) && actual !== NO_VALUE;
}

/** Whether a violation is one of form: a row governs it, and if the value must be absent, says so. */
function isAboutViolation({ pattern }: Mismatch, governing: readonly Requirement[]): boolean {
  return isAbsence(pattern)
    ? governing.some(({ about }) => about!.some(({ value }) => value === ABSENCE))
    : governing.length > 0;
}

/** Whether a refusal is expected: every status is an error, or the response has an `error`. */
export function expectsRefusal(expected: unknown): boolean {
  if (!isJsonObject(expected)) return false;
  const { $oneOf, $all, status, redirect, json, messages, events, tally } = expected;
  if (Array.isArray(tally)) return false;
  if (Array.isArray($oneOf)) return $oneOf.every(expectsRefusal);
  if (Array.isArray($all) && $all.some(expectsRefusal)) return true;
  if (status !== undefined && isErrorStatus(status)) return true;
  return [redirect, json, messages, events].some(expectsError);
}

function isErrorStatus(status: unknown): boolean {
  if (typeof status === "number") return status >= 400;
  if (Array.isArray(status)) return status.every(isErrorStatus);
  if (!isJsonObject(status)) return false;
  return isErrorStatus(status["$oneOf"]) || isErrorStatus(status["$min"]);
}

/** Whether a pattern expects a member `error`. */
function expectsError(pattern: unknown): boolean {
  if (Array.isArray(pattern)) return pattern.some(expectsError);
  if (!isJsonObject(pattern)) return false;
  const { error } = pattern;
  if (error !== undefined && !(isJsonObject(error) && "$absent" in error)) return true;
  return ["query", "fragment", "json", "$contains", "$every", "$all"].some((name) =>
    expectsError(pattern[name])
  );
}

/** Whether a response is a refusal, by its status or an `error` in its redirect or body. */
export function isRefusal(view: JsonObject): boolean {
  if (Number(view["status"]) >= 400) return true;
  const { redirect, json, messages, events } = view;
  const hasError = (value: unknown): boolean => isJsonObject(value) && value["error"] !== undefined;
  return hasError(json) ||
    isJsonObject(redirect) && (hasError(redirect["query"]) || hasError(redirect["fragment"])) ||
    Array.isArray(messages) && messages.flat().some(hasError) ||
    Array.isArray(events) && events.some((event: JsonObject) => hasError(event["json"]));
}

/** Whether a response redirects to another origin than that of the request. */
function leadsElsewhere(view: JsonObject | undefined): boolean {
  const redirect = view?.["redirect"];
  if (!isJsonObject(redirect)) return false;
  const [to, from] = [redirect["to"], view?.["url"]].map((url) =>
    /^[^:]*:\/\/[^/?#]*/.exec(String(url))?.[0]
  );
  return to === undefined || to !== from;
}

const PROHIBITIONS = ["$absent", "$not", "$differsFrom", "$sameAs", "$unique"];

/** Whether a pattern, or each of its alternatives, is a prohibition: a value that does not match it shows the impact. */
export function isProhibition(pattern: unknown): boolean {
  if (!isJsonObject(pattern)) return false;
  return PROHIBITIONS.some((name) => name in pattern) ||
    ["$oneOf", "$all"].some((name) => {
      const parts = pattern[name];
      return Array.isArray(parts) && parts.every(isProhibition);
    });
}

/** Whether a pattern has a prohibition in it. */
export function namesProhibition(pattern: unknown): boolean {
  if (Array.isArray(pattern)) return pattern.some(namesProhibition);
  return isJsonObject(pattern) && (isProhibition(pattern) || Object.values(pattern).some(namesProhibition));
}
