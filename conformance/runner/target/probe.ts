/**
 * What a target shows of itself, for who says no `features`: metadata of an authorization server (RFC 8414), the handshake
 * of MCP, an answer to JSON-RPC. Nothing is claimed that was not seen.
 *
 * @module
 */
import { type Claims, note } from "./claims.ts";
import { probeMcp } from "./probe_mcp.ts";
import { sendMessages } from "../exchange/ask_rpc.ts";
import type { Target } from "./target.ts";
import { isMembers, type Members } from "../vector/vector_file.ts";
import { newWorld } from "../world.ts";

/**
 * @param kinds folders of the vectors that shall be asked
 * @param why no metadata was found
 */
export async function probe(target: Target, kinds: ReadonlySet<string>, why?: string): Promise<Claims> {
  const all: Claims[] = [];
  if (kinds.has("oauth")) all.push(claimsOfMetadata(target, why));
  if (kinds.has("jsonrpc")) all.push(await probeRpc(target));
  if (kinds.has("mcp")) all.push(await probeMcp(target));
  if (kinds.has("skills")) all.push({ features: [], notes: [] });
  return {
    features: all.flatMap(({ features }) => features),
    vars: Object.assign({}, ...all.map(({ vars }) => vars)),
    procedures: Object.assign({}, ...all.map(({ procedures }) => procedures)),
    notes: all.flatMap(({ notes }) => notes),
  };
}

/** Members of the metadata to the feature that they show. */
function claimsOfMetadata({ variables, discovered }: Target, why?: string): Claims {
  const { metadata, endpoints } = variables as { metadata?: unknown; endpoints: Members };
  if (!isMembers(metadata)) {
    const hasEndpoints = endpoints["authorization"] !== undefined && endpoints["token"] !== undefined;
    const found = hasEndpoints ? ["authorization_code"] : [];
    return {
      features: found,
      notes: [note(`no metadata of RFC 8414${why === undefined ? "" : ` (${why})`}`, found)],
    };
  }
  const list = (name: string, usual: readonly string[] = []) => {
    const value = metadata[name];
    return Array.isArray(value) ? value.map(String) : usual;
  };
  const grants = list("grant_types_supported", ["authorization_code", "implicit"]);
  const types = list("response_types_supported");
  const methods = list("code_challenge_methods_supported");
  const isCode = grants.includes("authorization_code") && types.includes("code");
  const shown: Readonly<Record<string, boolean>> = {
    metadata: discovered?.includes("/.well-known/oauth-authorization-server") === true,
    authorization_code: isCode && endpoints["authorization"] !== undefined,
    pkce: methods.includes("S256"),
    pkce_plain: methods.includes("plain"),
    client_credentials: grants.includes("client_credentials"),
    password: grants.includes("password"),
    implicit: grants.includes("implicit") && types.includes("token"),
    hybrid: types.some((type) => !["code", "token", "none"].includes(type)),
    client_secret_post: list("token_endpoint_auth_methods_supported").includes("client_secret_post"),
    iss: metadata["authorization_response_iss_parameter_supported"] === true,
    introspection: endpoints["introspection"] !== undefined,
    revocation: endpoints["revocation"] !== undefined,
    registration: endpoints["registration"] !== undefined,
  };
  const features = Object.keys(shown).filter((feature) => shown[feature]);
  return { features, notes: [note(`metadata at ${discovered}`, features)] };
}

async function probeRpc(target: Target): Promise<Claims> {
  const world = newWorld("probe", { target, seed: "probe", mostWaiting: 0 });
  const ask = { jsonrpc: "2.0", id: 1, method: "subtract", params: [42, 23] };
  const { messages, broken, status } = await sendMessages({ send: [ask] }, world);
  await world.stdio?.kill();
  const [answer] = Array.isArray(messages) ? messages : [];
  if (!isMembers(answer) || answer["jsonrpc"] !== "2.0") {
    const came = broken ?? (status === undefined ? "no message of JSON-RPC" : `status ${status}`);
    return { features: ["jsonrpc", "batch"], notes: [`a first JSON-RPC request came to: ${came}`] };
  }
  const features = ["jsonrpc", "batch", ...(answer["result"] === 19 ? ["example_methods"] : [])];
  return { features, notes: [note("an answer of JSON-RPC 2.0", features)] };
}
