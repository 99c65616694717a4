/**
 * Faults in HTTP with server-sent events, the transport of 2024-11-05.
 *
 * @module
 */
import { fetchToken } from "./mcp_access.ts";
import { pathOf, withRequestHeaders } from "../http_faults.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";
import { changeEvents, type Event, toEventText, withEventData } from "../jsonrpc/event_faults.ts";
import {
  changeEachMessage,
  isNotification,
  isObject,
  type Members,
  readJson,
} from "../jsonrpc/message_faults.ts";

const STREAM = "/mcp/sse";
const MESSAGES = "/mcp/messages";
const PATHS: readonly string[] = [STREAM, MESSAGES];

const names = (...ids: string[]): string[] => ids.map((id) => `mcp/sse/${id}`);

/** Changes messages from the server. */
const changeServerMessage = (change: (message: Members) => void): Wrap =>
  changeEvents([STREAM], (event) => {
    if (!event.json) return toEventText(event);
    change(event.json);
    return withEventData(event, event.json);
  });

const isEndpoint = ({ lines }: Event): boolean => lines.includes("event: endpoint");

/** Changes requests to either path. */
const changeRequests =
  (change: (request: Request) => Request | Promise<Request>): Wrap => (next) => async (request) =>
    await next(PATHS.includes(pathOf(request)) ? await change(request) : request);

const sessionOf = (request: Request): string => new URL(request.url).searchParams.get("session") ?? "";

/** Refuses every later message of a stream after one that matches `when`. */
const stopAfter = (when: (sent: unknown) => boolean): Wrap => (next) => {
  const dead = new Set<string>();
  return async (request) => {
    if (pathOf(request) !== MESSAGES) return await next(request);
    if (dead.has(sessionOf(request))) return new Response(null, { status: 404 });
    if (when(readJson(await request.clone().text()))) dead.add(sessionOf(request));
    return await next(request);
  };
};

/** Sets the token that `tokenOf` returns, if any. */
const withToken =
  (tokenOf: (request: Request, next: Handler) => Promise<string | undefined>): Wrap =>
  (next) =>
  async (request) => {
    if (!PATHS.includes(pathOf(request))) return await next(request);
    const token = await tokenOf(request, next);
    return await next(token === undefined ? request : withRequestHeaders(request, { authorization: token }));
  };

/** Replaces matching errors with results. */
const replaceErrors = (isAccepted: (error: Members) => boolean): Wrap =>
  changeServerMessage((message) => {
    if (!isObject(message["error"]) || !isAccepted(message["error"])) return;
    delete message["error"];
    message["result"] = {};
  });

/** Vectors that open a second stream. */
const SECOND = names("endpoint-new", "endpoint-first", "initialize", "revision-unknown", "streams-apart");

/** Changes the endpoint event of a token's second stream. `first` is that of its first stream. */
const changeSecondEndpoint =
  (change: (event: Event, first: string) => readonly string[] | string): Wrap => (next) => {
    const firsts = new Map<string | null, string>();
    return changeEvents([STREAM], (event, request) => {
      if (!isEndpoint(event)) return toEventText(event);
      const token = request.headers.get("authorization");
      const first = firsts.get(token);
      if (first !== undefined) return change(event, first);
      firsts.set(token, toEventText(event));
      return toEventText(event);
    })(next);
  };

export const MCP_SSE: readonly Mutant[] = [
  {
    name: "mcp/sse-greeting",
    fault: "Sends another event before the endpoint event on a caller's second stream",
    wrap: changeSecondEndpoint((event) => ["event: welcome\ndata: hello", toEventText(event)]),
    killedBy: names("endpoint-first"),
    mayFail: { "They read the endpoint from the first event of a second stream": SECOND },
  },
  {
    name: "mcp/sse-one-endpoint",
    fault: "Uses one endpoint URI for all streams of a caller",
    wrap: changeSecondEndpoint((_, first) => first),
    killedBy: names("endpoint-new"),
    mayFail: { "Their responses arrive on another stream": SECOND },
  },
  {
    name: "mcp/sse-revision-newest",
    fault: "Agrees to another protocol version than this transport's",
    wrap: changeServerMessage(({ result }) => {
      if (isObject(result) && "protocolVersion" in result) result["protocolVersion"] = "2025-11-25";
    }),
    killedBy: names("initialize"),
  },
  {
    name: "mcp/sse-revision-echoed",
    fault: "Agrees to every protocol version",
    wrap: changeServerMessage((message) => {
      const result = message["result"];
      const isMatch = message["id"] === 5 && isObject(result) && result["protocolVersion"] !== "2024-11-05";
      if (isMatch) result["protocolVersion"] = "2001-01-01";
    }),
    killedBy: names("revision-unknown"),
  },
  {
    name: "mcp/sse-other-events",
    fault: "Sends messages as events with another name",
    wrap: changeEvents(
      [STREAM],
      (event) => event.lines.map((line) => line === "event: message" ? "event: response" : line).join("\n"),
    ),
    killedBy: names("ping", "initialize", "unknown-method"),
    mayFail: { "They read messages": names("") },
  },
  {
    name: "mcp/sse-id-as-number",
    fault: "Returns ids made of digits as numbers",
    wrap: changeServerMessage((message) => {
      if (/^\d+$/.test(String(message["id"]))) message["id"] = Number(message["id"]);
    }),
    killedBy: names("id-text"),
  },
  {
    name: "mcp/sse-id-falsy-lost",
    fault: "Treats the id 0 as missing",
    wrap: changeServerMessage((message) => {
      if ("id" in message) message["id"] ||= null;
    }),
    killedBy: names("id-zero"),
  },
  {
    name: "mcp/sse-unknown-method-accepted",
    fault: "Returns a result for unknown methods",
    wrap: replaceErrors(({ code }) => code === -32601),
    killedBy: names("unknown-method"),
  },
  {
    name: "mcp/sse-invalid-params-accepted",
    fault: "Returns results for invalid params",
    wrap: replaceErrors(({ code }) => code === -32602),
    killedBy: names("unknown-tool", "cursor", "unknown-prompt", "unknown-level"),
  },
  {
    name: "mcp/sse-unknown-resource-accepted",
    fault: "Returns a result for unknown resources",
    wrap: replaceErrors(({ code }) => code === -32002),
    killedBy: names("unknown-resource"),
  },
  {
    name: "mcp/sse-notifications-answered",
    fault: "Answers unknown notifications",
    wrap: changeEachMessage(
      MESSAGES,
      (call) =>
        isNotification(call) && /conformance/.test(String(call["method"])) ? { ...call, id: "none" } : call,
    ),
    killedBy: names("notification"),
  },
  {
    name: "mcp/sse-stops-at-invalid-json",
    fault: "Stops answering after a body that is not JSON",
    wrap: stopAfter((sent) => sent === undefined),
    killedBy: names("not-json"),
  },
  {
    name: "mcp/sse-stops-at-unknown-cancellation",
    fault: "Stops answering after a cancellation of an unknown request",
    wrap: stopAfter((sent) =>
      isObject(sent) && sent["method"] === "notifications/cancelled" &&
      Object(sent["params"]).requestId === "conformance-no-such-request"
    ),
    killedBy: names("cancel-unknown"),
  },
  {
    name: "mcp/sse-endpoint-by-prefix",
    fault: "Compares only the beginning of the endpoint URI",
    wrap: changeRequests((request) => {
      const url = new URL(request.url);
      if (!sessionOf(request).endsWith("x")) return request;
      url.searchParams.set("session", sessionOf(request).slice(0, -1));
      return new Request(url, request);
    }),
    killedBy: names("address-altered"),
  },
  {
    name: "mcp/sse-to-all",
    fault: "Sends each message on all streams",
    wrap: (next) => {
      const controllers = new Set<ReadableStreamDefaultController<Uint8Array>>();
      const encoder = new TextEncoder();
      const streams = changeEvents([STREAM], (event) => {
        if (isEndpoint(event)) return toEventText(event);
        for (const each of controllers) each.enqueue(encoder.encode(`${toEventText(event)}\n\n`));
        return ": sent";
      })(next);
      return async (request) => {
        const answer = await streams(request);
        return pathOf(request) === STREAM && answer.ok ? mergeStreams(answer, controllers) : answer;
      };
    },
    killedBy: names("streams-apart"),
    mayFail: { "Responses to others arrive on their stream": names("") },
    preventsSetup: "Responses to others arrive on their stream",
  },
  {
    name: "mcp/sse-origin-unchecked",
    fault: "Accepts every Origin",
    wrap: changeRequests((request) => withRequestHeaders(request, { origin: undefined })),
    killedBy: names("origin-stream", "origin-message"),
  },
  {
    name: "mcp/sse-token-optional",
    fault: "Accepts requests without a token",
    wrap: withToken(async (request, next) =>
      request.headers.has("authorization") ? undefined : await fetchToken(next, request.url)
    ),
    killedBy: names("no-token-stream", "no-token-message"),
  },
  {
    name: "mcp/sse-any-caller",
    fault: "Accepts messages of any caller for any stream",
    wrap: withToken(async (request, next) =>
      pathOf(request) === MESSAGES && request.headers.has("authorization")
        ? await fetchToken(next, request.url)
        : undefined
    ),
    killedBy: names("other-caller"),
  },
  {
    name: "mcp/sse-cancellation-ignored",
    fault: "Accepts cancellations and continues the request",
    wrap: (next) => async (request) => {
      const sent = pathOf(request) === MESSAGES ? readJson(await request.clone().text()) : undefined;
      const isCancellation = isObject(sent) && sent["method"] === "notifications/cancelled";
      return isCancellation ? new Response(null, { status: 202 }) : await next(request);
    },
    killedBy: names("cancelled"),
  },
  {
    name: "mcp/sse-progress-token-invented",
    fault: "Reports progress with a token that the client did not send",
    wrap: changeServerMessage(({ params }) => {
      if (isObject(params) && "progressToken" in params) params["progressToken"] = 1;
    }),
    killedBy: names("progress"),
  },
];

/** Merges the response's stream with events that others enqueue. */
function mergeStreams(
  answer: Response,
  controllers: Set<ReadableStreamDefaultController<Uint8Array>>,
): Response {
  const reader = answer.body!.getReader();
  let own: ReadableStreamDefaultController<Uint8Array>;
  const leave = (): void => void controllers.delete(own);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      own = controller;
      controllers.add(controller);
      (async () => {
        for (let read = await reader.read(); !read.done; read = await reader.read()) {
          controller.enqueue(read.value);
        }
      })().catch(() => {}).finally(leave);
    },
    async cancel() {
      leave();
      await reader.cancel();
    },
  });
  return new Response(body, { status: answer.status, headers: answer.headers });
}
