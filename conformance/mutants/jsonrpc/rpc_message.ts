/**
 * JSON-RPC messages with one thing changed.
 *
 * @module
 */
import { faultyAnswers, faultyRequests, withBody } from "../message.ts";
import type { Wrap } from "../mutant.ts";

export type Members = Record<string, unknown>;

export const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A message that has a method and no id. */
export const isNotification = (value: unknown): value is Members =>
  isObject(value) && typeof value["method"] === "string" && !("id" in value);

/** Streams of events are left alone: they may never end. */
export const isJson = (answer: Response): boolean =>
  /^application\/json\b/i.test(answer.headers.get("content-type") ?? "");

/** `undefined` for what is not JSON. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Changes the text of what is posted. */
export function faultyTexts(path: string, change: (text: string) => string): Wrap {
  return faultyRequests(path, async (request) => {
    if (request.method !== "POST") return request;
    const text = await request.clone().text();
    const changed = change(text);
    if (changed === text) return request;
    const headers = new Headers(request.headers);
    headers.delete("content-length");
    return new Request(request.url, { method: "POST", headers, body: changed });
  });
}

/** Changes messages that are posted; what is not JSON stays as it is. */
export function faultyMessages(path: string, change: (value: unknown) => unknown): Wrap {
  return faultyTexts(path, (text) => {
    const value = readJson(text);
    return value === undefined ? text : JSON.stringify(change(value));
  });
}

/** Changes messages that are posted, also those within batches, where they are objects. */
export function faultyCalls(path: string, change: (call: Members) => Members): Wrap {
  const one = (value: unknown): unknown => isObject(value) ? change(value) : value;
  return faultyMessages(path, (value) => Array.isArray(value) ? value.map(one) : one(value));
}

/**
 * Changes what is answered as JSON.
 *
 * @param change given what was sent, too; `undefined` says nothing
 */
export function faultyResponses(path: string, change: (value: unknown, sent: unknown) => unknown): Wrap {
  return (next) => async (request) => {
    const sent = request.method === "POST" ? readJson(await request.clone().text()) : undefined;
    const faulty = faultyAnswers(path, async (answer) => {
      if (!isJson(answer)) return answer;
      const value = readJson(await answer.clone().text());
      if (value === undefined) return answer;
      const changed = change(value, sent);
      return changed === undefined
        ? new Response(null, { status: 204 })
        : withBody(answer, JSON.stringify(changed));
    });
    return await faulty(next)(request);
  };
}

/** Changes each response that is an error, also those within batches. */
export function faultyErrors(
  path: string,
  change: (error: Members, response: Members) => void,
): Wrap {
  return faultyEach(path, (response) => {
    if (isObject(response["error"])) change(response["error"], response);
  });
}

/** Changes each response, also those within batches. */
export function faultyEach(path: string, change: (response: Members) => void): Wrap {
  return faultyResponses(path, (value) => {
    for (const each of Array.isArray(value) ? value : [value]) if (isObject(each)) change(each);
    return value;
  });
}
