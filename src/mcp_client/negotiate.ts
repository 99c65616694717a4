/**
 * Finds the newest revision that client and server have: `server/discover` first, then `initialize`
 * (https://modelcontextprotocol.io/specification/draft/basic/versioning#backward-compatibility-with-earlier-versions).
 *
 * @module
 */
import type { ClientCapabilities, ClientExchange, ConnectionInfo } from "./client.ts";
import { ConnectionError, McpError } from "./error.ts";
import type { JsonObject } from "./limits.ts";
import { isObject } from "./message.ts";
import {
  HEADER_MISMATCH,
  LEGACY,
  META_PREFIX,
  MISSING_CAPABILITY,
  MODERN,
  UNSUPPORTED_VERSION,
} from "./revision.ts";
import type { Wire } from "./wire.ts";

/** How long a process may take for `server/discover` before `initialize` is tried too. */
const PROBE_MS = 3000;

/** @param known the revision of an earlier connection */
export async function negotiate(
  wire: Wire,
  capabilities: ClientCapabilities,
  known: string | undefined,
  exchange: ClientExchange,
  probeMs: number = PROBE_MS,
): Promise<ConnectionInfo> {
  // HTTP+SSE is older than server/discover.
  if (wire.kind === "sse" || known !== undefined && LEGACY.includes(known)) {
    return await initialize(wire, capabilities, known, exchange);
  }
  const discovered = wire.kind === "stdio"
    ? await probeProcess(wire, capabilities, exchange, probeMs)
    : await discover(wire, exchange);
  if ("transport" in discovered) return discovered;
  const { result, versions } = discovered;
  if (result && versions.includes(MODERN)) return useModern(wire, result);
  const newest = versions.length === 0 ? LEGACY[0] : LEGACY.find((revision) => versions.includes(revision));
  if (newest === undefined) {
    const offered = versions.slice(0, 5).map((version) => version.slice(0, 20)).join(", ");
    throw new ConnectionError("unsupported", wire.server, `supports only the revisions ${offered}`);
  }
  return await initialize(wire, capabilities, newest, exchange);
}

/** The answer to `server/discover`; without `versions`, the server is of an older revision. */
interface Discovered {
  readonly result?: JsonObject;
  readonly versions: readonly string[];
}

/** @throws when the server could not be reached, or is of 2026-07-28 and refuses */
async function discover(wire: Wire, exchange: ClientExchange): Promise<Discovered> {
  try {
    const { result } = await wire.send("server/discover", {}, exchange, { revision: MODERN, once: true });
    return { result, versions: readVersions(result.supportedVersions) };
  } catch (error) {
    if (error instanceof McpError) {
      if (error.code === UNSUPPORTED_VERSION && isObject(error.data)) {
        const versions = readVersions(error.data.supported);
        if (versions.length > 0 && !versions.includes(MODERN)) return { versions };
      }
      if ([HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION].includes(error.code)) throw error;
      return { versions: [] };
    }
    if (error instanceof ConnectionError && isOlder(error)) return { versions: [] };
    throw error;
  }
}

/** Whether an HTTP status is what servers of older revisions answer to an unknown request. */
function isOlder({ reason, status = 0 }: ConnectionError): boolean {
  const isPossible = status === 200 || status === 202 || status === 500 || status === 501 ||
    status >= 400 && status < 500 && status !== 429;
  return (reason === "status" || reason === "malformed") && isPossible;
}

/**
 * A process that starts slowly, or ignores what it does not know, gets `initialize` after a while; the response to it
 * decides, as it makes the connection a session. If it is an error, the late response to `server/discover` counts.
 */
async function probeProcess(
  wire: Wire,
  capabilities: ClientCapabilities,
  exchange: ClientExchange,
  probeMs: number,
): Promise<Discovered | ConnectionInfo> {
  const probe = discover(wire, exchange);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), probeMs);
  });
  try {
    const discovered = await Promise.race([probe, late]);
    if (discovered) return discovered;
  } finally {
    clearTimeout(timer);
  }
  try {
    const info = await initialize(wire, capabilities, undefined, exchange);
    // Without this, the rejection of a request that is never answered would be unhandled.
    probe.catch(() => {});
    return info;
  } catch (error) {
    if (!(error instanceof McpError)) {
      probe.catch(() => {});
      throw error;
    }
    return await probe;
  }
}

function readVersions(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function useModern(wire: Wire, { capabilities, instructions, _meta }: JsonObject): ConnectionInfo {
  wire.revision = MODERN;
  const info = isObject(_meta) ? _meta[META_PREFIX + "serverInfo"] : undefined;
  return toInfo(wire, MODERN, info, capabilities, instructions);
}

/** The handshake of revisions up to 2025-11-25. @throws {ConnectionError} unsupported */
export async function initialize(
  wire: Wire,
  capabilities: ClientCapabilities,
  revision: string = LEGACY[0]!,
  exchange: ClientExchange,
): Promise<ConnectionInfo> {
  const { extensions: _, ...declared } = capabilities;
  const params = { protocolVersion: revision, capabilities: declared, clientInfo: wire.clientInfo };
  wire.revision = undefined;
  const { result } = await wire.send("initialize", params, exchange, { once: true });
  const { protocolVersion, serverInfo, instructions } = result;
  if (typeof protocolVersion !== "string" || !LEGACY.includes(protocolVersion)) {
    const offered = typeof protocolVersion === "string" ? `"${protocolVersion.slice(0, 20)}"` : "no revision";
    throw new ConnectionError("unsupported", wire.server, `answered initialize with ${offered}`);
  }
  wire.revision = protocolVersion;
  await wire.notify("notifications/initialized", {}, exchange);
  return toInfo(wire, protocolVersion, serverInfo, result.capabilities, instructions);
}

function toInfo(
  wire: Wire,
  revision: string,
  serverInfo: unknown,
  capabilities: unknown,
  instructions: unknown,
): ConnectionInfo {
  return {
    revision,
    serverInfo: isObject(serverInfo) ? serverInfo : {},
    capabilities: isObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === "string" ? instructions : undefined,
    transport: wire.kind,
  };
}
