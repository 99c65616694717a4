/**
 * Whether another number of messages came than is expected, or none (`FORMAT.md` section 7, case 2).
 *
 * @module
 */
import type { Mismatch } from "../outcome.ts";
import { isJsonObject, type JsonObject } from "../vector/vector_file.ts";
import {
  countResponses,
  expectsMessages,
  expectsProtocol,
  isListPattern,
  isMessagePattern,
} from "./expectation.ts";
import { isUnparsable } from "./response.ts";

/** Whether one message came where a list is expected, or a list where one is: no error code explains that. */
export function isOtherForm({ path, pattern }: Mismatch, view: JsonObject | undefined): boolean {
  const position = /^messages\.(\d+)$/.exec(path)?.[1];
  const messages = view?.["messages"];
  if (position === undefined || !Array.isArray(messages) || !isMessagePattern(pattern)) return false;
  const message = messages[Number(position)];
  return (Array.isArray(message) || isJsonObject(message) && !isUnparsable(message)) &&
    Array.isArray(message) !== isListPattern(pattern);
}

/** Whether messages are expected and none was received: nothing, or what is not JSON. */
export function isWithoutMessages(expected: unknown, view: JsonObject | undefined): boolean {
  if (view === undefined) return false;
  const { messages, events, json, broken } = view;
  const isReceived = json !== undefined || Array.isArray(messages) && !messages.every(isUnparsable) ||
    Array.isArray(events) && events.some((event: JsonObject) => event["json"] !== undefined);
  return !isReceived && (expectsMessages(expected) || broken === undefined && expectsProtocol(expected));
}

/** Whether the number of messages, or of responses in a batch, is another one. @param otherForms mismatches that are {@linkcode isOtherForm} */
export function isOtherCount(mismatches: readonly Mismatch[], otherForms: readonly Mismatch[]): boolean {
  return mismatches.some(({ path }) => /^messages(\.\d+)?\.length$/.test(path)) ||
    otherForms.some(({ pattern }) => Number(countResponses(pattern)) > 1);
}
