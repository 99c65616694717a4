/**
 * The correct MCP server of the scenarios for 2026-07-28: self-contained requests, without a handshake and sessions.
 *
 * @module
 */
import { isJsonObject, type JsonObject } from "../vector/vector_file.ts";
import { callMethod } from "./mcp_tools.ts";
import type { RecordedRequest } from "./recorded.ts";
import type { Answer } from "./response.ts";

const REVISION = "2026-07-28";
const LISTS: JsonObject = { ttlMs: 0, cacheScope: "private" };

/** Answers a request to the MCP endpoint. Sets `request.at`. */
export function answerModern(request: RecordedRequest): Answer {
  const { json } = request;
  if (request.method !== "POST") {
    request.at = request.method.toLowerCase();
    return { status: 405, headers: { allow: "POST" } };
  }
  if (!isJsonObject(json)) {
    request.at = "unparsable";
    return fail(null, 400, -32700, "Parse error");
  }
  const { method, id, params } = json;
  if (typeof method !== "string") {
    request.at = "response";
    return fail(null, 400, -32600, "Invalid Request");
  }
  request.at = method;
  if (id === undefined) return { status: 202, headers: {} };
  const meta = isJsonObject(params) ? params["_meta"] : undefined;
  const asked = isJsonObject(meta) ? meta["io.modelcontextprotocol/protocolVersion"] : undefined;
  // Requests of a careless client are answered too, so that the scenario sees all of them.
  if (method === "initialize" || asked !== undefined && asked !== REVISION) {
    const data = { supported: [REVISION], requested: String(asked ?? "") };
    return fail(id, 400, -32022, "Unsupported protocol version", data);
  }
  const result = method === "server/discover" ? discover() : callMethod(method, json);
  return result
    ? {
      status: 200,
      headers: {},
      message: {
        jsonrpc: "2.0",
        id,
        result: { resultType: "complete", ...result, ...(method === "tools/list" && LISTS) },
      },
    }
    : fail(id, 404, -32601, "Method not found");
}

function discover(): JsonObject {
  return {
    ...LISTS,
    supportedVersions: [REVISION],
    capabilities: { tools: {} },
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "conformance", version: "1.0.0" } },
  };
}

function fail(id: unknown, status: number, code: number, message: string, data?: JsonObject): Answer {
  const error = { code, message, ...(data && { data }) };
  return { status, headers: {}, message: { jsonrpc: "2.0", id, error } };
}
