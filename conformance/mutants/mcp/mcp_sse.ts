/**
 * Faults of HTTP with server-sent events, the transport of 2024-11-05.
 *
 * @module
 */
import { grant } from "./mcp_doors.ts";
import { pathOf, withRequestFields } from "../message.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";
import { type Event, faultyStreams, textOf, withJson } from "../jsonrpc/rpc_events.ts";
import { faultyCalls, isNotification, isObject, type Members, readJson } from "../jsonrpc/rpc_message.ts";

const STREAM = "/mcp/sse";
const MESSAGES = "/mcp/messages";
const PATHS: readonly string[] = [STREAM, MESSAGES];

const names = (...ids: string[]): string[] => ids.map((id) => `mcp/sse/${id}`);

/** Changes messages of the server. */
const faultyMessage = (change: (message: Members) => void): Wrap =>
  faultyStreams([STREAM], (event) => {
    if (!event.json) return textOf(event);
    change(event.json);
    return withJson(event, event.json);
  });

const isEndpoint = ({ lines }: Event): boolean => lines.includes("event: endpoint");

/** Changes requests to either path. */
const asked = (change: (request: Request) => Request | Promise<Request>): Wrap => (next) => async (request) =>
  await next(PATHS.includes(pathOf(request)) ? await change(request) : request);

const sessionOf = (request: Request): string => new URL(request.url).searchParams.get("session") ?? "";

/** After a message that `when` picks, nothing of its stream is answered. */
const diesOf = (when: (sent: unknown) => boolean): Wrap => (next) => {
  const dead = new Set<string>();
  return async (request) => {
    if (pathOf(request) !== MESSAGES) return await next(request);
    if (dead.has(sessionOf(request))) return new Response(null, { status: 404 });
    if (when(readJson(await request.clone().text()))) dead.add(sessionOf(request));
    return await next(request);
  };
};

/** Has the token of `tokenOf` on requests, where there is one. */
const withToken =
  (tokenOf: (request: Request, next: Handler) => Promise<string | undefined>): Wrap =>
  (next) =>
  async (request) => {
    if (!PATHS.includes(pathOf(request))) return await next(request);
    const token = await tokenOf(request, next);
    return await next(token === undefined ? request : withRequestFields(request, { authorization: token }));
  };

/** Errors of a code, or of a method, as results. */
const forgive = (isForgiven: (error: Members) => boolean): Wrap =>
  faultyMessage((message) => {
    if (!isObject(message["error"]) || !isForgiven(message["error"])) return;
    delete message["error"];
    message["result"] = {};
  });

/** Vectors that open a second stream. */
const SECOND = names("endpoint-new", "endpoint-first", "initialize", "revision-unknown", "streams-apart");

/** Changes the first event of the second stream with one token. `first` is what the other began with. */
const onSecond = (change: (event: Event, first: string) => readonly string[] | string): Wrap => (next) => {
  const firsts = new Map<string | null, string>();
  return faultyStreams([STREAM], (event, request) => {
    if (!isEndpoint(event)) return textOf(event);
    const token = request.headers.get("authorization");
    const first = firsts.get(token);
    if (first !== undefined) return change(event, first);
    firsts.set(token, textOf(event));
    return textOf(event);
  })(next);
};

export const MCP_SSE: readonly Mutant[] = [
  {
    name: "mcp/sse-greeting",
    fault: "Begins the second stream of a caller with something else than the address for messages",
    wrap: onSecond((event) => ["event: welcome\ndata: hello", textOf(event)]),
    breaks: names("endpoint-first"),
    mayBreak: { "They take the address from the first event of a second stream": SECOND },
  },
  {
    name: "mcp/sse-one-address",
    fault: "Has one address for the messages of all streams of a caller",
    wrap: onSecond((_, first) => first),
    breaks: names("endpoint-new"),
    mayBreak: { "What they ask is answered on another stream": SECOND },
  },
  {
    name: "mcp/sse-revision-newest",
    fault: "Agrees to another revision than the one of this transport",
    wrap: faultyMessage(({ result }) => {
      if (isObject(result) && "protocolVersion" in result) result["protocolVersion"] = "2025-11-25";
    }),
    breaks: names("initialize"),
  },
  {
    name: "mcp/sse-revision-echoed",
    fault: "Agrees to every revision",
    wrap: faultyMessage((message) => {
      const result = message["result"];
      const isAsked = message["id"] === 5 && isObject(result) && result["protocolVersion"] !== "2024-11-05";
      if (isAsked) result["protocolVersion"] = "2001-01-01";
    }),
    breaks: names("revision-unknown"),
  },
  {
    name: "mcp/sse-other-events",
    fault: "Sends messages as events of another name",
    wrap: faultyStreams(
      [STREAM],
      (event) => event.lines.map((line) => line === "event: message" ? "event: response" : line).join("\n"),
    ),
    breaks: names("ping", "initialize", "unknown-method"),
    mayBreak: { "They read messages": names("") },
  },
  {
    name: "mcp/sse-id-as-number",
    fault: "Gives digits in ids back as numbers",
    wrap: faultyMessage((message) => {
      if (/^\d+$/.test(String(message["id"]))) message["id"] = Number(message["id"]);
    }),
    breaks: names("id-text"),
  },
  {
    name: "mcp/sse-id-lost-where-falsy",
    fault: "Takes 0 for no id",
    wrap: faultyMessage((message) => {
      if ("id" in message) message["id"] ||= null;
    }),
    breaks: names("id-zero"),
  },
  {
    name: "mcp/sse-unknown-method-forgiven",
    fault: "Has a result for methods that there are not",
    wrap: forgive(({ code }) => code === -32601),
    breaks: names("unknown-method"),
  },
  {
    name: "mcp/sse-params-forgiven",
    fault: "Has results where parameters are wrong",
    wrap: forgive(({ code }) => code === -32602),
    breaks: names("unknown-tool", "cursor", "unknown-prompt", "unknown-level"),
  },
  {
    name: "mcp/sse-resources-forgiven",
    fault: "Has a result for resources that there are not",
    wrap: forgive(({ code }) => code === -32002),
    breaks: names("unknown-resource"),
  },
  {
    name: "mcp/sse-notifications-answered",
    fault: "Answers notifications that there are not",
    wrap: faultyCalls(
      MESSAGES,
      (call) =>
        isNotification(call) && /conformance/.test(String(call["method"])) ? { ...call, id: "none" } : call,
    ),
    breaks: names("notification"),
  },
  {
    name: "mcp/sse-ends-at-not-json",
    fault: "Answers nothing after text that is not JSON",
    wrap: diesOf((sent) => sent === undefined),
    breaks: names("not-json"),
  },
  {
    name: "mcp/sse-ends-at-cancellation",
    fault: "Answers nothing after a cancellation of what there is not",
    wrap: diesOf((sent) =>
      isObject(sent) && sent["method"] === "notifications/cancelled" &&
      Object(sent["params"]).requestId === "conformance-no-such-request"
    ),
    breaks: names("cancel-unknown"),
  },
  {
    name: "mcp/sse-address-by-beginning",
    fault: "Reads the beginning of an address",
    wrap: asked((request) => {
      const url = new URL(request.url);
      if (!sessionOf(request).endsWith("x")) return request;
      url.searchParams.set("session", sessionOf(request).slice(0, -1));
      return new Request(url, request);
    }),
    breaks: names("address-altered"),
  },
  {
    name: "mcp/sse-to-all",
    fault: "Sends each message on all streams",
    wrap: (next) => {
      const controllers = new Set<ReadableStreamDefaultController<Uint8Array>>();
      const encoder = new TextEncoder();
      const streams = faultyStreams([STREAM], (event) => {
        if (isEndpoint(event)) return textOf(event);
        for (const each of controllers) each.enqueue(encoder.encode(`${textOf(event)}\n\n`));
        return ": sent";
      })(next);
      return async (request) => {
        const answer = await streams(request);
        return pathOf(request) === STREAM && answer.ok ? joined(answer, controllers) : answer;
      };
    },
    breaks: names("streams-apart"),
    mayBreak: { "What others are answered comes on their stream": names("") },
    stops: "What others are answered comes on their stream",
  },
  {
    name: "mcp/sse-origin-unchecked",
    fault: "Lets every origin in",
    wrap: asked((request) => withRequestFields(request, { origin: undefined })),
    breaks: names("origin-stream", "origin-message"),
  },
  {
    name: "mcp/sse-no-token-needed",
    fault: "Lets everybody in who has no token",
    wrap: withToken(async (request, next) =>
      request.headers.has("authorization") ? undefined : await grant(next, request.url)
    ),
    breaks: names("no-token-stream", "no-token-message"),
  },
  {
    name: "mcp/sse-every-caller",
    fault: "Takes messages of every caller for every stream",
    wrap: withToken(async (request, next) =>
      pathOf(request) === MESSAGES && request.headers.has("authorization")
        ? await grant(next, request.url)
        : undefined
    ),
    breaks: names("other-caller"),
  },
  {
    name: "mcp/sse-cancellation-unread",
    fault: "Accepts cancellations, and goes on",
    wrap: (next) => async (request) => {
      const sent = pathOf(request) === MESSAGES ? readJson(await request.clone().text()) : undefined;
      const isCancellation = isObject(sent) && sent["method"] === "notifications/cancelled";
      return isCancellation ? new Response(null, { status: 202 }) : await next(request);
    },
    breaks: names("cancelled"),
  },
  {
    name: "mcp/sse-token-of-its-own",
    fault: "Tells progress with a token that nobody gave",
    wrap: faultyMessage(({ params }) => {
      if (isObject(params) && "progressToken" in params) params["progressToken"] = 1;
    }),
    breaks: names("progress"),
  },
];

/** The stream of an answer, and what else is put into it. */
function joined(
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
