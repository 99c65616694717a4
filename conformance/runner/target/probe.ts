/**
 * Detects the features of a target that declares none: by the metadata of an authorization server (RFC
 * 8414), an authorization request, MCP handshakes, or a JSON-RPC request. Only what was seen is claimed.
 *
 * @module
 */
import { type Claims, formatNote } from "./claims.ts";
import { probeMcp } from "./probe_mcp.ts";
import { sendMessages } from "../exchange/rpc_steps.ts";
import { runStep } from "../step.ts";
import type { Target } from "./target.ts";
import { isJsonObject, type JsonObject } from "../vector/vector_file.ts";
import { createContext, type VectorContext } from "../context.ts";
import { isEqual } from "../vector/match.ts";

/**
 * @param suiteFolders folders of the selected vectors
 * @param why the reason why no metadata was found
 */
export async function probe(
  target: Target,
  suiteFolders: ReadonlySet<string>,
  why?: string,
): Promise<Claims> {
  const all: Claims[] = [];
  if (suiteFolders.has("oauth")) all.push(readMetadataClaims(target, why), await probePkce(target));
  if (suiteFolders.has("jsonrpc")) all.push(await probeRpc(target));
  if (suiteFolders.has("mcp")) all.push(await probeMcp(target));
  if (suiteFolders.has("skills")) all.push({ features: [], notes: [] });
  return {
    features: all.flatMap(({ features }) => features),
    vars: Object.assign({}, ...all.map(({ vars }) => vars)),
    procedures: Object.assign({}, ...all.map(({ procedures }) => procedures)),
    notes: all.flatMap(({ notes }) => notes),
  };
}

/** The features that the metadata declares. */
function readMetadataClaims({ variables, discovered }: Target, why?: string): Claims {
  const { metadata, endpoints } = variables as { metadata?: unknown; endpoints: JsonObject };
  if (!isJsonObject(metadata)) {
    const hasEndpoints = endpoints["authorization"] !== undefined && endpoints["token"] !== undefined;
    const found = hasEndpoints ? ["authorization_code"] : [];
    return {
      features: found,
      notes: [formatNote(`no RFC 8414 metadata${why === undefined ? "" : ` (${why})`}`, found)],
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
  const declared: Readonly<Record<string, boolean>> = {
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
    request_objects: metadata["request_parameter_supported"] === true,
    signed_responses: list("authorization_signing_alg_values_supported").length > 0,
    form_post: list("response_modes_supported").includes("form_post"),
    introspection: endpoints["introspection"] !== undefined,
    revocation: endpoints["revocation"] !== undefined,
    registration: endpoints["registration"] !== undefined,
  };
  const features = Object.keys(declared).filter((feature) => declared[feature]);
  return { features, notes: [formatNote(`metadata at ${discovered}`, features)] };
}

/** Metadata does not say whether PKCE is required: a request of a confidential client without it shows that. */
async function probePkce(target: Target): Promise<Claims> {
  const { procedures, variables: { clients } } = target;
  const asksPerson = [...procedures.values()].some((each) => "ask" in each);
  if (asksPerson || !isJsonObject(clients) || clients["confidential"] === undefined) {
    return { features: [], notes: [] };
  }
  const context = createContext("probe", { target, seed: "probe", maxWaitSeconds: 0 });
  const query = {
    response_type: "code",
    client_id: "{{clients.confidential.id}}",
    redirect_uri: "{{clients.confidential.redirect_uri}}",
    scope: "{{scope}}",
  };
  try {
    await runStep({ call: "login", with: { user: "{{users.alice}}" } }, context);
    const expect = { redirect: { query: { error: "invalid_request" } } };
    await runStep({ call: "authorize", with: { query: { value: query } }, expect }, context);
  } catch {
    return { features: [], notes: [] };
  }
  const features = ["pkce_always"];
  return { features, notes: [formatNote("authorization request without PKCE is refused", features)] };
}

/** Requests of the example methods, with the result that shows each. Those without one may return anything. */
const EXAMPLE_REQUESTS: readonly ExampleRequest[] = [
  { method: "subtract", params: [42, 23], result: 19 },
  { method: "subtract", params: { subtrahend: 23, minuend: 42 }, result: 19 },
  { method: "sum", params: [1, 2, 4], result: 7 },
  { method: "get_data", result: ["hello", 5] },
  { method: "update", params: [1, 2, 3, 4, 5] },
  { method: "notify_hello", params: [7] },
  { method: "notify_sum", params: [1, 2, 4] },
];

interface ExampleRequest {
  readonly method: string;
  readonly params?: unknown;
  readonly result?: unknown;
}

const METHOD_NOT_FOUND = -32601;

async function probeRpc(target: Target): Promise<Claims> {
  const context = createContext("probe", { target, seed: "probe", maxWaitSeconds: 0 });
  try {
    return await probeExampleMethods(context);
  } finally {
    await context.stdio?.kill();
  }
}

async function probeExampleMethods(context: VectorContext): Promise<Claims> {
  const requests = EXAMPLE_REQUESTS.map(({ result: _, ...call }, n) => ({
    jsonrpc: "2.0",
    id: n + 1,
    ...call,
  }));
  const { messages, broken, status } = await sendMessages({ send: requests.slice(0, 1) }, context);
  const [response] = Array.isArray(messages) ? messages : [];
  if (!isJsonObject(response) || response["jsonrpc"] !== "2.0") {
    const received = broken ?? (status === undefined ? "no JSON-RPC message" : `status ${status}`);
    return {
      features: ["jsonrpc", "batch"],
      notes: [`no response to the first JSON-RPC request: ${received}`],
    };
  }
  const common = ["jsonrpc", "batch"];
  if (response["result"] !== EXAMPLE_REQUESTS[0]!.result) {
    return { features: common, notes: [formatNote("JSON-RPC 2.0 response", common)] };
  }
  const rest = await sendMessages({ send: requests.slice(1) }, context);
  const responses = [response, ...Array.isArray(rest["messages"]) ? rest["messages"] : []].filter(
    isJsonObject,
  );
  const missing = EXAMPLE_REQUESTS.filter((example, n) =>
    !isExample(example, responses.find((each) => each["id"] === n + 1))
  ).map(({ method }) => method);
  if (missing.length > 0) {
    const note = formatNote("JSON-RPC 2.0 response", common);
    return { features: common, notes: [note, `example methods that are missing: ${missing.join(", ")}`] };
  }
  const features = [...common, "example_methods"];
  return { features, notes: [formatNote("JSON-RPC 2.0 response", features)] };
}

/** Whether the response is that of the example method. */
function isExample({ result }: ExampleRequest, response: JsonObject | undefined): boolean {
  if (result !== undefined) return isEqual(response?.["result"], result);
  const error = response?.["error"];
  return response !== undefined && !(isJsonObject(error) && error["code"] === METHOD_NOT_FOUND);
}
