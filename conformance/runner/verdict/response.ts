/**
 * What a response is: a refusal, a message of JSON-RPC, content of another kind, a redirect to another origin.
 *
 * @module
 */
import { isJsonObject, type JsonObject } from "../vector/vector_file.ts";

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

/** What came: a message with `jsonrpc`, content without one, or no content. */
export function contentOf(view: JsonObject | undefined): "message" | "other" | "none" {
  if (view === undefined) return "none";
  return holdsProtocol(view) ? "message" : holdsContent(view) ? "other" : "none";
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

/** Whether what came in place of a message is not JSON. */
export const isUnparsable = (message: unknown): boolean =>
  isJsonObject(message) && message["unparsable"] !== undefined && Object.keys(message).length === 1;

/** Whether a response redirects to another origin than that of the request. */
export function leadsElsewhere(view: JsonObject | undefined): boolean {
  const redirect = view?.["redirect"];
  if (!isJsonObject(redirect)) return false;
  const [to, from] = [redirect["to"], view?.["url"]].map((url) =>
    /^[^:]*:\/\/[^/?#]*/.exec(String(url))?.[0]
  );
  return to === undefined || to !== from;
}
