/**
 * What an expectation asks for: a refusal, messages, or that something is absent (`FORMAT.md` section 7).
 *
 * @module
 */
import { isJsonObject } from "../vector/vector_file.ts";
import { isAbsence } from "./about.ts";

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

/** Whether a pattern is that of a list: a list, or the number or an item of one. */
export function isListPattern(pattern: unknown): boolean {
  return Array.isArray(pattern) ||
    isJsonObject(pattern) && ("$length" in pattern || "$contains" in pattern);
}

/** Whether a pattern names what a message has, as one or in a list. */
export function isMessagePattern(pattern: unknown): boolean {
  return isListPattern(pattern) ||
    isJsonObject(pattern) && Object.keys(pattern).every((name) => !name.startsWith("$"));
}

/** How many responses a pattern of a list asks for, if it says so. */
export function countResponses(pattern: unknown): unknown {
  if (Array.isArray(pattern)) return pattern.length;
  return isJsonObject(pattern) ? pattern["$length"] : undefined;
}

/** Whether messages are expected. */
export function expectsMessages(expected: unknown): boolean {
  if (!isJsonObject(expected)) return false;
  const { messages, $oneOf, $all } = expected;
  if (messages !== undefined) return !Array.isArray(messages) || messages.length > 0;
  return Array.isArray($oneOf) && $oneOf.every(expectsMessages) ||
    Array.isArray($all) && $all.some(expectsMessages);
}

/** Whether the JSON of a body or event is expected to be a JSON-RPC message. */
export function expectsProtocol(expected: unknown): boolean {
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
