/**
 * Requests and results of revision 2026-07-28: reads the `_meta` of requests and writes that of results
 * (https://modelcontextprotocol.io/specification/draft/basic/index#meta).
 *
 * @module
 */
import { INVALID_REQUEST, RpcError } from "../jsonrpc/error.ts";
import { type Request, type Response, writeResponse } from "../jsonrpc/message.ts";
import type { Call } from "./call.ts";
import { LEGACY, MODERN } from "./era.ts";
import { HeaderMismatchError, MetaError, unsupportedVersion } from "./error.ts";
import { decodeHeaderValue } from "./http/header_value.ts";
import { readClientInfo } from "./session/lifecycle.ts";
import { parseLogLevel } from "./log_level.ts";
import { implementation, type ServerInfo } from "./definition/server_info.ts";

const PREFIX = "io.modelcontextprotocol/";
const VERSION_KEY = PREFIX + "protocolVersion";
const CAPABILITIES_KEY = PREFIX + "clientCapabilities";
const INFO_KEY = PREFIX + "clientInfo";
const LEVEL_KEY = PREFIX + "logLevel";
const SERVER_KEY = PREFIX + "serverInfo";

type Members = Readonly<Record<string, unknown>>;

/** `params._meta` of a message; `undefined` when it is not an object. */
export function metaOf(params: unknown): Members | undefined {
  const meta = typeof params === "object" && params !== null ? (params as Members)._meta : undefined;
  return typeof meta === "object" && meta !== null && !Array.isArray(meta) ? meta as Members : undefined;
}

/** The protocol version in `_meta`, which may be of any type; `undefined` without one. */
export function claimedRevision(meta: Members | undefined): unknown {
  return meta && Object.hasOwn(meta, VERSION_KEY) ? meta[VERSION_KEY] : undefined;
}

/**
 * Reads `_meta` into the call, after checks in the order that clients rely on. `headers` only over HTTP.
 * @throws {MetaError} {@linkcode HeaderMismatchError}, -32022
 */
export function readMeta(call: Call, { id, method, params }: Request, headers: Headers | undefined): void {
  if (id === null || typeof id === "number" && !Number.isInteger(id)) {
    throw new RpcError(INVALID_REQUEST, "Invalid Request: id must be a string or an integer");
  }
  const meta = metaOf(params) ?? {};
  const version = meta[VERSION_KEY];
  if (typeof version !== "string") throw new MetaError(`_meta["${VERSION_KEY}"] must be a string`);
  const capabilities = meta[CAPABILITIES_KEY];
  if (!isObject(capabilities)) throw new MetaError(`_meta["${CAPABILITIES_KEY}"] must be an object`);
  const info = meta[INFO_KEY];
  if (info !== undefined && !isObject(info)) throw new MetaError(`_meta["${INFO_KEY}"] must be an object`);
  if (headers) checkVersion(headers, version);
  if (version !== MODERN && !LEGACY.includes(version)) throw unsupportedVersion(version);
  if (headers && version === MODERN) checkNames(headers, method, params as Members);
  const level = meta[LEVEL_KEY];
  call.capabilities = capabilities;
  call.meta = meta;
  if (info) call.clientInfo = readClientInfo(info);
  if (level !== undefined) call.logLevel = parseLogLevel(level);
}

function checkVersion(headers: Headers, version: string): void {
  const field = headers.get("mcp-protocol-version");
  if (field === null) throw new HeaderMismatchError("MCP-Protocol-Version is missing");
  if (field !== version) {
    throw new HeaderMismatchError("MCP-Protocol-Version does not match the protocol version in _meta");
  }
}

/** The parameter that `Mcp-Name` repeats, by method. */
const NAME_PARAMETERS: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

/** Standard request headers (basic/transports/streamable-http). */
function checkNames(headers: Headers, method: string, params: Members): void {
  const field = headers.get("mcp-method");
  if (field === null) throw new HeaderMismatchError("Mcp-Method is missing");
  if (field !== method) throw new HeaderMismatchError("Mcp-Method does not match the method in the body");
  const member = Object.hasOwn(NAME_PARAMETERS, method) ? NAME_PARAMETERS[method] : undefined;
  if (member === undefined) return;
  const name = headers.get("mcp-name");
  const value = params[member];
  if (name === null) throw new HeaderMismatchError(`Mcp-Name is missing. It must equal params.${member}`);
  if (value === undefined || decodeHeaderValue(name) !== value) {
    throw new HeaderMismatchError(`Mcp-Name does not match params.${member}`);
  }
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Writes responses of revision 2026-07-28. */
export interface ModernWriter {
  /** The beginning of every complete result: `{"resultType":"complete","_meta":{…}`. */
  readonly head: string;
  /** Returns the JSON text of a response. */
  readonly write: (response: Response) => string;
}

/** Creates a writer that adds the server info to every result. */
export function createModernWriter(info: ServerInfo): ModernWriter {
  const server = implementation(info, MODERN);
  const head = `{"resultType":"complete","_meta":{"${SERVER_KEY}":${JSON.stringify(server)}}`;

  function writeResult(result: unknown): string {
    const members = (result ?? {}) as Members;
    if (members.resultType === undefined && members._meta === undefined) {
      const text = JSON.stringify(members);
      return text === "{}" ? head + "}" : `${head},${text.slice(1)}`;
    }
    const meta = { ...members._meta as Members | undefined, [SERVER_KEY]: server };
    return JSON.stringify({ resultType: "complete", ...members, _meta: meta });
  }

  return {
    head,
    write: (response) =>
      writeResponse(
        "result" in response ? { id: response.id, json: writeResult(response.result) } : response,
      ),
  };
}
