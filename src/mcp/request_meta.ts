/**
 * Reads the `_meta` of requests of revision 2026-07-28, and checks the header fields that repeat what they say
 * (https://modelcontextprotocol.io/specification/draft/basic/index#meta).
 *
 * @module
 */
import { INVALID_REQUEST, RpcError } from "../jsonrpc/error.ts";
import type { Request } from "../jsonrpc/message.ts";
import { isObject } from "../json_schema/value.ts";
import type { LogLevel } from "./context.ts";
import { LEGACY, MODERN } from "./era.ts";
import { headerMismatch, MetaError, unsupportedVersion } from "./error.ts";
import { decodeHeaderValue } from "./http/header_value.ts";
import { parseLogLevel } from "./log_level.ts";

const PREFIX = "io.modelcontextprotocol/";
const VERSION_KEY = PREFIX + "protocolVersion";
const CAPABILITIES_KEY = PREFIX + "clientCapabilities";
const INFO_KEY = PREFIX + "clientInfo";
const LEVEL_KEY = PREFIX + "logLevel";

type Members = Readonly<Record<string, unknown>>;

/** `params._meta` of a message; `undefined` when it is not an object. */
export function metaOf(params: unknown): Members | undefined {
  const meta = isObject(params) ? params._meta : undefined;
  return isObject(meta) ? meta : undefined;
}

/** The protocol version in `_meta`, which may be of any type; `undefined` without one. */
export function claimedRevision(meta: Members | undefined): unknown {
  return meta && Object.hasOwn(meta, VERSION_KEY) ? meta[VERSION_KEY] : undefined;
}

/** What `_meta` says of the client. */
export interface RequestMeta {
  readonly meta: Members;
  readonly capabilities: Members;
  readonly clientInfo: ReturnType<typeof readClientInfo> | undefined;
  readonly logLevel: LogLevel | undefined;
}

/**
 * Reads `_meta`, after checks in the order that clients rely on. `headers` only over HTTP.
 * @throws {RpcError} {@linkcode MetaError}, -32020, -32022
 */
export function readMeta({ id, method, params }: Request, headers: Headers | undefined): RequestMeta {
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
  return {
    meta,
    capabilities,
    clientInfo: info && readClientInfo(info),
    logLevel: level === undefined ? undefined : parseLogLevel(level),
  };
}

function checkVersion(headers: Headers, version: string): void {
  const field = headers.get("mcp-protocol-version");
  if (field === null) throw headerMismatch("MCP-Protocol-Version is missing");
  if (field !== version) {
    throw headerMismatch("MCP-Protocol-Version does not match the protocol version in _meta");
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
  if (field === null) throw headerMismatch("Mcp-Method is missing");
  if (field !== method) throw headerMismatch("Mcp-Method does not match the method in the body");
  const member = Object.hasOwn(NAME_PARAMETERS, method) ? NAME_PARAMETERS[method] : undefined;
  if (member === undefined) return;
  const name = headers.get("mcp-name");
  const value = params[member];
  if (name === null) throw headerMismatch(`Mcp-Name is missing. It must equal params.${member}`);
  if (value === undefined || decodeHeaderValue(name) !== value) {
    throw headerMismatch(`Mcp-Name does not match params.${member}`);
  }
}

/** Name and version, shortened, as they are part of the session id. */
export function readClientInfo(
  { name, version }: Readonly<Record<string, unknown>>,
): { readonly name?: string; readonly version?: string } {
  return {
    ...(typeof name === "string" && { name: name.slice(0, 100) }),
    ...(typeof version === "string" && { version: version.slice(0, 50) }),
  };
}
