/**
 * Faults in MCP sessions, the handshake and the HTTP transport.
 *
 * @module
 */
import { MCP } from "./mcp_access.ts";
import { forward } from "./mcp_messages.ts";
import { changeRequests, changeResponses, pathOf, withHeaders, withRequestHeaders } from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import {
  changeEachMessage,
  changeMessages,
  changeRpcResponses,
  isObject,
  readJson,
} from "../jsonrpc/message_faults.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `mcp/${id}`);

const SESSION = "mcp-session-id";
const VERSION = "mcp-protocol-version";

/** Shows clients other session ids than the server uses. */
const mapSessionIds = (outward: (id: string) => string, inward: (id: string) => string): Wrap => (next) => {
  const requests = changeRequests(MCP, (request) => {
    const id = request.headers.get(SESSION);
    return id === null ? request : withRequestHeaders(request, { [SESSION]: inward(id) });
  });
  const answers = changeResponses(MCP, (answer) => {
    const id = answer.headers.get(SESSION);
    return id === null ? answer : withHeaders(answer, { [SESSION]: outward(id) });
  });
  return requests(answers(next));
};

/** Changes the protocol version that a handshake negotiates. */
const changeNegotiatedVersion = (version: (requested: unknown) => unknown): Wrap =>
  changeRpcResponses(MCP, (value, sent) => {
    if (isObject(sent) && sent["method"] === "initialize" && isObject(sent["params"]) && isObject(value)) {
      const result = value["result"];
      if (isObject(result)) result["protocolVersion"] = version(sent["params"]["protocolVersion"]);
    }
    return value;
  });

export const MCP_SESSIONS: readonly Mutant[] = [
  {
    name: "mcp/revision-echoed",
    fault: "Agrees to every protocol version",
    wrap: changeNegotiatedVersion((requested) => requested),
    killedBy: names(
      "initialize/future",
      "initialize/past",
      "initialize/word",
      "initialize/empty",
      "initialize/future-latest",
    ),
  },
  {
    name: "mcp/revision-newest",
    fault: "Answers every client with the newest protocol version",
    wrap: changeNegotiatedVersion(() => "2025-11-25"),
    killedBy: names(
      "initialize/revision-2024-11-05",
      "initialize/revision-2025-03-26",
      "initialize/revision-2025-06-18",
    ),
  },
  {
    name: "mcp/revision-oldest",
    fault: "Offers the oldest protocol version when it does not support the requested one",
    wrap: changeNegotiatedVersion((requested) =>
      /^202[45]-/.test(String(requested)) ? requested : "2024-11-05"
    ),
    killedBy: names("initialize/future-latest"),
  },
  {
    name: "mcp/handshake-unchecked",
    fault: "Creates a session without checking the params of initialize",
    wrap: changeEachMessage(MCP, (call) =>
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
    killedBy: names("initialize/no-params", "initialize/version-number"),
    mayFail: {
      "Its params have no revision, and the added ones lack _meta": names(
        "modern/gone-initialize",
      ),
    },
  },
  {
    name: "mcp/session-one-id",
    fault: "Uses one id for all sessions",
    wrap: (next) => {
      let last = "";
      return mapSessionIds((id) => (last = id, "the-only-session-there-is"), () => last)(next);
    },
    killedBy: names("session/id-new"),
    mayFail: { "Vectors share one session": ["mcp/"] },
  },
  {
    name: "mcp/session-id-with-space",
    fault: "Puts a space into session ids",
    wrap: mapSessionIds((id) => `session ${id}`, (id) => id.replace(/^session /, "")),
    killedBy: names(
      "session/id-visible",
      "http_2025_03_26/session-visible",
      "http_2025_06_18/session-visible",
    ),
  },
  {
    name: "mcp/session-id-from-client",
    fault: "Lets the client choose the session id",
    wrap: (next) => async (request) => {
      const id = request.headers.get(SESSION);
      if (pathOf(request) !== MCP || request.method !== "POST" || id === null) return await next(request);
      const sent = readJson(await request.clone().text());
      const isHandshake = isObject(sent) && sent["method"] === "initialize" && !request.headers.has(VERSION);
      if (!isHandshake) return await next(request);
      return withHeaders(await next(withRequestHeaders(request, { [SESSION]: undefined })), {
        [SESSION]: id,
      });
    },
    killedBy: names(
      "session/id-brought",
      "http_2025_03_26/session-brought",
      "http_2025_06_18/session-brought",
    ),
  },
  {
    name: "mcp/session-id-sequential",
    fault: "Numbers sessions in place of random ids",
    wrap: (next) => {
      const ids: string[] = [];
      return mapSessionIds((id) => String(ids.push(id)), (id) => ids[Number(id) - 1] ?? id)(next);
    },
    killedBy: names("session/id-new"),
    mayFail: {
      "A number with one character changed may belong to another session": names("session/altered"),
    },
  },
  {
    name: "mcp/session-id-unchecked",
    fault: "Treats an unknown session id as the latest session",
    wrap: (next) => {
      const ids = new Set<string>();
      let last = "";
      return mapSessionIds((id) => {
        ids.add(id);
        return last = id;
      }, (id) => ids.has(id) ? id : last)(next);
    },
    killedBy: names(
      "session/unknown",
      "session/altered",
      "session/get-unknown-session",
      "http_2025_03_26/session-unknown",
      "http_2025_06_18/session-unknown",
    ),
    mayFail: {
      "It sends an unknown session id": names("session/delete-unknown"),
      "Concurrent vectors lose their session to that id": names("session/"),
    },
  },
  {
    name: "mcp/session-never-ends",
    fault: "Answers DELETE with success and keeps the session",
    wrap: (next) => async (request) =>
      pathOf(request) === MCP && request.method === "DELETE" && request.headers.has("authorization")
        ? new Response(null, { status: 204 })
        : await next(request),
    killedBy: names(
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
    mayFail: { "The session that they end does not exist": names("modern/delete", "session/ended-twice") },
  },
  {
    name: "mcp/session-ends-all",
    fault: "Ends all sessions when one that has sent no request is ended",
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
        // Only unused ones: many vectors end a used session, and would end each other's.
        if (request.method === "DELETE" && answer.ok && id !== null && !used.has(id)) {
          for (const each of known) gone.add(each);
          known = new Set();
        }
        return answer;
      };
    },
    killedBy: names("session/ended-is-not-others"),
    mayFail: { "Vectors that end a session also end those of concurrent vectors": ["mcp/"] },
  },
  {
    name: "mcp/version-header-ignored",
    fault: "Ignores an invalid MCP-Protocol-Version in a session",
    wrap: changeRequests(
      MCP,
      (request) =>
        request.headers.has(SESSION) && !/^20(24|25|26)-/.test(request.headers.get(VERSION) ?? "20")
          ? withRequestHeaders(request, { [VERSION]: undefined })
          : request,
    ),
    killedBy: names(
      "http/version-unknown",
      "http/version-word",
      "http/version-unknown-get",
      "http/version-unknown-delete",
      "http_2025_06_18/version-unknown",
    ),
  },
  {
    name: "mcp/version-header-required",
    fault: "Refuses a request in a session without MCP-Protocol-Version",
    wrap: (next) => async (request) =>
      pathOf(request) === MCP && request.headers.has(SESSION) && !request.headers.has(VERSION)
        ? new Response(null, { status: 400 })
        : await next(request),
    killedBy: names("http/version-missing"),
    mayFail: {
      "Their revisions do not have that header": names(
        "batch_2025_03_26/",
        "http_2025_03_26/",
        "older/",
      ),
    },
  },
  {
    name: "mcp/batches-accepted",
    fault: "Accepts batches in revisions that do not have them",
    wrap: (next) => async (request) => {
      if (pathOf(request) !== MCP || request.method !== "POST" || !request.headers.has(VERSION)) {
        return await next(request);
      }
      const sent = readJson(await request.clone().text());
      if (!Array.isArray(sent)) return await next(request);
      const answers: unknown[] = [];
      for (const each of sent) {
        const answer = await forward(next, request, each);
        if (answer.status === 200) answers.push(await answer.json());
      }
      return answers.length > 0 ? Response.json(answers) : new Response(null, { status: 202 });
    },
    killedBy: ["2025_06_18", "2025_11_25"].flatMap((revision) =>
      names(
        ...["requests", "one-request", "notifications", "empty"].map((id) => `no_batch_${revision}/${id}`),
      )
    ),
    mayFail: { "Its revision has no batches": names("modern/batch") },
  },
  {
    name: "mcp/old-jsonrpc",
    fault: "Accepts messages of JSON-RPC 1.0",
    wrap: changeMessages(MCP, (value) => isObject(value) ? { ...value, jsonrpc: "2.0" } : value),
    killedBy: names("http/old-version"),
  },
  {
    name: "mcp/not-json-accepted",
    fault: "Accepts bodies that are not messages, with 202",
    wrap: (next) => async (request) => {
      const isRead = pathOf(request) !== MCP || request.method !== "POST" ||
        isObject(readJson(await request.clone().text()));
      const answer = await next(request);
      return isRead || answer.status !== 400 ? answer : new Response(null, { status: 202 });
    },
    killedBy: names(
      "http/not-json",
      "http/empty-body",
      "http/number",
      "http_2025_03_26/not-json",
      "http_2025_06_18/not-json",
    ),
    mayFail: { "Their revisions have no batches": names("modern/batch", "no_batch_") },
  },
];
