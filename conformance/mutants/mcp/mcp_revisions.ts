/**
 * Faults of what MCP servers say of themselves, and of lists and subscriptions of 2026-07-28.
 *
 * @module
 */
import { MCP } from "./mcp_doors.ts";
import { posted } from "./mcp_messages.ts";
import { at, withRequestFields } from "../message.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { faultyStreams, faultyWords, textOf } from "../jsonrpc/rpc_events.ts";
import { faultyCalls, faultyResponses, isObject, type Members } from "../jsonrpc/rpc_message.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `mcp/${id}`);

const MODERN = "2026-07-28";

/** Changes results of one method, in place. */
const faultyResults = (method: string, change: (result: Members, sent: Members) => void): Wrap =>
  faultyResponses(MCP, (value, sent) => {
    const isAsked = isObject(sent) && sent["method"] === method && isObject(value);
    if (isAsked && isObject(value["result"])) change(value["result"], sent);
    return value;
  });

/** Refuses requests that `when` picks. */
const refuse = (when: (sent: Members, request: Request) => boolean, code = -32600, status = 400): Wrap =>
  posted((sent, request) =>
    isObject(sent) && when(sent, request)
      ? Response.json({ jsonrpc: "2.0", id: sent["id"], error: { code, message: "No" } }, { status })
      : undefined
  );

const metaOf = (sent: Members): Members => {
  const params = isObject(sent["params"]) ? sent["params"] : {};
  return isObject(params["_meta"]) ? params["_meta"] : {};
};

const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

/** Changes ids of subscriptions. */
const faultySubscriptions = (change: (id: unknown) => unknown): Wrap =>
  faultyWords([MCP], ({ params }) => {
    const meta = isObject(params) && params["_meta"];
    if (isObject(meta) && SUBSCRIPTION in meta) meta[SUBSCRIPTION] = change(meta[SUBSCRIPTION]);
  });

const ALL = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };

export const MCP_REVISIONS: readonly Mutant[] = [
  {
    name: "mcp/good-token-refused",
    fault: "Refuses every token",
    wrap: posted((sent, request) =>
      isObject(sent) && sent["method"] === "initialize" && request.headers.has("authorization")
        ? new Response(null, { status: 401 })
        : undefined
    ),
    breaks: names("authorization/good-token"),
    mayBreak: { "They have a token, and begin with a handshake": ["mcp/"] },
  },
  {
    name: "mcp/revision-before-the-last",
    fault: "Agrees to the revision before the one of 2025-11-25",
    wrap: faultyResults("initialize", (result) => {
      if (result["protocolVersion"] === "2025-11-25") result["protocolVersion"] = "2025-06-18";
    }),
    breaks: names("initialize/revision-2025-11-25", "initialize/future-latest"),
    mayBreak: { "They agree to it": names("initialize/") },
  },
  {
    name: "mcp/capabilities-untold",
    fault: "Says that it has no capabilities",
    wrap: faultyResults("initialize", (result) => {
      result["capabilities"] = {};
    }),
    breaks: names(
      "initialize/declares-tools",
      "initialize/declares-prompts",
      "initialize/declares-resources",
      "initialize/declares-logging",
      "initialize/declares-completions",
    ),
  },
  {
    name: "mcp/unknown-capability-refused",
    fault: "Refuses clients with a capability that it does not know",
    wrap: refuse(({ method, params }) =>
      method === "initialize" && isObject(params) && "conformance" in Object(params["capabilities"])
    ),
    breaks: names("initialize/unknown-capability"),
  },
  {
    name: "mcp/lists-as-objects",
    fault: "Has an object for the list of tools",
    wrap: faultyResults("tools/list", (result) => {
      result["tools"] = {};
    }),
    breaks: names("session/listed", "modern_methods/last-event-id"),
    mayBreak: { "They list tools": ["mcp/"] },
  },
  {
    name: "mcp/subscriptions-unknown",
    fault: "Does not know the subscriptions that it declares",
    wrap: refuse(({ method }) => /^resources\/(un)?subscribe$/.test(String(method)), -32601, 200),
    breaks: names("methods/subscribe"),
    mayBreak: { "They are refused with another status": names("modern/gone-resources-") },
  },
  {
    name: "mcp/subscriptions-to-nothing",
    fault: "Takes subscriptions without an address",
    wrap: posted((sent) =>
      isObject(sent) && sent["method"] === "resources/subscribe" &&
        !("uri" in Object(sent["params"]))
        ? Response.json({ jsonrpc: "2.0", id: sent["id"], result: {} })
        : undefined
    ),
    breaks: names("methods/subscribe-without-uri"),
    mayBreak: { "Its subscription has no address that counts": names("modern/gone-resources-subscribe") },
  },
  {
    name: "mcp/completions-without-end",
    fault: "Completes an argument with all that there is",
    wrap: faultyResults("completion/complete", (result) => {
      result["completion"] = { values: Array.from({ length: 101 }, (_, at) => `value ${at}`) };
    }),
    breaks: names("methods/completion"),
  },
  {
    name: "mcp/contents-without-address",
    fault: "Does not say which resource contents are of",
    wrap: (next) =>
      faultyWords([MCP], ({ result }) => {
        const contents = isObject(result) ? result["contents"] : undefined;
        if (Array.isArray(contents)) { for (const each of contents) delete each.uri; }
      })(next),
    breaks: names("methods/resource"),
  },
  {
    name: "mcp/sessions-for-everybody",
    fault: "Lets every caller use every session",
    wrap: (next) => {
      const owners = new Map<string, string>();
      return at(MCP, () => async (request) => {
        const id = request.headers.get("mcp-session-id");
        const owner = owners.get(id ?? "");
        const token = request.headers.get("authorization");
        const answer = await next(
          owner !== undefined && token !== null
            ? withRequestFields(request, { authorization: owner })
            : request,
        );
        const given = answer.headers.get("mcp-session-id");
        if (given !== null && token !== null) owners.set(given, token);
        return answer;
      })(next);
    },
    breaks: names("session/other-caller", "session/other-caller-stream", "session/other-caller-delete"),
    mayBreak: { "The token is replaced by that of the session": names("authorization/") },
  },
  {
    name: "mcp/revisions-untold",
    fault: "Does not say which revisions it serves",
    wrap: faultyResults("server/discover", (result) => {
      delete result["supportedVersions"];
    }),
    breaks: names("modern/discover"),
    mayBreak: { "They discover to see an id": names("modern_methods/id-") },
  },
  {
    name: "mcp/server-untold",
    fault: "Does not say which server results are of",
    wrap: faultyResults("server/discover", (result) => {
      delete result["_meta"];
    }),
    breaks: names("modern_methods/server-info"),
  },
  {
    name: "mcp/result-type-untold",
    fault: "Does not say whether results are complete",
    wrap: faultyWords([MCP], ({ result }) => {
      if (isObject(result)) delete result["resultType"];
    }),
    breaks: names("modern/discover", "modern/no-client-info", "modern_methods/name-in-base64"),
  },
  {
    name: "mcp/client-info-needed",
    fault: "Refuses requests without clientInfo",
    wrap: refuse(
      (sent, request) =>
        request.headers.get("mcp-protocol-version") === MODERN && request.headers.has("mcp-method") &&
        "id" in sent && !("io.modelcontextprotocol/clientInfo" in metaOf(sent)),
      -32602,
    ),
    breaks: names("modern/no-client-info"),
  },
  {
    name: "mcp/no-time-to-live",
    fault: "Does not say how long lists hold",
    wrap: faultyWords([MCP], ({ result }) => {
      if (isObject(result)) delete result["ttlMs"];
    }),
    breaks: names("modern_methods/discover-cached", "modern_methods/next-page"),
  },
  {
    name: "mcp/tools-in-any-order",
    fault: "Lists tools in another order for every other id",
    wrap: faultyResults("tools/list", (result, { id }) => {
      if (Number(id) % 2 === 1 && Array.isArray(result["tools"])) result["tools"].reverse();
    }),
    breaks: names("modern_methods/order"),
  },
  {
    name: "mcp/level-unread",
    fault: "Takes a level of the log that there is not for none",
    wrap: faultyCalls(MCP, (call) => {
      const meta = metaOf(call);
      if (meta["io.modelcontextprotocol/logLevel"] !== "conformance") return call;
      const { "io.modelcontextprotocol/logLevel": _, ...rest } = meta;
      return { ...call, params: { ...Object(call["params"]), _meta: rest } };
    }),
    breaks: names("modern_methods/level-unknown"),
  },
  {
    name: "mcp/base64-unread",
    fault: "Does not decode header fields in Base64",
    wrap: refuse((_, request) => /^=\?base64\?.*\?=$/.test(request.headers.get("mcp-name") ?? ""), -32020),
    breaks: names("modern_methods/name-in-base64"),
  },
  {
    name: "mcp/event-ids-read-still",
    fault: "Looks for the stream that Last-Event-ID names in the revision that has none",
    wrap: refuse((_, request) => request.headers.has("last-event-id"), -32600, 404),
    breaks: names("modern_methods/last-event-id"),
  },
  {
    name: "mcp/subscription-id-as-text",
    fault: "Has texts for ids of subscriptions",
    wrap: faultySubscriptions(String),
    breaks: names("modern_methods/listen-number", "modern_methods/listen-nothing"),
  },
  {
    name: "mcp/one-subscription-id",
    fault: "Has one id for all subscriptions",
    wrap: faultySubscriptions(() => 1),
    breaks: names(
      "modern_methods/listen",
      "modern_methods/listen-number",
      "modern_methods/listen-nothing",
      "modern_methods/listen-changed",
      "modern_methods/listen-twice",
    ),
  },
  {
    name: "mcp/listens-to-all",
    fault: "Tells subscribers of every change, and says so",
    wrap: faultyCalls(
      MCP,
      (call) =>
        call["method"] === "subscriptions/listen" && isObject(Object(call["params"]).notifications)
          ? { ...call, params: { ...Object(call["params"]), notifications: ALL } }
          : call,
    ),
    breaks: names("modern_methods/listen-nothing", "modern_methods/listen-to-others"),
    mayBreak: { "Other vectors change lists at the same time": names("modern_methods/listen") },
  },
  {
    name: "mcp/listens-to-any-filter",
    fault: "Takes a subscription to what is no filter",
    wrap: posted((sent) =>
      isObject(sent) && sent["method"] === "subscriptions/listen" &&
        typeof Object(sent["params"]).notifications === "string"
        ? Response.json({ jsonrpc: "2.0", id: sent["id"], result: { resultType: "complete" } })
        : undefined
    ),
    breaks: names("modern_methods/listen-to-a-text"),
  },
  {
    name: "mcp/unacknowledged",
    fault: "Acknowledges no subscription",
    wrap: faultyStreams(
      [MCP],
      (event) =>
        event.json?.["method"] === "notifications/subscriptions/acknowledged"
          ? 'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{}}'
          : textOf(event),
    ),
    breaks: names("modern_methods/listen", "modern_methods/listen-number", "modern_methods/listen-nothing"),
    mayBreak: { "They look at the first message": names("modern_methods/listen-") },
  },
];
