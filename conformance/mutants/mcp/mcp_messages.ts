/**
 * Faults in how messages of MCP are numbered, answered and carried over HTTP.
 *
 * @module
 */
import { MCP } from "./mcp_doors.ts";
import { at, faultyAnswers, faultyRequests, withFields, withRequestFields } from "../message.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";
import { faultyWords } from "../jsonrpc/rpc_events.ts";
import { faultyResponses, isNotification, isObject, type Members, readJson } from "../jsonrpc/rpc_message.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `mcp/${id}`);

const SESSION = "mcp-session-id";

/** Changes ids of responses. */
const renumber = (change: (id: unknown) => unknown): Wrap =>
  faultyWords([MCP], (message) => {
    if (!("method" in message) && "id" in message) message["id"] = change(message["id"]);
  });

/** Answers a POST by what is in it, where `change` gives an answer. */
export const posted = (
  change: (
    sent: unknown,
    request: Request,
    next: Handler,
  ) => Response | undefined | Promise<Response | undefined>,
): Wrap =>
  at(MCP, (next) => async (request) => {
    if (request.method !== "POST") return await next(request);
    const sent = readJson(await request.clone().text());
    return await change(sent, request, next) ?? await next(request);
  });

const isCancellation = (sent: unknown): sent is Members =>
  isObject(sent) && sent["method"] === "notifications/cancelled";

/** After a cancellation that `when` picks, nothing of its session is answered. */
const diesOf = (when: (params: unknown) => boolean): Wrap => (next) => {
  const dead = new Set<string>();
  const wrap = posted((sent, request) => {
    const session = request.headers.get(SESSION);
    if (session === null) return undefined;
    if (isCancellation(sent) && when(sent["params"])) dead.add(session);
    else if (dead.has(session)) return new Response(null, { status: 500 });
    return undefined;
  });
  return wrap(next);
};

const idOf = (params: unknown): unknown => isObject(params) ? params["requestId"] : undefined;

/** Sends a request on with another body. */
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
    name: "mcp/id-lost-where-falsy",
    fault: "Takes 0 and the empty text for no id",
    wrap: renumber((id) => id || null),
    breaks: names(
      "methods/id-zero",
      "methods/id-empty",
      "initialize/id-zero",
      "modern_methods/id-zero",
    ),
  },
  {
    name: "mcp/id-as-number",
    fault: "Gives digits in ids back as numbers",
    wrap: renumber((id) => /^\d+$/.test(String(id)) ? Number(id) : id),
    breaks: names("methods/id-digits", "modern_methods/id-text"),
  },
  {
    name: "mcp/id-unsigned",
    fault: "Loses the sign of ids",
    wrap: renumber((id) => typeof id === "number" ? Math.abs(id) : id),
    breaks: names("methods/id-negative"),
  },
  {
    name: "mcp/id-of-32-bits",
    fault: "Holds ids in 32 bits",
    wrap: renumber((id) => typeof id === "number" ? id | 0 : id),
    breaks: names("methods/id-large"),
  },
  {
    name: "mcp/id-of-numbers-alone",
    fault: "Has null for ids that are texts",
    wrap: renumber((id) => typeof id === "string" ? null : id),
    breaks: names("methods/id-text", "initialize/id-text", "modern_methods/id-text"),
    mayBreak: { "Their requests have texts as ids": names("methods/id-", "streams/two-at-once") },
  },
  {
    name: "mcp/as-text",
    fault: "Says of JSON that it is text",
    wrap: faultyAnswers(
      MCP,
      (answer) =>
        answer.headers.get("content-type")?.startsWith("application/json")
          ? withFields(answer, { "content-type": "text/plain" })
          : answer,
    ),
    breaks: names(
      "http/content-type",
      "http_2025_03_26/content-type",
      "http_2025_06_18/content-type",
      "modern_methods/content-type",
    ),
  },
  {
    name: "mcp/ping-unknown",
    fault: "Does not know ping",
    wrap: faultyResponses(
      MCP,
      (value, sent) =>
        isObject(sent) && sent["method"] === "ping"
          ? { jsonrpc: "2.0", id: sent["id"], error: { code: -32601, message: "Method not found" } }
          : value,
    ),
    breaks: names("methods/ping", "older/ping", "http_2025_03_26/ping", "http_2025_06_18/ping"),
    mayBreak: { "They ask by ping whether the server goes on, or for an id": ["mcp/"] },
  },
  {
    name: "mcp/dies-of-unknown-cancellation",
    fault: "Ends at a cancellation of a request that there is not",
    wrap: diesOf((params) => idOf(params) === "conformance-no-such-request"),
    breaks: CANCELS,
  },
  {
    name: "mcp/dies-of-late-cancellation",
    fault: "Ends at a cancellation of a request that was answered",
    wrap: diesOf((params) => typeof idOf(params) === "number"),
    breaks: names("methods/cancel-finished"),
    mayBreak: { "They cancel by number": names("streams/cancelled") },
  },
  {
    name: "mcp/dies-of-malformed-cancellation",
    fault: "Ends at a cancellation that names nothing that it could mean",
    wrap: diesOf((params) => !["string", "number"].includes(typeof idOf(params))),
    breaks: names("methods/cancel-without-id", "methods/cancel-without-params", "methods/cancel-object-id"),
  },
  {
    name: "mcp/notifications-answered",
    fault: "Answers notifications with an empty result",
    wrap: posted((sent) =>
      isNotification(sent) && sent["method"] !== "notifications/initialized"
        ? Response.json({ jsonrpc: "2.0", id: null, result: {} })
        : undefined
    ),
    breaks: [
      ...names(
        "http/unknown-notification",
        "http/notification-accepted",
        "http_2025_03_26/notification-accepted",
        "http_2025_06_18/notification-accepted",
        "modern/notification",
      ),
      ...CANCELS,
    ],
    mayBreak: {
      "They cancel, which is a notification": names("methods/cancel-", "streams/cancelled"),
      "It notifies a session that has ended": names("session/notification-ended"),
    },
  },
  {
    name: "mcp/responses-answered",
    fault: "Answers responses with an empty result",
    wrap: posted((sent) =>
      isObject(sent) && !("method" in sent) && "result" in sent
        ? Response.json({ jsonrpc: "2.0", id: sent["id"], result: {} })
        : undefined
    ),
    breaks: names("http/response-unknown"),
  },
  {
    name: "mcp/no-batches-ever",
    fault: "Refuses batches in the revision that has them",
    wrap: posted((sent) => Array.isArray(sent) ? new Response(null, { status: 400 }) : undefined),
    breaks: names("batch_2025_03_26/requests", "batch_2025_03_26/notifications"),
  },
  {
    name: "mcp/handshake-in-batch",
    fault: "Takes a handshake out of a batch",
    wrap: posted((sent, request, next) => {
      const first = Array.isArray(sent)
        ? sent.find((each) => isObject(each) && each["method"] === "initialize")
        : undefined;
      return first && forward(next, request, first);
    }),
    breaks: names("batch_2025_03_26/initialize", "batch_2025_03_26/initialize-beside"),
  },
  {
    name: "mcp/first-of-two-versions",
    fault: "Reads the first of two revisions in a header field",
    wrap: faultyRequests(MCP, (request) => {
      const version = request.headers.get("mcp-protocol-version");
      return version?.includes(",")
        ? withRequestFields(request, { "mcp-protocol-version": version.split(",")[0]!.trim() })
        : request;
    }),
    breaks: names("http/version-two"),
  },
  {
    name: "mcp/malformed-accepted",
    fault: "Accepts objects that are no messages, with 202",
    wrap: at(MCP, (next) => async (request) => {
      const isRead = request.method !== "POST" || !isObject(readJson(await request.clone().text()));
      const answer = await next(request);
      return isRead || answer.status !== 400 ? answer : new Response(null, { status: 202 });
    }),
    breaks: names("http/no-message", "http/notification-malformed", "http/old-version"),
    mayBreak: { "They are refused with 400 too": ["mcp/"] },
  },
];
