/**
 * The correct MCP server of the scenarios (2025-11-25, Streamable HTTP): one session, three tools. It answers as JSON
 * and offers no stream by GET.
 *
 * @module
 */
import { isJsonObject, type JsonObject } from "../vector/vector_file.ts";
import { callMethod } from "./mcp_tools.ts";
import { answerModern } from "./modern_mcp_server.ts";
import type { Handler } from "./oauth_server.ts";
import type { RecordedRequest } from "./recorded.ts";
import type { Answer } from "./response.ts";

/** The id of the event after which an interrupted stream can be resumed. */
export const RESUMABLE_EVENT = "e1";

const REVISIONS = ["2025-11-25", "2025-06-18", "2025-03-26"];
/** Flows whose requests without an access token are challenged (RFC 9728). */
const NEED_TOKEN = ["authorize", "refresh_at_once"];

/** @param flow decides the revision, and whether an access token is needed, or expires */
export function createMcpServer(base: string, flow: string): Handler {
  let sessions = 0;
  return (request) => {
    if (request.path !== "/mcp") return undefined;
    const token = /^Bearer (access-\d+)$/i.exec(request.headers["authorization"] ?? "")?.[1];
    const isExpired = flow === "refresh_at_once" && token === "access-1" &&
      isJsonObject(request.json) && request.json["method"] === "tools/call";
    if (NEED_TOKEN.includes(flow) && (token === undefined || isExpired)) {
      request.at = "challenge";
      const metadata = `${base}/.well-known/oauth-protected-resource/mcp`;
      return {
        status: 401,
        headers: { "www-authenticate": `Bearer resource_metadata="${metadata}", scope="read"` },
        json: { error: "invalid_token" },
      };
    }
    if (flow.startsWith("modern")) return answerModern(request);
    if (request.method === "GET") {
      request.at = "get";
      const last = request.headers["last-event-id"];
      if (last !== RESUMABLE_EVENT) return { status: 405, headers: { allow: "POST, DELETE" } };
      request.at = "resume";
      return { status: 200, headers: {} };
    }
    if (request.method === "DELETE") {
      request.at = "delete";
      return { status: 200, headers: {} };
    }
    return answerMessage(request, () => `session-${++sessions}`);
  };
}

function answerMessage(request: RecordedRequest, beginSession: () => string): Answer {
  const { json } = request;
  if (!isJsonObject(json)) {
    request.at = "unparsable";
    const error = { code: -32700, message: "Parse error" };
    return { status: 400, headers: {}, message: { jsonrpc: "2.0", id: null, error } };
  }
  const { method, id } = json;
  if (typeof method !== "string") {
    request.at = "response";
    return { status: 202, headers: {} };
  }
  request.at = method;
  if (id === undefined) return { status: 202, headers: {} };
  const result = method === "initialize" ? initialize(json) : callMethod(method, json);
  return {
    status: 200,
    headers: method === "initialize" ? { "mcp-session-id": beginSession() } : {},
    message: result
      ? { jsonrpc: "2.0", id, result }
      : { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } },
  };
}

function initialize({ params }: JsonObject): JsonObject {
  const asked = isJsonObject(params) ? params["protocolVersion"] : undefined;
  return {
    protocolVersion: REVISIONS.includes(String(asked)) ? asked : REVISIONS[0],
    capabilities: { tools: {} },
    serverInfo: { name: "conformance", version: "1.0.0" },
  };
}
