/**
 * Faults in ids, responses and the HTTP transport of MCP messages.
 *
 * @module
 */
import { MCP } from "./mcp_access.ts";
import { changeRequests, changeResponses, onPath, withHeaders, withRequestHeaders } from "../http_faults.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";
import { changeServerMessages } from "../jsonrpc/event_faults.ts";
import {
  changeRpcResponses,
  isNotification,
  isObject,
  type Members,
  readJson,
} from "../jsonrpc/message_faults.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `mcp/${id}`);

const SESSION = "mcp-session-id";

/** Changes ids of responses. */
const changeResponseIds = (change: (id: unknown) => unknown): Wrap =>
  changeServerMessages([MCP], (message) => {
    if (!("method" in message) && "id" in message) message["id"] = change(message["id"]);
  });

/** Answers a POST with the response that `change` returns, if any. */
export const answerPosts = (
  change: (
    sent: unknown,
    request: Request,
    next: Handler,
  ) => Response | undefined | Promise<Response | undefined>,
): Wrap =>
  onPath(MCP, (next) => async (request) => {
    if (request.method !== "POST") return await next(request);
    const sent = readJson(await request.clone().text());
    return await change(sent, request, next) ?? await next(request);
  });

const isCancellation = (sent: unknown): sent is Members =>
  isObject(sent) && sent["method"] === "notifications/cancelled";

/** Fails every later request of a session after a cancellation that matches `when`. */
const stopAfter = (when: (params: unknown) => boolean): Wrap => (next) => {
  const dead = new Set<string>();
  const wrap = answerPosts((sent, request) => {
    const session = request.headers.get(SESSION);
    if (session === null) return undefined;
    if (isCancellation(sent) && when(sent["params"])) dead.add(session);
    else if (dead.has(session)) return new Response(null, { status: 500 });
    return undefined;
  });
  return wrap(next);
};

const idOf = (params: unknown): unknown => isObject(params) ? params["requestId"] : undefined;

/** Forwards a request with another body. */
export const forward = (next: Handler, request: Request, body: unknown): Promise<Response> => {
  const headers = new Headers(request.headers);
  headers.delete("content-length");
  return next(new Request(request.url, { method: "POST", headers, body: JSON.stringify(body) }));
};

const CANCELS = names(
  "methods/cancel-unknown",
  "http_2025_03_26/cancel-unknown",
  "http_2025_06_18/cancel-unknown",
);

export const MCP_MESSAGES: readonly Mutant[] = [
  {
    name: "mcp/id-falsy-lost",
    fault: 'Treats the ids 0 and "" as missing',
    wrap: changeResponseIds((id) => id || null),
    killedBy: names(
      "methods/id-zero",
      "methods/id-empty",
      "initialize/id-zero",
      "modern_methods/id-zero",
    ),
  },
  {
    name: "mcp/id-as-number",
    fault: "Returns ids made of digits as numbers",
    wrap: changeResponseIds((id) => /^\d+$/.test(String(id)) ? Number(id) : id),
    killedBy: names("methods/id-digits", "modern_methods/id-text"),
  },
  {
    name: "mcp/id-unsigned",
    fault: "Drops the sign of ids",
    wrap: changeResponseIds((id) => typeof id === "number" ? Math.abs(id) : id),
    killedBy: names("methods/id-negative"),
  },
  {
    name: "mcp/id-32-bits",
    fault: "Truncates ids to 32 bits",
    wrap: changeResponseIds((id) => typeof id === "number" ? id | 0 : id),
    killedBy: names("methods/id-large"),
  },
  {
    name: "mcp/id-numbers-only",
    fault: "Returns null in place of string ids",
    wrap: changeResponseIds((id) => typeof id === "string" ? null : id),
    killedBy: names("methods/id-text", "initialize/id-text", "modern_methods/id-text"),
    mayFail: { "Their requests have string ids": names("methods/id-", "streams/two-at-once") },
  },
  {
    name: "mcp/as-text",
    fault: "Labels JSON as text/plain",
    wrap: changeResponses(
      MCP,
      (answer) =>
        answer.headers.get("content-type")?.startsWith("application/json")
          ? withHeaders(answer, { "content-type": "text/plain" })
          : answer,
    ),
    killedBy: names(
      "http/content-type",
      "http_2025_03_26/content-type",
      "http_2025_06_18/content-type",
      "modern_methods/content-type",
    ),
  },
  {
    name: "mcp/ping-unknown",
    fault: "Does not implement ping",
    wrap: changeRpcResponses(
      MCP,
      (value, sent) =>
        isObject(sent) && sent["method"] === "ping"
          ? { jsonrpc: "2.0", id: sent["id"], error: { code: -32601, message: "Method not found" } }
          : value,
    ),
    killedBy: names("methods/ping", "older/ping", "http_2025_03_26/ping", "http_2025_06_18/ping"),
    mayFail: { "They use ping to check that the server still answers, or to read an id": ["mcp/"] },
  },
  {
    name: "mcp/stops-at-unknown-cancellation",
    fault: "Stops answering a session after it cancels an unknown request",
    wrap: stopAfter((params) => idOf(params) === "conformance-no-such-request"),
    killedBy: CANCELS,
  },
  {
    name: "mcp/stops-at-late-cancellation",
    fault: "Stops answering a session after it cancels a finished request",
    wrap: stopAfter((params) => typeof idOf(params) === "number"),
    killedBy: names("methods/cancel-finished"),
    mayFail: { "They cancel by a numeric id": names("streams/cancelled") },
  },
  {
    name: "mcp/stops-at-malformed-cancellation",
    fault: "Stops answering a session after a malformed cancellation",
    wrap: stopAfter((params) => !["string", "number"].includes(typeof idOf(params))),
    killedBy: names("methods/cancel-without-id", "methods/cancel-without-params", "methods/cancel-object-id"),
  },
  {
    name: "mcp/notifications-answered",
    fault: "Answers notifications with an empty result",
    wrap: answerPosts((sent) =>
      isNotification(sent) && sent["method"] !== "notifications/initialized"
        ? Response.json({ jsonrpc: "2.0", id: null, result: {} })
        : undefined
    ),
    killedBy: [
      ...names(
        "http/unknown-notification",
        "http_2025_03_26/notification-accepted",
        "http_2025_06_18/notification-accepted",
        "modern/notification",
      ),
      ...CANCELS,
    ],
    mayFail: {
      "They send a cancellation, which is a notification": names("methods/cancel-", "streams/cancelled"),
      "It sends a notification to an ended session": names("session/notification-ended"),
    },
  },
  {
    name: "mcp/notifications-refused-with-200",
    fault: "Answers notifications with an error and status 200",
    wrap: answerPosts((sent) =>
      isNotification(sent) && sent["method"] !== "notifications/initialized"
        ? Response.json({ jsonrpc: "2.0", id: null, error: { code: -32601, message: "Unknown" } })
        : undefined
    ),
    killedBy: names(
      "http/unknown-notification",
      "http_2025_03_26/notification-accepted",
      "http_2025_06_18/notification-accepted",
      "modern/notification",
    ),
    mayFail: {
      "They send a cancellation, which is a notification": names("methods/cancel-", "streams/cancelled"),
      "It sends a notification to an ended session": names("session/notification-ended"),
    },
  },
  {
    name: "mcp/notifications-with-200",
    fault: "Accepts notifications with 200 in place of 202",
    wrap: changeResponses(MCP, (answer) => answer.status === 202 ? withHeaders(answer, {}, 200) : answer),
    killedBy: names("http/notification-accepted"),
    mayFail: {
      "They expect 202 for a message that needs no response": names(
        "batch_2025_03_26/notifications",
        "http/response-unknown",
        "http/unknown-notification",
        "http_2025_03_26/notification-accepted",
        "http_2025_06_18/notification-accepted",
        "modern/notification",
      ),
    },
  },
  {
    name: "mcp/responses-answered",
    fault: "Answers responses with an empty result",
    wrap: answerPosts((sent) =>
      isObject(sent) && !("method" in sent) && "result" in sent
        ? Response.json({ jsonrpc: "2.0", id: sent["id"], result: {} })
        : undefined
    ),
    killedBy: names("http/response-unknown"),
  },
  {
    name: "mcp/batches-refused",
    fault: "Refuses batches in the revision that has them",
    wrap: answerPosts((sent) => Array.isArray(sent) ? new Response(null, { status: 400 }) : undefined),
    killedBy: names("batch_2025_03_26/requests", "batch_2025_03_26/notifications"),
  },
  {
    name: "mcp/handshake-in-batch",
    fault: "Accepts initialize within a batch",
    wrap: answerPosts((sent, request, next) => {
      const first = Array.isArray(sent)
        ? sent.find((each) => isObject(each) && each["method"] === "initialize")
        : undefined;
      return first && forward(next, request, first);
    }),
    killedBy: names("batch_2025_03_26/initialize", "batch_2025_03_26/initialize-beside"),
  },
  {
    name: "mcp/first-of-two-versions",
    fault: "Reads the first of two revisions in MCP-Protocol-Version",
    wrap: changeRequests(MCP, (request) => {
      const version = request.headers.get("mcp-protocol-version");
      return version?.includes(",")
        ? withRequestHeaders(request, { "mcp-protocol-version": version.split(",")[0]!.trim() })
        : request;
    }),
    killedBy: names("http/version-two"),
  },
  {
    name: "mcp/malformed-accepted",
    fault: "Accepts objects that are not messages, with 202",
    wrap: onPath(MCP, (next) => async (request) => {
      const isRead = request.method !== "POST" || !isObject(readJson(await request.clone().text()));
      const answer = await next(request);
      return isRead || answer.status !== 400 ? answer : new Response(null, { status: 202 });
    }),
    killedBy: names("http/no-message", "http/notification-malformed", "http/old-version"),
    mayFail: { "They expect 400": ["mcp/"] },
  },
];
