/**
 * Faults in self-contained MCP requests (revision 2026-07-28): their headers and `_meta`, and what that revision
 * removed.
 *
 * @module
 */
import { MCP } from "./mcp_access.ts";
import { changeResponses, pathOf, withHeaders, withRequestHeaders } from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import {
  changeEachMessage,
  changeErrors,
  isObject,
  type Members,
  readJson,
} from "../jsonrpc/message_faults.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `mcp/${id}`);

const MODERN = "2026-07-28";
const META = {
  "io.modelcontextprotocol/protocolVersion": MODERN,
  "io.modelcontextprotocol/clientCapabilities": {},
};

const isModern = (request: Request): boolean => request.headers.has("mcp-method");

/** Sets a header of self-contained requests to the value in their body. */
const setHeaderFromBody =
  (field: string, read: (body: Members) => unknown): Wrap => (next) => async (request) => {
    const isMatch = pathOf(request) === MCP && request.method === "POST" &&
      request.headers.get("mcp-protocol-version") === MODERN;
    const body = isMatch ? readJson(await request.clone().text()) : undefined;
    const value = isObject(body) ? read(body) : undefined;
    return await next(typeof value === "string" ? withRequestHeaders(request, { [field]: value }) : request);
  };

export const MCP_SELF_CONTAINED: readonly Mutant[] = [
  {
    name: "mcp/unknown-method-with-200",
    fault: "Returns an unknown method's error with status 200",
    wrap: changeResponses(
      MCP,
      (answer, request) => answer.status === 404 && isModern(request) ? withHeaders(answer, {}, 200) : answer,
    ),
    killedBy: names("modern/unknown-method", "modern/gone-initialize", "modern/gone-ping"),
    mayFail: {
      "They call removed methods of tasks": ["mcp/tasks/"],
      "They call removed methods": names("modern/gone-"),
    },
  },
  {
    name: "mcp/method-header-ignored",
    fault: "Does not compare Mcp-Method with the body",
    wrap: setHeaderFromBody("mcp-method", ({ method }) => method),
    killedBy: names("modern/method-missing", "modern/method-differs", "modern/method-capitals"),
  },
  {
    name: "mcp/name-header-ignored",
    fault: "Does not compare Mcp-Name with the body",
    wrap: setHeaderFromBody(
      "mcp-name",
      ({ params }) => isObject(params) ? params["name"] ?? params["uri"] : undefined,
    ),
    killedBy: names(
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
    name: "mcp/version-header-ignored-in-self-contained",
    fault: "Does not compare MCP-Protocol-Version with the body",
    wrap: (next) => async (request) => {
      if (pathOf(request) !== MCP || !isModern(request)) return await next(request);
      return await next(withRequestHeaders(request, { "mcp-protocol-version": MODERN }));
    },
    killedBy: names("modern/version-differs"),
    mayFail: {
      "Its header and body name the same unknown revision until the fault replaces one": names(
        "modern/version-unknown",
      ),
    },
  },
  {
    name: "mcp/meta-optional",
    fault: "Answers requests that lack required members of _meta",
    wrap: (next) => async (request) =>
      await (isModern(request)
        ? changeEachMessage(MCP, (call) => {
          const params = isObject(call["params"]) ? call["params"] : {};
          const meta = isObject(params["_meta"]) ? params["_meta"] : {};
          return { ...call, params: { ...params, _meta: { ...META, ...meta } } };
        })(next)
        : next)(request),
    killedBy: names(
      "modern/meta-missing",
      "modern/meta-empty",
      "modern/meta-without-capabilities",
      "modern/meta-without-version",
      "modern_methods/no-handshake",
    ),
  },
  {
    name: "mcp/versions-omitted",
    fault: "Refuses an unsupported revision without listing the supported ones",
    wrap: changeErrors(MCP, (error) => {
      delete error["data"];
    }),
    killedBy: names("modern/version-unknown"),
    mayFail: { "They read what the client must declare": ["mcp/tasks/"] },
  },
  {
    name: "mcp/session-id-returned",
    fault: "Returns Mcp-Session-Id in the revision that has no sessions",
    wrap: changeResponses(
      MCP,
      (answer, request) =>
        isModern(request)
          ? withHeaders(answer, { "mcp-session-id": request.headers.get("mcp-session-id") ?? undefined })
          : answer,
    ),
    killedBy: names("modern/session-ignored"),
  },
  {
    name: "mcp/get-accepted",
    fault: "Answers GET and DELETE with 200 in the revision that has neither",
    wrap: changeResponses(
      MCP,
      (answer, request) =>
        answer.status === 405 && request.headers.get("mcp-protocol-version") === MODERN
          ? new Response(null, { status: 200 })
          : answer,
    ),
    killedBy: names("modern/get", "modern/delete"),
  },
];
