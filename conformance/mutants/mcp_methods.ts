/**
 * Faults of MCP's methods, and of requests that describe themselves (revision 2026-07-28).
 *
 * @module
 */
import { MCP } from "./mcp_doors.ts";
import { faultyAnswers, pathOf, withFields, withRequestFields } from "./message.ts";
import type { Mutant, Wrap } from "./mutant.ts";
import {
  faultyCalls,
  faultyErrors,
  faultyResponses,
  isJson,
  isObject,
  type Members,
  readJson,
} from "./rpc_message.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `mcp/${id}`);

const MODERN = "2026-07-28";
const META = {
  "io.modelcontextprotocol/protocolVersion": MODERN,
  "io.modelcontextprotocol/clientCapabilities": {},
};

const isModern = (request: Request): boolean => request.headers.has("mcp-method");

/** Has a result where a method fails. */
const forgive = (method: string, result: Members): Wrap => (next) => async (request) => {
  const faulty = faultyResponses(
    MCP,
    (value, sent) =>
      isObject(sent) && sent["method"] === method && isObject(value) && "error" in value
        ? { jsonrpc: "2.0", id: sent["id"], result }
        : value,
  );
  if (pathOf(request) !== MCP) return await next(request);
  const answer = await faulty(next)(request);
  const isForgiven = isJson(answer) && [400, 404].includes(answer.status) &&
    "result" in Object(readJson(await answer.clone().text()));
  return isForgiven ? withFields(answer, {}, 200) : answer;
};

/** Sets fields of requests that describe themselves to what their body says. */
const fromBody = (field: string, read: (body: Members) => unknown): Wrap => (next) => async (request) => {
  const isAsked = pathOf(request) === MCP && request.method === "POST" &&
    request.headers.get("mcp-protocol-version") === MODERN;
  const body = isAsked ? readJson(await request.clone().text()) : undefined;
  const value = isObject(body) ? read(body) : undefined;
  return await next(typeof value === "string" ? withRequestFields(request, { [field]: value }) : request);
};

export const MCP_METHODS: readonly Mutant[] = [
  {
    name: "mcp/cursors-unread",
    fault: "Does not read cursors",
    wrap: faultyCalls(MCP, (call) => {
      if (!isObject(call["params"])) return call;
      const { cursor: _, ...params } = call["params"];
      return { ...call, params };
    }),
    breaks: names(
      "methods/cursor-tools",
      "methods/cursor-prompts",
      "methods/cursor-resources",
      "methods/cursor-templates",
      "methods/next-page",
      "methods/cursor-altered",
      "methods/cursor-of-another-list",
      "modern/cursor",
      "http_2025_03_26/cursor",
      "http_2025_06_18/cursor",
      "methods/cursor-number",
      "modern_methods/error-not-cached",
      "modern_methods/cursor-resources",
      "modern_methods/cursor-templates",
      "modern_methods/next-page",
    ),
  },
  {
    name: "mcp/cursor-on-last-page",
    fault: "Has an empty cursor on the last page",
    wrap: faultyResponses(MCP, (value) => {
      const result = isObject(value) && value["result"];
      if (isObject(result) && Array.isArray(result["tools"])) result["nextCursor"] ??= "";
      return value;
    }),
    breaks: names(
      "methods/next-page",
      "modern_methods/next-page",
    ),
  },
  {
    name: "mcp/unknown-tool-as-result",
    fault: "Has a result for tools that there are not",
    wrap: forgive("tools/call", { content: [], isError: true }),
    breaks: names(
      "methods/unknown-tool",
      "methods/inherited-tool",
      "methods/tool-without-name",
      "http_2025_03_26/unknown-tool",
      "http_2025_06_18/unknown-tool",
      "methods/tool-arguments-list",
      "modern_methods/unknown-tool",
    ),
    mayBreak: names(
      "modern/name-",
      "modern_methods/name-",
      "authorization/too-little-scope",
      "authorization/modern-too-little-scope",
    ),
  },
  {
    name: "mcp/unknown-prompt-empty",
    fault: "Has no messages for prompts that there are not",
    wrap: forgive("prompts/get", { messages: [] }),
    breaks: names(
      "methods/unknown-prompt",
      "methods/prompt-argument-missing",
      "http_2025_03_26/unknown-prompt",
      "http_2025_03_26/prompt-argument-missing",
      "http_2025_06_18/unknown-prompt",
      "http_2025_06_18/prompt-argument-missing",
      "methods/inherited-prompt",
      "methods/prompt-without-name",
      "modern_methods/unknown-prompt",
      "modern_methods/prompt-argument-missing",
    ),
    mayBreak: names("modern/name-"),
  },
  {
    name: "mcp/unknown-resource-empty",
    fault: "Has no contents for resources that there are not",
    wrap: forgive("resources/read", { contents: [] }),
    breaks: names(
      "methods/unknown-resource",
      "modern/unknown-resource",
      "http_2025_03_26/unknown-resource",
      "http_2025_06_18/unknown-resource",
      "methods/inherited-resource",
      "methods/resource-without-uri",
      "methods/resource-uri-number",
    ),
    mayBreak: names("modern/name-"),
  },
  {
    name: "mcp/any-level",
    fault: "Takes any level of the log",
    wrap: forgive("logging/setLevel", {}),
    breaks: names(
      "methods/unknown-level",
      "modern/gone-logging-setlevel",
      "http_2025_03_26/unknown-level",
      "http_2025_06_18/unknown-level",
      "methods/level-missing",
      "methods/level-capitals",
    ),
  },
  {
    name: "mcp/any-completion",
    fault: "Completes prompts that there are not",
    wrap: forgive("completion/complete", { completion: { values: [] } }),
    breaks: names(
      "methods/completion-unknown",
      "http_2025_03_26/completion-unknown",
      "http_2025_06_18/completion-unknown",
      "methods/completion-without-argument",
      "methods/completion-without-ref",
      "methods/completion-of-unknown-kind",
      "modern_methods/completion-unknown",
    ),
  },
  {
    name: "mcp/ping-says-something",
    fault: "Has more than nothing for ping",
    wrap: faultyResponses(MCP, (value, sent) => {
      if (isObject(sent) && sent["method"] === "ping" && isObject(value) && isObject(value["result"])) {
        value["result"]["status"] = "ok";
      }
      return value;
    }),
    breaks: names("methods/ping", "older/ping"),
  },
  {
    name: "mcp/unknown-method-code",
    fault: "Has a code of its own for methods that there are not",
    wrap: faultyErrors(MCP, (error) => {
      if (error["code"] === -32601) error["code"] = -32000;
    }),
    breaks: names("methods/unknown-method", "methods/inherited-method", "modern/unknown-method"),
    mayBreak: ["mcp/"],
  },
  {
    name: "mcp/ping-still",
    fault: "Answers ping in the revision that has none",
    wrap: forgive("ping", {}),
    breaks: names("modern/gone-ping"),
  },
  {
    name: "mcp/unknown-method-with-200",
    fault: "Says with 200 that there is no such method",
    wrap: faultyAnswers(
      MCP,
      (answer, request) => answer.status === 404 && isModern(request) ? withFields(answer, {}, 200) : answer,
    ),
    breaks: names("modern/unknown-method", "modern/gone-initialize", "modern/gone-ping"),
    mayBreak: names("modern/gone-"),
  },
  {
    name: "mcp/method-field-unread",
    fault: "Does not compare Mcp-Method with the body",
    wrap: fromBody("mcp-method", ({ method }) => method),
    breaks: names("modern/method-missing", "modern/method-differs", "modern/method-capitals"),
  },
  {
    name: "mcp/name-field-unread",
    fault: "Does not compare Mcp-Name with the body",
    wrap: fromBody(
      "mcp-name",
      ({ params }) => isObject(params) ? params["name"] ?? params["uri"] : undefined,
    ),
    breaks: names(
      "modern/name-missing",
      "modern/name-differs",
      "modern/name-of-prompt",
      "modern/name-of-resource",
      "modern/name-bad-base64",
      "modern_methods/name-in-base64-differs",
      "modern_methods/name-half-marked",
      "modern_methods/name-in-capitals",
    ),
  },
  {
    name: "mcp/version-field-unread-where-described",
    fault: "Does not compare the revision in the header field with the body",
    wrap: (next) => async (request) => {
      if (pathOf(request) !== MCP || !isModern(request)) return await next(request);
      return await next(withRequestFields(request, { "mcp-protocol-version": MODERN }));
    },
    breaks: names("modern/version-differs", "modern/version-missing"),
    mayBreak: names("modern/version-unknown"),
  },
  {
    name: "mcp/meta-unneeded",
    fault: "Answers requests that do not describe themselves",
    wrap: (next) => async (request) =>
      await (isModern(request)
        ? faultyCalls(MCP, (call) => {
          const params = isObject(call["params"]) ? call["params"] : {};
          const meta = isObject(params["_meta"]) ? params["_meta"] : {};
          return { ...call, params: { ...params, _meta: { ...META, ...meta } } };
        })(next)
        : next)(request),
    breaks: names(
      "modern/meta-missing",
      "modern/meta-empty",
      "modern/meta-without-capabilities",
      "modern/meta-without-version",
      "modern_methods/no-handshake",
    ),
  },
  {
    name: "mcp/versions-untold",
    fault: "Refuses a revision without saying which there are",
    wrap: faultyErrors(MCP, (error) => {
      delete error["data"];
    }),
    breaks: names("modern/version-unknown"),
  },
  {
    name: "mcp/sessions-still",
    fault: "Gives back the session's id in the revision that has no sessions",
    wrap: faultyAnswers(
      MCP,
      (answer, request) =>
        isModern(request)
          ? withFields(answer, { "mcp-session-id": request.headers.get("mcp-session-id") ?? undefined })
          : answer,
    ),
    breaks: names("modern/session-ignored"),
  },
  {
    name: "mcp/get-still",
    fault: "Answers GET and DELETE in the revision that has neither",
    wrap: faultyAnswers(
      MCP,
      (answer, request) =>
        answer.status === 405 && request.headers.get("mcp-protocol-version") === MODERN
          ? new Response(null, { status: 200 })
          : answer,
    ),
    breaks: names("modern/get", "modern/delete"),
  },
];
