/**
 * Faults in streams: progress, logs, cancellation, and resuming a lost stream.
 *
 * @module
 */
import { MCP } from "./mcp_access.ts";
import { answerPosts, forward } from "./mcp_messages.ts";
import { onPath } from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { changeEvents, changeServerMessages, toEventText } from "../jsonrpc/event_faults.ts";
import { changeEachMessage, isObject, type Members, readJson } from "../jsonrpc/message_faults.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `mcp/${id}`);

const SESSION = "mcp-session-id";
const LAST = "last-event-id";
const STREAM = { "content-type": "text/event-stream" };

const notification = (method: string, params: Members): string =>
  `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", method, params })}`;

/** Changes progress tokens. */
const changeProgressTokens = (change: (token: unknown) => unknown): Wrap =>
  changeServerMessages([MCP], ({ method, params }) => {
    if (method === "notifications/progress" && isObject(params)) {
      params["progressToken"] = change(params["progressToken"]);
    }
  });

/** Sends an event before each result of a tool, and turns JSON responses into streams. */
const sendBeforeResult = (tool: string, text: string): Wrap => (next) => {
  const streams = changeEvents(
    [MCP],
    (event) => event.json && "result" in event.json ? [text, toEventText(event)] : toEventText(event),
  )(next);
  return onPath(MCP, () => async (request) => {
    const sent = request.method === "POST" ? readJson(await request.clone().text()) : undefined;
    const isMatch = isObject(sent) && isObject(sent["params"]) && sent["params"]["name"] === tool;
    if (!isMatch) return await next(request);
    const answer = await streams(request);
    if (!answer.headers.get("content-type")?.startsWith("application/json")) return answer;
    const headers = new Headers(answer.headers);
    headers.set("content-type", "text/event-stream");
    headers.delete("content-length");
    return new Response(`${text}\n\nevent: message\ndata: ${await answer.text()}\n\n`, { headers });
  })(next);
};

const isCancellation = (sent: unknown): sent is { method: string; params: Members } =>
  isObject(sent) && sent["method"] === "notifications/cancelled" && isObject(sent["params"]);

interface StoredEvent {
  readonly id: string;
  readonly session: string | null;
  readonly text: string;
}

/** Records the events of all streams, and answers Last-Event-ID with the later ones that `pick` selects. */
const replayEvents =
  (pick: (event: StoredEvent, last: StoredEvent, session: string | null) => boolean): Wrap => (next) => {
    const all: StoredEvent[] = [];
    const streams = changeEvents([MCP], (event, request) => {
      const id = event.lines.find((line) => line.startsWith("id:"))?.slice(3).trim();
      const text = toEventText(event);
      if (id !== undefined) all.push({ id, text, session: request.headers.get(SESSION) });
      return text;
    })(next);
    return onPath(MCP, () => async (request) => {
      const at = all.findIndex(({ id }) => id === request.headers.get(LAST));
      if (request.method !== "GET" || at < 0) return await streams(request);
      const replayed = all.slice(at + 1).filter((event) =>
        pick(event, all[at]!, request.headers.get(SESSION))
      );
      return new Response(replayed.map(({ text }) => `${text}\n\n`).join(""), { headers: STREAM });
    })(next);
  };

const streamOf = ({ id }: StoredEvent): string => id.split(".")[0]!;

export const MCP_STREAMS: readonly Mutant[] = [
  {
    name: "mcp/progress-token-as-string",
    fault: "Returns progress tokens as strings",
    wrap: changeProgressTokens(String),
    killedBy: names(
      "streams/progress-token-number",
      "streams/progress-token-zero",
      "modern_methods/progress",
    ),
  },
  {
    name: "mcp/progress-token-invented",
    fault: "Reports progress with a token that the client did not send",
    wrap: changeProgressTokens(() => "progress-1"),
    killedBy: names(
      "streams/progress-token-text",
      "streams/progress-token-number",
      "streams/progress-token-zero",
      "modern_methods/progress",
    ),
    mayFail: { "They wait for the progress of their own call": names("streams/resumed") },
  },
  {
    name: "mcp/progress-unrequested",
    fault: "Reports progress to clients that did not request it",
    wrap: sendBeforeResult(
      "test_tool_with_progress",
      notification("notifications/progress", { progressToken: 1, progress: 1 }),
    ),
    killedBy: names("streams/progress-unasked", "modern_methods/progress-unasked"),
    mayFail: { "They expect progress": names("streams/", "modern_methods/progress") },
  },
  {
    name: "mcp/logs-unrequested",
    fault: "Sends log messages whatever level was requested",
    wrap: sendBeforeResult(
      "test_tool_with_logging",
      notification("notifications/message", { level: "info", data: "a" }),
    ),
    killedBy: names("streams/level-above", "modern_methods/level-unasked", "modern_methods/level-above"),
  },
  {
    name: "mcp/cancellation-ignored",
    fault: "Accepts cancellations and continues the request",
    wrap: answerPosts((sent) => isCancellation(sent) ? new Response(null, { status: 202 }) : undefined),
    killedBy: names("streams/cancelled"),
    mayFail: { "Its revision does not have that notification": names("modern/notification") },
  },
  {
    name: "mcp/cancellation-converts-id",
    fault: 'Treats the string "2" as the number 2 in cancellations',
    wrap: changeEachMessage(
      MCP,
      (call) =>
        isCancellation(call) && call.params["requestId"] === "2"
          ? { ...call, params: { requestId: 2 } }
          : call,
    ),
    killedBy: names("streams/cancelled-as-text"),
  },
  {
    name: "mcp/cancellation-in-all-sessions",
    fault: "Cancels the requests with that id in every session",
    wrap: (next) => {
      const sessions = new Set<string>();
      return answerPosts(async (sent, request, on) => {
        const session = request.headers.get(SESSION);
        if (session !== null) sessions.add(session);
        if (!isCancellation(sent)) return undefined;
        for (const each of sessions) {
          const headers = new Headers(request.headers);
          headers.set(SESSION, each);
          await forward(on, new Request(request.url, { method: "POST", headers }), sent);
        }
        return new Response(null, { status: 202 });
      })(next);
    },
    killedBy: names("streams/cancelled-by-another-session"),
    mayFail: { "Their requests have the same id": names("streams/", "modern/notification", "session/") },
  },
  {
    name: "mcp/resume-without-events",
    fault: "Resumes with an empty stream",
    wrap: replayEvents(() => false),
    killedBy: names("streams/resumed", "streams/resumed-apart"),
  },
  {
    name: "mcp/resume-replays-all-streams",
    fault: "Replays the events of every stream of the session",
    wrap: replayEvents((event, _, session) => event.session === session),
    killedBy: names("streams/resumed-apart"),
    mayFail: { "Their stream has not ended when they resume": names("streams/resumed") },
  },
  {
    name: "mcp/resume-replays-other-sessions",
    fault: "Replays the events of another session",
    wrap: replayEvents((event, last) => streamOf(event) === streamOf(last)),
    killedBy: names("streams/resumed-by-another-session"),
    mayFail: { "Their stream has not ended when they resume": names("streams/resumed") },
  },
  {
    name: "mcp/event-ids-per-stream",
    fault: "Numbers events from one on each stream and cannot resume any",
    wrap: (next) => {
      const counts = new Map<Request, number>();
      const streams = changeEvents([MCP], (event, request) => {
        const count = (counts.get(request) ?? 0) + 1;
        counts.set(request, count);
        return event.lines.map((line) => line.startsWith("id:") ? `id: ${count}` : line).join("\n");
      })(next);
      return onPath(
        MCP,
        () => async (request) =>
          /^\d+$/.test(request.headers.get(LAST) ?? "")
            ? new Response(": nothing\n\n", { headers: STREAM })
            : await streams(request),
      )(next);
    },
    killedBy: names("streams/event-ids"),
    mayFail: { "They resume with an unknown event id": names("streams/resumed") },
  },
  {
    name: "mcp/stream-left-open",
    fault: "Answers a ping with an event stream that it does not end",
    wrap: answerPosts(async (sent, request, next) => {
      if (!isObject(sent) || sent["method"] !== "ping") return undefined;
      const answer = await next(request);
      if (answer.status !== 200) return answer;
      const event = new TextEncoder().encode(`event: message\ndata: ${await answer.text()}\n\n`);
      return new Response(new ReadableStream({ start: (stream) => stream.enqueue(event) }), {
        headers: STREAM,
      });
    }),
    killedBy: names("http/stream-ended"),
  },
  {
    name: "mcp/streams-end-at-once",
    fault: "Ends the GET stream as soon as it is open",
    wrap: onPath(MCP, (next) => async (request) => {
      const answer = await next(request);
      if (request.method !== "GET" || !answer.ok) return answer;
      await answer.body?.cancel();
      return new Response(": ended\n\n", { headers: STREAM });
    }),
    killedBy: names("streams/list-changed", "streams/resumed"),
    mayFail: { "They read the stream of GET": names("streams/resumed") },
  },
  {
    name: "mcp/get-as-json",
    fault: "Answers GET with JSON",
    wrap: onPath(MCP, (next) => async (request) => {
      const answer = await next(request);
      if (request.method !== "GET" || answer.status !== 200) return answer;
      await answer.body?.cancel();
      return Response.json({});
    }),
    killedBy: names("session/get", "http_2025_03_26/get", "http_2025_06_18/get"),
    mayFail: { "They read the stream of GET": names("streams/") },
  },
  {
    name: "mcp/get-without-session",
    fault: "Opens a GET stream without a session",
    wrap: onPath(MCP, (next) => async (request) => {
      const answer = await next(request);
      const isNobodys = request.method === "GET" && !request.headers.has(SESSION) && answer.status === 405;
      return isNobodys ? new Response(": open\n\n", { headers: STREAM }) : answer;
    }),
    killedBy: names("session/get-without-session", "modern/get"),
    mayFail: { "They open a stream without a token": names("authorization/") },
  },
];
