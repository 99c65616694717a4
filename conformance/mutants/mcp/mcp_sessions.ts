/**
 * Faults of MCP sessions and their handshake, and of what HTTP carries.
 *
 * @module
 */
import { MCP } from "./mcp_doors.ts";
import { faultyAnswers, faultyRequests, pathOf, withFields, withRequestFields } from "../message.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { faultyCalls, faultyMessages, faultyResponses, isObject, readJson } from "../jsonrpc/rpc_message.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `mcp/${id}`);

const SESSION = "mcp-session-id";
const VERSION = "mcp-protocol-version";

/** Other ids of sessions outside than inside. */
const renamed = (outward: (id: string) => string, inward: (id: string) => string): Wrap => (next) => {
  const requests = faultyRequests(MCP, (request) => {
    const id = request.headers.get(SESSION);
    return id === null ? request : withRequestFields(request, { [SESSION]: inward(id) });
  });
  const answers = faultyAnswers(MCP, (answer) => {
    const id = answer.headers.get(SESSION);
    return id === null ? answer : withFields(answer, { [SESSION]: outward(id) });
  });
  return requests(answers(next));
};

/** Changes what revision a handshake agrees to. */
const agree = (version: (asked: unknown) => unknown): Wrap =>
  faultyResponses(MCP, (value, sent) => {
    if (isObject(sent) && sent["method"] === "initialize" && isObject(sent["params"]) && isObject(value)) {
      const result = value["result"];
      if (isObject(result)) result["protocolVersion"] = version(sent["params"]["protocolVersion"]);
    }
    return value;
  });

export const MCP_SESSIONS: readonly Mutant[] = [
  {
    name: "mcp/revision-echoed",
    fault: "Agrees to every revision",
    wrap: agree((asked) => asked),
    breaks: names(
      "initialize/future",
      "initialize/past",
      "initialize/word",
      "initialize/empty",
      "initialize/future-latest",
    ),
  },
  {
    name: "mcp/revision-newest",
    fault: "Has the newest revision for every client",
    wrap: agree(() => "2025-11-25"),
    breaks: names(
      "initialize/revision-2024-11-05",
      "initialize/revision-2025-03-26",
      "initialize/revision-2025-06-18",
    ),
  },
  {
    name: "mcp/revision-oldest",
    fault: "Offers the oldest revision where it has not the one that is asked for",
    wrap: agree((asked) => /^202[45]-/.test(String(asked)) ? asked : "2024-11-05"),
    breaks: names("initialize/future-latest"),
  },
  {
    name: "mcp/handshake-unread",
    fault: "Makes a session whatever a handshake says",
    wrap: faultyCalls(MCP, (call) =>
      call["method"] === "initialize" &&
        !(isObject(call["params"]) && typeof call["params"]["protocolVersion"] === "string")
        ? {
          ...call,
          params: {
            protocolVersion: "2025-11-25",
            capabilities: {},
            clientInfo: { name: "unknown", version: "0" },
          },
        }
        : call),
    breaks: names("initialize/no-params", "initialize/version-number"),
    mayBreak: {
      "Its params say no revision either, and those it gets do not describe the request": names(
        "modern/gone-initialize",
      ),
    },
  },
  {
    name: "mcp/session-one-id",
    fault: "Has one id for all sessions",
    wrap: (next) => {
      let last = "";
      return renamed((id) => (last = id, "the-only-session-there-is"), () => last)(next);
    },
    breaks: names("session/id-new"),
    mayBreak: { "What one vector does to the session shows in the others that use it": ["mcp/"] },
  },
  {
    name: "mcp/session-blank",
    fault: "Has blanks in ids of sessions",
    wrap: renamed((id) => `session ${id}`, (id) => id.replace(/^session /, "")),
    breaks: names(
      "session/id-visible",
      "http_2025_03_26/session-visible",
      "http_2025_06_18/session-visible",
    ),
  },
  {
    name: "mcp/session-brought",
    fault: "Lets the client choose the id of a session",
    wrap: (next) => async (request) => {
      const id = request.headers.get(SESSION);
      if (pathOf(request) !== MCP || request.method !== "POST" || id === null) return await next(request);
      const sent = readJson(await request.clone().text());
      const isHandshake = isObject(sent) && sent["method"] === "initialize" && !request.headers.has(VERSION);
      if (!isHandshake) return await next(request);
      return withFields(await next(withRequestFields(request, { [SESSION]: undefined })), { [SESSION]: id });
    },
    breaks: names(
      "session/id-brought",
      "http_2025_03_26/session-brought",
      "http_2025_06_18/session-brought",
    ),
  },
  {
    name: "mcp/session-short",
    fault: "Counts sessions instead of drawing their ids",
    wrap: (next) => {
      const ids: string[] = [];
      return renamed((id) => String(ids.push(id)), (id) => ids[Number(id) - 1] ?? id)(next);
    },
    breaks: names("session/id-new"),
    mayBreak: {
      "One character of a number changed may be the number of another session": names("session/altered"),
    },
  },
  {
    name: "mcp/session-any",
    fault: "Takes any id of a session for the last",
    wrap: (next) => {
      const ids = new Set<string>();
      let last = "";
      return renamed((id) => {
        ids.add(id);
        return last = id;
      }, (id) => ids.has(id) ? id : last)(next);
    },
    breaks: names(
      "session/unknown",
      "session/altered",
      "session/get-unknown-session",
      "http_2025_03_26/session-unknown",
      "http_2025_06_18/session-unknown",
    ),
    mayBreak: {
      "It has an id that there is not, too": names("session/delete-unknown"),
      "Vectors that run beside it have theirs ended for that id": names("session/"),
    },
  },
  {
    name: "mcp/session-never-ends",
    fault: "Says that a session has ended, and keeps it",
    wrap: (next) => async (request) =>
      pathOf(request) === MCP && request.method === "DELETE" && request.headers.has("authorization")
        ? new Response(null, { status: 204 })
        : await next(request),
    breaks: names(
      "session/ended",
      "http/version-unknown-delete",
      "http_2025_03_26/session-ended",
      "http_2025_06_18/session-ended",
      "session/delete-unknown",
      "session/delete-without-session",
      "session/get-ended",
      "session/notification-ended",
      "session/other-caller-delete",
    ),
    mayBreak: { "What they end is not there": names("modern/delete", "session/ended-twice") },
  },
  {
    name: "mcp/session-ends-all",
    fault: "Ends all sessions with one that has done nothing yet",
    wrap: (next) => {
      let known = new Set<string>();
      const used = new Set<string>();
      const gone = new Set<string>();
      return async (request) => {
        const id = request.headers.get(SESSION);
        if (id !== null && gone.has(id)) return new Response(null, { status: 404 });
        if (id !== null && request.method === "POST") used.add(id);
        const answer = await next(request);
        const given = answer.headers.get(SESSION);
        if (given !== null) known.add(given);
        // One that was used is ended by many vectors, which would end each other's before they have asked.
        if (request.method === "DELETE" && answer.ok && id !== null && !used.has(id)) {
          for (const each of known) gone.add(each);
          known = new Set();
        }
        return answer;
      };
    },
    breaks: names("session/ended-is-not-others"),
    mayBreak: { "Vectors end sessions, and so those of others that run beside them": ["mcp/"] },
  },
  {
    name: "mcp/version-field-unread",
    fault: "Does not read the revision in the header field of a session's request",
    wrap: faultyRequests(
      MCP,
      (request) =>
        request.headers.has(SESSION) && !/^20(24|25|26)-/.test(request.headers.get(VERSION) ?? "20")
          ? withRequestFields(request, { [VERSION]: undefined })
          : request,
    ),
    breaks: names(
      "http/version-unknown",
      "http/version-word",
      "http/version-unknown-get",
      "http/version-unknown-delete",
      "http_2025_06_18/version-unknown",
    ),
  },
  {
    name: "mcp/version-field-needed",
    fault: "Refuses a session's request without a revision in the header field",
    wrap: (next) => async (request) =>
      pathOf(request) === MCP && request.headers.has(SESSION) && !request.headers.has(VERSION)
        ? new Response(null, { status: 400 })
        : await next(request),
    breaks: names("http/version-missing"),
    mayBreak: {
      "Their sessions are of revisions without that field": names(
        "batch_2025_03_26/",
        "http_2025_03_26/",
        "older/",
      ),
    },
  },
  {
    name: "mcp/batches-still",
    fault: "Takes batches in revisions that have none",
    wrap: (next) => async (request) => {
      if (pathOf(request) !== MCP || request.method !== "POST" || !request.headers.has(VERSION)) {
        return await next(request);
      }
      const sent = readJson(await request.clone().text());
      if (!Array.isArray(sent)) return await next(request);
      const headers = new Headers(request.headers);
      headers.delete("content-length");
      const answers: unknown[] = [];
      for (const each of sent) {
        const body = JSON.stringify(each);
        const answer = await next(new Request(request.url, { method: "POST", headers, body }));
        if (answer.status === 200) answers.push(await answer.json());
      }
      return answers.length > 0 ? Response.json(answers) : new Response(null, { status: 202 });
    },
    breaks: names(
      "no_batch_2025_06_18/requests",
      "no_batch_2025_06_18/one-request",
      "no_batch_2025_06_18/notifications",
      "no_batch_2025_06_18/empty",
      "no_batch_2025_11_25/requests",
      "no_batch_2025_11_25/one-request",
      "no_batch_2025_11_25/notifications",
      "no_batch_2025_11_25/empty",
    ),
    mayBreak: { "Its revision has no batches either": names("modern/batch") },
  },
  {
    name: "mcp/old-jsonrpc",
    fault: "Takes messages of JSON-RPC 1.0",
    wrap: faultyMessages(MCP, (value) => isObject(value) ? { ...value, jsonrpc: "2.0" } : value),
    breaks: names("http/old-version"),
  },
  {
    name: "mcp/not-json-accepted",
    fault: "Accepts what is no message, with 202",
    wrap: (next) => async (request) => {
      const isRead = pathOf(request) !== MCP || request.method !== "POST" ||
        isObject(readJson(await request.clone().text()));
      const answer = await next(request);
      return isRead || answer.status !== 400 ? answer : new Response(null, { status: 202 });
    },
    breaks: names(
      "http/not-json",
      "http/empty-body",
      "http/number",
      "http_2025_03_26/not-json",
      "http_2025_06_18/not-json",
    ),
    mayBreak: { "A batch is no message in their revisions": names("modern/batch", "no_batch_") },
  },
];
