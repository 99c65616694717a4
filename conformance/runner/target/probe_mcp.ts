/**
 * Which revisions and capabilities of MCP a server shows in its handshakes.
 *
 * @module
 */
import { sendMessages } from "../exchange/ask_rpc.ts";
import { runStep } from "../step.ts";
import { type Claims, note } from "./claims.ts";
import type { Target } from "./target.ts";
import { isMembers, type Members } from "../vector/vector_file.ts";
import type { View } from "../vector/view.ts";
import { newWorld, type World } from "../world.ts";

const WITH_HANDSHAKE = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const;
const WITHOUT = "2026-07-28";
const ME = { name: "conformance", version: "1" };
const CAPABILITIES: Readonly<Record<string, string>> = {
  tools: "mcp_tools",
  prompts: "mcp_prompts",
  resources: "mcp_resources",
  logging: "mcp_logging",
  completions: "mcp_completions",
};

export async function probeMcp(target: Target): Promise<Claims> {
  const features = new Set(["mcp"]);
  let first: View | undefined;
  for (const revision of WITH_HANDSHAKE) {
    const view = await ask(target, {}, {
      method: "initialize",
      params: { protocolVersion: revision, capabilities: {}, clientInfo: ME },
    }, async (world, { headers }) => {
      const session = (headers as Members | undefined)?.["mcp-session-id"];
      if (session !== undefined && await endSession(world, session)) features.add("mcp_delete");
    });
    first ??= view;
    const result = resultOf(view);
    if (result?.["protocolVersion"] !== revision) continue;
    features.add(`mcp_${revision}`);
    if ((view["headers"] as Members | undefined)?.["mcp-session-id"] !== undefined) {
      features.add("mcp_sessions");
    }
    addCapabilities(features, result);
  }
  const prefix = "io.modelcontextprotocol";
  const modern = await ask(
    target,
    { "mcp-protocol-version": WITHOUT, "mcp-method": "server/discover" },
    {
      method: "server/discover",
      params: {
        _meta: {
          [`${prefix}/protocolVersion`]: WITHOUT,
          [`${prefix}/clientCapabilities`]: {},
          [`${prefix}/clientInfo`]: ME,
        },
      },
    },
  );
  const discovered = resultOf(modern);
  if (Array.isArray(discovered?.["supportedVersions"]) && discovered["supportedVersions"].includes(WITHOUT)) {
    features.add(`mcp_${WITHOUT}`);
    addCapabilities(features, discovered);
  }
  return conclude(target, features, first ?? {});
}

function conclude(target: Target, features: Set<string>, first: View): Claims {
  const vars = { mcp: { host: new URL(target.base).hostname } };
  const { status, broken, why } = first;
  if (status === 401) {
    features.add("mcp_authorization");
    const hint =
      'it asks for a token (401): give a procedure "mcp_token" that leaves "token", and "features"';
    return { features: [...features], vars, notes: [hint] };
  }
  if (features.size === 1) {
    const came = broken === undefined ? `status ${status ?? "none"}` : `${broken}: ${why}`;
    return { features: [...features], vars, notes: [`"initialize" came to no known revision (${came})`] };
  }
  // It wants no token, and may refuse one that is wrong: so none is sent.
  const procedures = { mcp_token: () => ({ token: null }) };
  return { features: [...features], vars, procedures, notes: [note("handshakes of MCP", [...features])] };
}

/** One request, in a world of its own. */
async function ask(
  target: Target,
  headers: Members,
  message: Members,
  after?: (world: World, view: View) => Promise<void>,
): Promise<View> {
  const world = newWorld("probe", { target, seed: "probe", mostWaiting: 0 });
  world.variables["endpoints"] = { ...(world.variables["endpoints"] as Members), rpc: rpcOf(target) };
  try {
    const view = await sendMessages({ send: [{ jsonrpc: "2.0", id: 1, ...message }], headers }, world);
    await after?.(world, view);
    return view;
  } finally {
    await world.stdio?.kill();
  }
}

async function endSession(world: World, session: unknown): Promise<boolean> {
  const headers = { "mcp-session-id": session };
  try {
    await runStep({ request: { method: "DELETE", url: rpcOf(world.target), headers } }, world);
  } catch {
    return false;
  }
  return [200, 202, 204].includes(Number(world.last["status"]));
}

function rpcOf({ variables, base }: Target): string {
  return String((variables["endpoints"] as Members)["mcp"] ?? base);
}

function resultOf({ messages }: View): Members | undefined {
  const answer = (Array.isArray(messages) ? messages : []).find((each) =>
    isMembers(each) && each["id"] === 1
  );
  const result = isMembers(answer) ? answer["result"] : undefined;
  return isMembers(result) ? result : undefined;
}

function addCapabilities(features: Set<string>, { capabilities }: Members): void {
  for (const [name, feature] of Object.entries(CAPABILITIES)) {
    if (isMembers(capabilities) && capabilities[name] !== undefined) features.add(feature);
  }
}
