/**
 * The responses that a step of `self/` states in `answers`, so that vectors test what a runner sends and reads
 * without a server (`FORMAT.md` section 2).
 *
 * @module
 */
import { toBase64, toText, utf8 } from "./bytes.ts";
import {
  type BreakKind,
  BrokenExchange,
  type HeaderField,
  type HttpRequest,
  type OpenResponse,
  type Sender,
} from "./exchange.ts";
import { KitError } from "../outcome.ts";
import type { JsonObject } from "../vector/vector_file.ts";

export interface ScriptedSender extends Sender {
  /** The responses that no request has used. */
  readonly unused: readonly JsonObject[];
}

/** Each request gets the next response. @param answers with their templates filled */
export function scriptedSender(answers: readonly JsonObject[]): ScriptedSender {
  const unused = [...answers];
  return {
    unused,
    // Not async: requests of `parallel` take their responses in order.
    open(outgoing) {
      const answer = unused.shift();
      if (!answer) {
        return Promise.reject(new KitError('The step sends more requests than "answers" has items'));
      }
      return answer["status"] === undefined && answer["echo"] !== true
        ? Promise.reject(toBreak(answer["broken"] ?? "closed"))
        : Promise.resolve(toResponse(answer, outgoing));
    },
    close: () => Promise.resolve(),
  };
}

function toResponse(
  { status = 200, headers, body, chunks, echo, broken }: JsonObject,
  outgoing: HttpRequest,
): OpenResponse {
  const texts = echo === true
    ? [JSON.stringify(describeRequest(outgoing))]
    : (chunks ?? (body === undefined ? [] : [body])) as readonly unknown[];
  const unread = texts.map((text) => utf8(String(text)));
  return {
    status: Number(status),
    fields: toFields(headers as JsonObject | undefined),
    next() {
      if (unread.length === 0 && broken !== undefined) return Promise.reject(toBreak(broken));
      return Promise.resolve(unread.shift());
    },
    cancel() {},
  };
}

/** The header fields of a stated response. A list repeats a field. */
export function toFields(headers: JsonObject = {}): HeaderField[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((each) => [name, String(each)] as const)
  );
}

export function toBreak(kind: unknown): BrokenExchange {
  return new BrokenExchange(kind as BreakKind, "stated by the vector");
}

/** A request as a JSON object, for `echo`. */
export function describeRequest({ method, url, fields, body = new Uint8Array() }: HttpRequest): JsonObject {
  const headers = Object.fromEntries(fields.map(([name, value]) => [name.toLowerCase(), value]));
  return { method, url, headers, body: toText(body), base64: toBase64(body) };
}
