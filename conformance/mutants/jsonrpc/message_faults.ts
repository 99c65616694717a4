/**
 * Changes JSON-RPC messages of the client and the server.
 *
 * @module
 */
import { changeRequests, changeResponses, withBody } from "../http_faults.ts";
import type { Wrap } from "../mutant.ts";

export type Members = Record<string, unknown>;

export const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether a message has a method and no id. */
export const isNotification = (value: unknown): value is Members =>
  isObject(value) && typeof value["method"] === "string" && !("id" in value);

/** Event streams are excluded because they may not end. */
export const isJson = (answer: Response): boolean =>
  /^application\/json\b/i.test(answer.headers.get("content-type") ?? "");

/** Returns `undefined` for invalid JSON. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Changes the text of POST bodies. */
export function changeBodies(path: string, change: (text: string) => string): Wrap {
  return changeRequests(path, async (request) => {
    if (request.method !== "POST") return request;
    const text = await request.clone().text();
    const changed = change(text);
    if (changed === text) return request;
    const headers = new Headers(request.headers);
    headers.delete("content-length");
    return new Request(request.url, { method: "POST", headers, body: changed });
  });
}

/** Changes posted messages; bodies that are not JSON stay unchanged. */
export function changeMessages(path: string, change: (value: unknown) => unknown): Wrap {
  return changeBodies(path, (text) => {
    const value = readJson(text);
    return value === undefined ? text : JSON.stringify(change(value));
  });
}

/** Changes posted messages that are objects, also within batches. */
export function changeEachMessage(path: string, change: (call: Members) => Members): Wrap {
  const one = (value: unknown): unknown => isObject(value) ? change(value) : value;
  return changeMessages(path, (value) => Array.isArray(value) ? value.map(one) : one(value));
}

/**
 * Changes JSON responses.
 *
 * @param change also receives the request; `undefined` removes the response
 */
export function changeRpcResponses(path: string, change: (value: unknown, sent: unknown) => unknown): Wrap {
  return (next) => async (request) => {
    const sent = request.method === "POST" ? readJson(await request.clone().text()) : undefined;
    const faulty = changeResponses(path, async (answer) => {
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

/** Changes each error response, also within batches. */
export function changeErrors(
  path: string,
  change: (error: Members, response: Members) => void,
): Wrap {
  return changeEachResponse(path, (response) => {
    if (isObject(response["error"])) change(response["error"], response);
  });
}

/** Changes each response, also within batches. */
export function changeEachResponse(path: string, change: (response: Members) => void): Wrap {
  return changeRpcResponses(path, (value) => {
    for (const each of Array.isArray(value) ? value : [value]) if (isObject(each)) change(each);
    return value;
  });
}
