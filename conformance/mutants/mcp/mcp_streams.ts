/**
 * Faults of streams: progress, logs, cancellation of what runs, and what comes again after a lost stream.
 *
 * @module
 */
import { MCP } from "./mcp_doors.ts";
import { forward, posted } from "./mcp_messages.ts";
import { at } from "../message.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { faultyStreams, faultyWords, textOf } from "../jsonrpc/rpc_events.ts";
import { faultyCalls, isObject, type Members, readJson } from "../jsonrpc/rpc_message.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `mcp/${id}`);

const SESSION = "mcp-session-id";
const LAST = "last-event-id";
const STREAM = { "content-type": "text/event-stream" };

const notification = (method: string, params: Members): string =>
  `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", method, params })}`;

/** Changes the token of progress. */
const faultyTokens = (change: (token: unknown) => unknown): Wrap =>
  faultyWords([MCP], ({ method, params }) => {
    if (method === "notifications/progress" && isObject(params)) {
      params["progressToken"] = change(params["progressToken"]);
    }
  });

/** Says something before each result that a stream carries, or that would come as JSON. */
const chatty = (tool: string, text: string): Wrap => (next) => {
  const streams = faultyStreams(
    [MCP],
    (event) => event.json && "result" in event.json ? [text, textOf(event)] : textOf(event),
  )(next);
  return at(MCP, () => async (request) => {
    const sent = request.method === "POST" ? readJson(await request.clone().text()) : undefined;
    const isAsked = isObject(sent) && isObject(sent["params"]) && sent["params"]["name"] === tool;
    if (!isAsked) return await next(request);
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

interface Kept {
  readonly id: string;
  readonly session: string | null;
  readonly text: string;
}

/** Keeps the events of all streams, and answers Last-Event-ID by what `pick` takes of those after it. */
const resume = (pick: (kept: Kept, last: Kept, session: string | null) => boolean): Wrap => (next) => {
  const all: Kept[] = [];
  const streams = faultyStreams([MCP], (event, request) => {
    const id = event.lines.find((line) => line.startsWith("id:"))?.slice(3).trim();
    const text = textOf(event);
    if (id !== undefined) all.push({ id, text, session: request.headers.get(SESSION) });
    return text;
  })(next);
  return at(MCP, () => async (request) => {
    const at = all.findIndex(({ id }) => id === request.headers.get(LAST));
    if (request.method !== "GET" || at < 0) return await streams(request);
    const again = all.slice(at + 1).filter((kept) => pick(kept, all[at]!, request.headers.get(SESSION)));
    return new Response(again.map(({ text }) => `${text}\n\n`).join(""), { headers: STREAM });
  })(next);
};

const streamOf = ({ id }: Kept): string => id.split(".")[0]!;

export const MCP_STREAMS: readonly Mutant[] = [
  {
    name: "mcp/token-as-text",
    fault: "Gives tokens of progress back as texts",
    wrap: faultyTokens(String),
    breaks: names("streams/progress-token-number", "streams/progress-token-zero", "modern_methods/progress"),
  },
  {
    name: "mcp/token-of-its-own",
    fault: "Tells progress with a token that nobody gave",
    wrap: faultyTokens(() => "progress-1"),
    breaks: names(
      "streams/progress-token-text",
      "streams/progress-token-number",
      "streams/progress-token-zero",
      "modern_methods/progress",
    ),
    mayBreak: { "They look for the progress of their own call": names("streams/resumed") },
  },
  {
    name: "mcp/progress-unasked",
    fault: "Tells progress that nobody asked for",
    wrap: chatty(
      "test_tool_with_progress",
      notification("notifications/progress", { progressToken: 1, progress: 1 }),
    ),
    breaks: names("streams/progress-unasked", "modern_methods/progress-unasked"),
    mayBreak: { "They have progress, too": names("streams/", "modern_methods/progress") },
  },
  {
    name: "mcp/logs-unasked",
    fault: "Sends messages of the log whatever level was asked for",
    wrap: chatty(
      "test_tool_with_logging",
      notification("notifications/message", { level: "info", data: "a" }),
    ),
    breaks: names("streams/level-above", "modern_methods/level-unasked", "modern_methods/level-above"),
  },
  {
    name: "mcp/cancellation-unread",
    fault: "Accepts cancellations, and goes on",
    wrap: posted((sent) => isCancellation(sent) ? new Response(null, { status: 202 }) : undefined),
    breaks: names("streams/cancelled"),
    mayBreak: { "There is no such notification": names("modern/notification") },
  },
  {
    name: "mcp/cancellation-by-digits",
    fault: "Takes the text of a number for the number when it cancels",
    wrap: faultyCalls(
      MCP,
      (call) =>
        isCancellation(call) && call.params["requestId"] === "2"
          ? { ...call, params: { requestId: 2 } }
          : call,
    ),
    breaks: names("streams/cancelled-as-text"),
  },
  {
    name: "mcp/cancellation-everywhere",
    fault: "Cancels the requests of that id in every session",
    wrap: (next) => {
      const sessions = new Set<string>();
      return posted(async (sent, request, on) => {
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
    breaks: names("streams/cancelled-by-another-session"),
    mayBreak: { "Their requests have the same id": names("streams/", "modern/notification", "session/") },
  },
  {
    name: "mcp/lost-events-stay-lost",
    fault: "Opens an empty stream for who comes back",
    wrap: resume(() => false),
    breaks: names("streams/resumed", "streams/resumed-apart"),
  },
  {
    name: "mcp/all-streams-come-again",
    fault: "Sends again what was sent on any stream of the session",
    wrap: resume((kept, _, session) => kept.session === session),
    breaks: names("streams/resumed-apart"),
    mayBreak: { "Their stream has not ended when they come back": names("streams/resumed") },
  },
  {
    name: "mcp/sessions-come-again",
    fault: "Sends again what was sent in another session",
    wrap: resume((kept, last) => streamOf(kept) === streamOf(last)),
    breaks: names("streams/resumed-by-another-session"),
    mayBreak: { "Their stream has not ended when they come back": names("streams/resumed") },
  },
  {
    name: "mcp/event-ids-by-stream",
    fault: "Counts events from one on each stream, and finds none of them again",
    wrap: (next) => {
      const counts = new Map<Request, number>();
      const streams = faultyStreams([MCP], (event, request) => {
        const count = (counts.get(request) ?? 0) + 1;
        counts.set(request, count);
        return event.lines.map((line) => line.startsWith("id:") ? `id: ${count}` : line).join("\n");
      })(next);
      return at(
        MCP,
        () => async (request) =>
          /^\d+$/.test(request.headers.get(LAST) ?? "")
            ? new Response(": nothing\n\n", { headers: STREAM })
            : await streams(request),
      )(next);
    },
    breaks: names("streams/event-ids"),
    mayBreak: { "They come back with an id that is none": names("streams/resumed") },
  },
  {
    name: "mcp/streams-end-at-once",
    fault: "Ends the stream of GET as soon as it is open",
    wrap: at(MCP, (next) => async (request) => {
      const answer = await next(request);
      if (request.method !== "GET" || !answer.ok) return answer;
      await answer.body?.cancel();
      return new Response(": ended\n\n", { headers: STREAM });
    }),
    breaks: names("streams/list-changed", "streams/resumed"),
    mayBreak: { "They read the stream of GET": names("streams/resumed") },
  },
  {
    name: "mcp/get-as-json",
    fault: "Answers GET with JSON",
    wrap: at(MCP, (next) => async (request) => {
      const answer = await next(request);
      if (request.method !== "GET" || answer.status !== 200) return answer;
      await answer.body?.cancel();
      return Response.json({});
    }),
    breaks: names("session/get", "http_2025_03_26/get", "http_2025_06_18/get"),
    mayBreak: { "They read the stream of GET": names("streams/") },
  },
  {
    name: "mcp/get-for-nobody",
    fault: "Opens a stream without a session",
    wrap: at(MCP, (next) => async (request) => {
      const answer = await next(request);
      const isNobodys = request.method === "GET" && !request.headers.has(SESSION) && answer.status === 405;
      return isNobodys ? new Response(": open\n\n", { headers: STREAM }) : answer;
    }),
    breaks: names("session/get-without-session", "modern/get"),
    mayBreak: { "It opens without a token": names("authorization/") },
  },
];
