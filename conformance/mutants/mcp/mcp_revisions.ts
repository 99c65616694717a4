/**
 * Faults in the negotiation of revisions and capabilities, and in lists and subscriptions of 2026-07-28.
 * Long because each rule of the negotiation has its fault.
 *
 * @module
 */
import { MCP } from "./mcp_access.ts";
import { answerPosts } from "./mcp_messages.ts";
import { onPath, withRequestHeaders } from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { changeEvents, changeServerMessages, toEventText } from "../jsonrpc/event_faults.ts";
import { changeEachMessage, changeRpcResponses, isObject, type Members } from "../jsonrpc/message_faults.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `mcp/${id}`);

const MODERN = "2026-07-28";

/** Changes the results of one method in place. */
const changeResults = (method: string, change: (result: Members, sent: Members) => void): Wrap =>
  changeRpcResponses(MCP, (value, sent) => {
    const isMatch = isObject(sent) && sent["method"] === method && isObject(value);
    if (isMatch && isObject(value["result"])) change(value["result"], sent);
    return value;
  });

/** Refuses requests that match `when`. */
const refuseRequests = (
  when: (sent: Members, request: Request) => boolean,
  code = -32600,
  status = 400,
): Wrap =>
  answerPosts((sent, request) =>
    isObject(sent) && when(sent, request)
      ? Response.json({ jsonrpc: "2.0", id: sent["id"], error: { code, message: "No" } }, { status })
      : undefined
  );

const metaOf = (sent: Members): Members => {
  const params = isObject(sent["params"]) ? sent["params"] : {};
  return isObject(params["_meta"]) ? params["_meta"] : {};
};

const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

/** Changes subscription ids. */
const changeSubscriptionIds = (change: (id: unknown) => unknown): Wrap =>
  changeServerMessages([MCP], ({ params }) => {
    const meta = isObject(params) && params["_meta"];
    if (isObject(meta) && SUBSCRIPTION in meta) meta[SUBSCRIPTION] = change(meta[SUBSCRIPTION]);
  });

const ALL = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };

export const MCP_REVISIONS: readonly Mutant[] = [
  {
    name: "mcp/valid-token-refused",
    fault: "Refuses every token at initialize",
    wrap: answerPosts((sent, request) =>
      isObject(sent) && sent["method"] === "initialize" && request.headers.has("authorization")
        ? new Response(null, { status: 401 })
        : undefined
    ),
    killedBy: names("authorization/good-token"),
    mayFail: { "They send a token with initialize": ["mcp/"] },
  },
  {
    name: "mcp/revision-previous",
    fault: "Negotiates 2025-06-18 when the client asks for 2025-11-25",
    wrap: changeResults("initialize", (result) => {
      if (result["protocolVersion"] === "2025-11-25") result["protocolVersion"] = "2025-06-18";
    }),
    killedBy: names("initialize/revision-2025-11-25", "initialize/future-latest"),
    mayFail: { "They expect that revision": names("initialize/") },
  },
  {
    name: "mcp/capabilities-omitted",
    fault: "Declares no capabilities",
    wrap: changeResults("initialize", (result) => {
      result["capabilities"] = {};
    }),
    killedBy: names(
      "initialize/declares-tools",
      "initialize/declares-prompts",
      "initialize/declares-resources",
      "initialize/declares-logging",
      "initialize/declares-completions",
    ),
  },
  {
    name: "mcp/unknown-capability-refused",
    fault: "Refuses clients that declare an unknown capability",
    wrap: refuseRequests(({ method, params }) =>
      method === "initialize" && isObject(params) && "conformance" in Object(params["capabilities"])
    ),
    killedBy: names("initialize/unknown-capability"),
  },
  {
    name: "mcp/lists-as-objects",
    fault: "Returns an object in place of the list of tools",
    wrap: changeResults("tools/list", (result) => {
      result["tools"] = {};
    }),
    killedBy: names("session/listed", "modern_methods/last-event-id"),
    mayFail: { "They list tools": ["mcp/"] },
  },
  {
    name: "mcp/subscriptions-unknown",
    fault: "Does not implement the subscriptions that it declares",
    wrap: refuseRequests(({ method }) => /^resources\/(un)?subscribe$/.test(String(method)), -32601, 200),
    killedBy: names("methods/subscribe"),
    mayFail: { "They expect another status": names("modern/gone-resources-") },
  },
  {
    name: "mcp/subscribe-without-uri",
    fault: "Accepts subscriptions without a URI",
    wrap: answerPosts((sent) =>
      isObject(sent) && sent["method"] === "resources/subscribe" &&
        !("uri" in Object(sent["params"]))
        ? Response.json({ jsonrpc: "2.0", id: sent["id"], result: {} })
        : undefined
    ),
    killedBy: names("methods/subscribe-without-uri"),
    mayFail: { "Its subscription has no URI": names("modern/gone-resources-subscribe") },
  },
  {
    name: "mcp/completions-unlimited",
    fault: "Returns more than 100 completion values",
    wrap: changeResults("completion/complete", (result) => {
      result["completion"] = { values: Array.from({ length: 101 }, (_, at) => `value ${at}`) };
    }),
    killedBy: names("methods/completion"),
  },
  {
    name: "mcp/contents-without-uri",
    fault: "Leaves the URI out of resource contents",
    wrap: (next) =>
      changeServerMessages([MCP], ({ result }) => {
        const contents = isObject(result) ? result["contents"] : undefined;
        if (Array.isArray(contents)) { for (const each of contents) delete each.uri; }
      })(next),
    killedBy: names("methods/resource"),
    mayFail: { "They read skills": ["mcp/skills/read-file", "mcp/skills/read-skill"] },
  },
  {
    name: "mcp/session-of-any-caller",
    fault: "Lets every caller use every session",
    wrap: (next) => {
      const owners = new Map<string, string>();
      return onPath(MCP, () => async (request) => {
        const id = request.headers.get("mcp-session-id");
        const owner = owners.get(id ?? "");
        const token = request.headers.get("authorization");
        const answer = await next(
          owner !== undefined && token !== null
            ? withRequestHeaders(request, { authorization: owner })
            : request,
        );
        const given = answer.headers.get("mcp-session-id");
        if (given !== null && token !== null) owners.set(given, token);
        return answer;
      })(next);
    },
    killedBy: names("session/other-caller", "session/other-caller-stream", "session/other-caller-delete"),
    mayFail: { "The fault replaces their token with the session's": names("authorization/") },
  },
  {
    name: "mcp/supported-versions-omitted",
    fault: "Leaves supportedVersions out of server/discover",
    wrap: changeResults("server/discover", (result) => {
      delete result["supportedVersions"];
    }),
    killedBy: names("modern/discover"),
    mayFail: { "They call server/discover to read an id": names("modern_methods/id-") },
  },
  {
    name: "mcp/server-info-omitted",
    fault: "Leaves serverInfo out of server/discover",
    wrap: changeResults("server/discover", (result) => {
      delete result["_meta"];
    }),
    killedBy: names("modern_methods/server-info"),
  },
  {
    name: "mcp/result-type-omitted",
    fault: "Leaves resultType out of results",
    wrap: changeServerMessages([MCP], ({ result }) => {
      if (isObject(result)) delete result["resultType"];
    }),
    killedBy: names("modern/discover", "modern/no-client-info", "modern_methods/name-in-base64"),
    mayFail: { "They read resultType": ["mcp/skills/", "mcp/tasks/"] },
  },
  {
    name: "mcp/client-info-required",
    fault: "Refuses requests without clientInfo",
    wrap: refuseRequests(
      (sent, request) =>
        request.headers.get("mcp-protocol-version") === MODERN && request.headers.has("mcp-method") &&
        "id" in sent && !("io.modelcontextprotocol/clientInfo" in metaOf(sent)),
      -32602,
    ),
    killedBy: names("modern/no-client-info"),
  },
  {
    name: "mcp/no-time-to-live",
    fault: "Leaves ttlMs out of results",
    wrap: changeServerMessages([MCP], ({ result }) => {
      if (isObject(result)) delete result["ttlMs"];
    }),
    killedBy: names("modern_methods/discover-cached", "modern_methods/next-page"),
    mayFail: { "They read ttlMs": ["mcp/skills/", "mcp/tasks/"] },
  },
  {
    name: "mcp/tools-in-any-order",
    fault: "Lists tools in an order that depends on the request id",
    wrap: changeResults("tools/list", (result, { id }) => {
      if (Number(id) % 2 === 1 && Array.isArray(result["tools"])) result["tools"].reverse();
    }),
    killedBy: names("modern_methods/order"),
  },
  {
    name: "mcp/unknown-level-ignored",
    fault: "Ignores an unknown log level in _meta",
    wrap: changeEachMessage(MCP, (call) => {
      const meta = metaOf(call);
      if (meta["io.modelcontextprotocol/logLevel"] !== "conformance") return call;
      const { "io.modelcontextprotocol/logLevel": _, ...rest } = meta;
      return { ...call, params: { ...Object(call["params"]), _meta: rest } };
    }),
    killedBy: names("modern_methods/level-unknown"),
  },
  {
    name: "mcp/base64-not-decoded",
    fault: "Does not decode Base64 values of headers",
    wrap: refuseRequests(
      (_, request) => /^=\?base64\?.*\?=$/.test(request.headers.get("mcp-name") ?? ""),
      -32020,
    ),
    killedBy: names("modern_methods/name-in-base64"),
  },
  {
    name: "mcp/last-event-id-read",
    fault: "Reads Last-Event-ID in the revision that does not have it",
    wrap: refuseRequests((_, request) => request.headers.has("last-event-id"), -32600, 404),
    killedBy: names("modern_methods/last-event-id"),
  },
  {
    name: "mcp/subscription-id-as-string",
    fault: "Returns subscription ids as strings",
    wrap: changeSubscriptionIds(String),
    killedBy: names("modern_methods/listen-number", "modern_methods/listen-nothing"),
  },
  {
    name: "mcp/one-subscription-id",
    fault: "Uses one id for all subscriptions",
    wrap: changeSubscriptionIds(() => 1),
    killedBy: names(
      "modern_methods/listen",
      "modern_methods/listen-number",
      "modern_methods/listen-nothing",
      "modern_methods/listen-changed",
      "modern_methods/listen-twice",
    ),
  },
  {
    name: "mcp/listen-sends-all",
    fault: "Subscribes to every kind of change, whatever the filter says",
    wrap: changeEachMessage(
      MCP,
      (call) =>
        call["method"] === "subscriptions/listen" && isObject(Object(call["params"]).notifications)
          ? { ...call, params: { ...Object(call["params"]), notifications: ALL } }
          : call,
    ),
    killedBy: names("modern_methods/listen-nothing", "modern_methods/listen-to-others"),
    mayFail: {
      "They listen to tasks": ["mcp/tasks/"],
      "Other vectors change lists at the same time": names("modern_methods/listen"),
    },
  },
  {
    name: "mcp/listen-filter-unchecked",
    fault: "Accepts a subscription whose filter is not an object",
    wrap: answerPosts((sent) =>
      isObject(sent) && sent["method"] === "subscriptions/listen" &&
        typeof Object(sent["params"]).notifications === "string"
        ? Response.json({ jsonrpc: "2.0", id: sent["id"], result: { resultType: "complete" } })
        : undefined
    ),
    killedBy: names("modern_methods/listen-to-a-text"),
  },
  {
    name: "mcp/subscription-unacknowledged",
    fault: "Does not acknowledge subscriptions",
    wrap: changeEvents(
      [MCP],
      (event) =>
        event.json?.["method"] === "notifications/subscriptions/acknowledged"
          ? 'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{}}'
          : toEventText(event),
    ),
    killedBy: names("modern_methods/listen", "modern_methods/listen-number", "modern_methods/listen-nothing"),
    mayFail: {
      "They listen to tasks": ["mcp/tasks/"],
      "They check the first message": names("modern_methods/listen-"),
    },
  },
];
