/**
 * Detects the MCP revisions and capabilities of a server by its handshakes.
 *
 * @module
 */
import { sendMessages } from "../exchange/rpc_steps.ts";
import { runStep } from "../step.ts";
import { type Claims, formatNote } from "./claims.ts";
import type { Target } from "./target.ts";
import { isJsonObject, type JsonObject } from "../vector/vector_file.ts";
import type { View } from "../vector/view.ts";
import { formatValue } from "../report/describe.ts";
import { createContext, type VectorContext } from "../context.ts";

const HANDSHAKE_REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const;
const STATELESS_REVISION = "2026-07-28";
const CLIENT_INFO = { name: "conformance", version: "1" };
const CAPABILITY_FEATURES: Readonly<Record<string, string>> = {
  tools: "mcp_tools",
  prompts: "mcp_prompts",
  resources: "mcp_resources",
  logging: "mcp_logging",
  completions: "mcp_completions",
};

export async function probeMcp(target: Target): Promise<Claims> {
  const features = new Set(["mcp"]);
  let first: View | undefined;
  for (const revision of HANDSHAKE_REVISIONS) {
    const view = await sendProbe(target, {}, {
      method: "initialize",
      params: { protocolVersion: revision, capabilities: {}, clientInfo: CLIENT_INFO },
    }, async (context, { headers }) => {
      const session = (headers as JsonObject | undefined)?.["mcp-session-id"];
      if (session !== undefined && await endSession(context, session)) features.add("mcp_delete");
    });
    first ??= view;
    const result = findResult(view);
    if (result?.["protocolVersion"] !== revision) continue;
    features.add(`mcp_${revision}`);
    if ((view["headers"] as JsonObject | undefined)?.["mcp-session-id"] !== undefined) {
      features.add("mcp_sessions");
    }
    addCapabilities(features, result);
  }
  const prefix = "io.modelcontextprotocol";
  const modern = await sendProbe(
    target,
    { "mcp-protocol-version": STATELESS_REVISION, "mcp-method": "server/discover" },
    {
      method: "server/discover",
      params: {
        _meta: {
          [`${prefix}/protocolVersion`]: STATELESS_REVISION,
          [`${prefix}/clientCapabilities`]: {},
          [`${prefix}/clientInfo`]: CLIENT_INFO,
        },
      },
    },
  );
  const discovered = findResult(modern);
  if (
    Array.isArray(discovered?.["supportedVersions"]) &&
    discovered["supportedVersions"].includes(STATELESS_REVISION)
  ) {
    features.add(`mcp_${STATELESS_REVISION}`);
    addCapabilities(features, discovered);
  }
  return toClaims(target, features, first ?? {});
}

function toClaims(target: Target, features: Set<string>, first: View): Claims {
  const vars = { mcp: { host: new URL(target.base).hostname } };
  if (first["status"] === 401) {
    features.add("mcp_authorization");
    const hint =
      'the server requires a token (401): add "features" and a procedure "mcp_token" that sets "token" to the target file';
    return { features: [...features], vars, notes: [hint] };
  }
  if (features.size === 1) {
    return {
      features: [...features],
      vars,
      notes: [`"initialize" returned no known protocol revision (${describeReceived(first)})`],
    };
  }
  if (target.sender && isLoopback(vars.mcp.host)) features.add("mcp_origin");
  // The server requires no token and may refuse an invalid one, so none is sent.
  const procedures = { mcp_token: () => ({ token: null }) };
  return {
    features: [...features],
    vars,
    procedures,
    notes: [formatNote("MCP handshakes", [...features])],
  };
}

/** Sends one request in a context of its own. */
async function sendProbe(
  target: Target,
  headers: JsonObject,
  message: JsonObject,
  after?: (context: VectorContext, view: View) => Promise<void>,
): Promise<View> {
  const context = createContext("probe", { target, seed: "probe", maxWaitSeconds: 0 });
  context.variables["endpoints"] = {
    ...(context.variables["endpoints"] as JsonObject),
    rpc: getMcpEndpoint(target),
  };
  try {
    const view = await sendMessages({ send: [{ jsonrpc: "2.0", id: 1, ...message }], headers }, context);
    await after?.(context, view);
    return view;
  } finally {
    await context.stdio?.kill();
  }
}

async function endSession(context: VectorContext, session: unknown): Promise<boolean> {
  const headers = { "mcp-session-id": session };
  try {
    await runStep({ request: { method: "DELETE", url: getMcpEndpoint(context.target), headers } }, context);
  } catch {
    return false;
  }
  return [200, 202, 204].includes(Number(context.last["status"]));
}

function getMcpEndpoint({ variables, base }: Target): string {
  return String((variables["endpoints"] as JsonObject)["mcp"] ?? base);
}

function findResult({ messages }: View): JsonObject | undefined {
  const response = (Array.isArray(messages) ? messages : []).find((each) =>
    isJsonObject(each) && each["id"] === 1
  );
  const result = isJsonObject(response) ? response["result"] : undefined;
  return isJsonObject(result) ? result : undefined;
}

/** What came in place of a result of "initialize". */
function describeReceived({ messages, broken, why, status }: View): string {
  const response = (Array.isArray(messages) ? messages : []).find((each) =>
    isJsonObject(each) && ("result" in each || "error" in each)
  ) as JsonObject | undefined;
  if (response && response["id"] !== 1) {
    return `the id of the response is ${formatValue(response["id"])}, that of the request is 1`;
  }
  if (response?.["error"] !== undefined) return `error ${formatValue(response["error"])}`;
  if (response) {
    const { result } = response;
    const revision = isJsonObject(result) ? result["protocolVersion"] : undefined;
    return `protocolVersion is ${formatValue(revision)}`;
  }
  return broken === undefined ? `status ${status ?? "none"}` : `${broken}: ${why}`;
}

/** Servers on loopback must refuse foreign origins: a page of another site could reach them by DNS rebinding. */
function isLoopback(host: string): boolean {
  return /^(?:localhost|.+\.localhost|127\.[\d.]+|\[::1\])$/.test(host);
}

function addCapabilities(features: Set<string>, { capabilities }: JsonObject): void {
  for (const [name, feature] of Object.entries(CAPABILITY_FEATURES)) {
    if (isJsonObject(capabilities) && capabilities[name] !== undefined) features.add(feature);
  }
}
