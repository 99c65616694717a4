/**
 * Faults of MCP requests that describe themselves (revision 2026-07-28): their header fields and `_meta`, and what that
 * revision has no more.
 *
 * @module
 */
import { MCP } from "./mcp_doors.ts";
import { faultyAnswers, pathOf, withFields, withRequestFields } from "../message.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { faultyCalls, faultyErrors, isObject, type Members, readJson } from "../jsonrpc/rpc_message.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `mcp/${id}`);

const MODERN = "2026-07-28";
const META = {
  "io.modelcontextprotocol/protocolVersion": MODERN,
  "io.modelcontextprotocol/clientCapabilities": {},
};

const isModern = (request: Request): boolean => request.headers.has("mcp-method");

/** Sets fields of requests that describe themselves to what their body says. */
const fromBody = (field: string, read: (body: Members) => unknown): Wrap => (next) => async (request) => {
  const isAsked = pathOf(request) === MCP && request.method === "POST" &&
    request.headers.get("mcp-protocol-version") === MODERN;
  const body = isAsked ? readJson(await request.clone().text()) : undefined;
  const value = isObject(body) ? read(body) : undefined;
  return await next(typeof value === "string" ? withRequestFields(request, { [field]: value }) : request);
};

export const MCP_DESCRIBED: readonly Mutant[] = [
  {
    name: "mcp/unknown-method-with-200",
    fault: "Says with 200 that there is no such method",
    wrap: faultyAnswers(
      MCP,
      (answer, request) => answer.status === 404 && isModern(request) ? withFields(answer, {}, 200) : answer,
    ),
    breaks: names("modern/unknown-method", "modern/gone-initialize", "modern/gone-ping"),
    mayBreak: { "Their methods are gone, too": names("modern/gone-") },
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
    mayBreak: { "Its field says what its body says, until it is replaced": names("modern/version-unknown") },
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
