/**
 * MCP clients for the tests of the scenarios, of the kinds of `test_oauth_client.ts`.
 *
 * @module
 */
import { isJsonObject, type JsonObject } from "../vector/vector_file.ts";
import { EXIT } from "./driver.ts";
import { findAnyResult, readEvents } from "./test_event_stream.ts";
import { runModernClient } from "./test_modern_client.ts";
import {
  type Env,
  fetchMetadata,
  getText,
  type Kind,
  refuse,
  requestToken,
  signIn,
} from "./test_oauth_client.ts";

const REVISIONS = ["2025-11-25", "2025-06-18"];
const KNOWN_NOTIFICATIONS = ["notifications/message"];

/** Performs a flow of the suite `mcp`. Returns the exit code. */
export async function runMcpClient(kind: Kind, env: Env): Promise<number> {
  const flow = env["CONFORMANCE_FLOW"]!;
  if (flow.startsWith("modern")) return await runModernClient(kind, env);
  const client = new McpClient(kind, env);
  if (flow === "authorize" || flow === "refresh_at_once") await authorize(client, kind, env);
  await client.start();
  const { tools } = await client.call("tools/list");
  if (kind === "careless") await client.call("tools/list", { cursor: "next" });
  if (kind !== "careless" && !Array.isArray(tools)) refuse("tools");
  if (kind === "rigid" && JSON.stringify(tools).includes("example")) refuse("unknown member");
  if (flow === "measure") {
    const { structuredContent } = await client.call("tools/call", { name: "measure" });
    const isNumber = isJsonObject(structuredContent) && typeof structuredContent["value"] === "number";
    if (kind !== "careless" && !isNumber) refuse("structuredContent");
  } else if (flow === "cancel") await client.cancelCall();
  else if (flow === "refresh_at_once") {
    const params = { name: "echo", arguments: { text: "hello" } };
    await Promise.all([client.call("tools/call", params), client.call("tools/call", params)]);
  } else {
    const { content } = await client.call("tools/call", { name: "echo", arguments: { text: "hello" } });
    const isText = Array.isArray(content) && getText(content[0], "text") === "hello";
    if (kind !== "careless" && !isText) refuse("content");
  }
  await client.end();
  return EXIT["accepted"]!;
}

/** Gets a token for the client, and lets it refresh it. */
async function authorize(client: McpClient, kind: Kind, env: Env): Promise<void> {
  const resource = env["CONFORMANCE_BASE"]!;
  const { origin } = new URL(resource);
  const response = await fetch(`${origin}/.well-known/oauth-protected-resource/mcp`);
  const about: JsonObject = await response.json();
  if (kind !== "careless" && about["resource"] !== resource) refuse("resource");
  const metadata = await fetchMetadata(kind, `${origin}/.well-known/oauth-authorization-server`, origin);
  const methods = metadata["code_challenge_methods_supported"];
  if (kind !== "careless" && !(Array.isArray(methods) && methods.includes("S256"))) refuse("PKCE");
  const tokens = await signIn(kind, env, metadata, { resource });
  client.token = String(tokens["access_token"]);
  client.refresh = async () => {
    const form = { grant_type: "refresh_token", refresh_token: String(tokens["refresh_token"]) };
    return String((await requestToken(kind, env, metadata, form, []))["access_token"]);
  };
}

class McpClient {
  readonly #kind: Kind;
  readonly #env: Env;
  readonly #isCareless: boolean;
  #lastId = 0;
  #session: string | undefined;
  #revision: string | undefined;
  #refreshed: Promise<string> | undefined;
  token: string | undefined;
  refresh: (() => Promise<string>) | undefined;

  constructor(kind: Kind, env: Env) {
    this.#kind = kind;
    this.#env = env;
    this.#isCareless = kind === "careless";
  }

  async start(): Promise<void> {
    this.#session = this.#revision = undefined;
    const params = {
      protocolVersion: REVISIONS[0],
      capabilities: {},
      ...(this.#isCareless ? {} : { clientInfo: { name: "test", version: "1" } }),
    };
    const { protocolVersion } = await this.call("initialize", params);
    if (this.#isCareless) return;
    if (!REVISIONS.includes(String(protocolVersion))) refuse("revision");
    if (this.#kind === "rigid" && (protocolVersion !== REVISIONS[0] || !this.#session)) refuse("unusual");
    this.#revision = String(protocolVersion);
    const { status } = await this.#post({ jsonrpc: "2.0", method: "notifications/initialized" });
    if (this.#kind === "rigid" && status !== 202) refuse("unusual");
  }

  async call(method: string, params: JsonObject = {}): Promise<JsonObject> {
    const id = this.#isCareless ? null : ++this.#lastId;
    const response = await this.#post({ jsonrpc: "2.0", id, method, params });
    if (this.#isCareless) return findAnyResult(await response.text().catch(() => ""));
    if (response.status === 404 && this.#session !== undefined && this.#kind === "careful") {
      await this.start();
      return await this.call(method, params);
    }
    if (response.status === 401 && this.refresh && !this.#refreshed) this.#refreshed = this.refresh();
    if (response.status === 401 && this.#refreshed) {
      this.token = await this.#refreshed;
      return await this.call(method, params);
    }
    if (response.status !== 200) refuse(`${response.status}`);
    this.#session ??= response.headers.get("mcp-session-id") ?? undefined;
    const message = await this.#findResponse(response, id);
    const result = isJsonObject(message) ? message["result"] : undefined;
    if (!isJsonObject(message) || message["jsonrpc"] !== "2.0" || !isJsonObject(result)) {
      return refuse("result");
    }
    if (this.#kind === "rigid" && "example" in result) refuse("unknown member");
    return result;
  }

  /** Calls a tool that does not end, gives it up, and calls another. */
  async cancelCall(): Promise<void> {
    const id = this.#isCareless ? null : ++this.#lastId;
    const abort = new AbortController();
    const params = { name: "wait", arguments: {} };
    const response = await this.#post({ jsonrpc: "2.0", id, method: "tools/call", params }, abort.signal);
    if (!this.#isCareless) {
      await this.#post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
      await response.text();
    }
    abort.abort();
    await this.call("tools/call", { name: "echo", arguments: { text: "hello" } });
  }

  async end(): Promise<void> {
    if (this.#session === undefined) return;
    const response = await fetch(this.#env["CONFORMANCE_BASE"]!, {
      method: "DELETE",
      headers: this.#toHeaders(),
    });
    if (this.#kind === "rigid" && !response.ok) refuse("unusual");
  }

  #toHeaders(): Record<string, string> {
    return {
      ...(this.token !== undefined && !this.#isCareless && { authorization: `Bearer ${this.token}` }),
      ...(this.#session !== undefined && { "mcp-session-id": this.#session }),
      ...(this.#revision !== undefined && { "mcp-protocol-version": this.#revision }),
    };
  }

  #post(message: JsonObject, signal?: AbortSignal): Promise<Response> {
    const query = this.#isCareless && this.token !== undefined ? `?access_token=${this.token}` : "";
    return fetch(`${this.#env["CONFORMANCE_BASE"]}${query}`, {
      method: "POST",
      headers: this.#isCareless ? { "content-type": "text/plain" } : {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...this.#toHeaders(),
      },
      body: JSON.stringify(message),
      ...(signal && { signal }),
    });
  }

  async #findResponse(response: Response, id: unknown): Promise<unknown> {
    const type = response.headers.get("content-type");
    if (type === "application/json") {
      const message: unknown = await response.json();
      return isJsonObject(message) && message["id"] === id ? message : refuse("id");
    }
    if (type !== "text/event-stream" || this.#kind === "rigid") refuse("content type");
    let lastEvent: string | undefined;
    for await (const { data, eventId } of readEvents(response.body!)) {
      lastEvent = eventId ?? lastEvent;
      if (data === "") continue;
      const message: JsonObject = JSON.parse(data);
      if (message["id"] === id && message["method"] === undefined) return message;
      await this.#answer(message);
    }
    if (lastEvent === undefined) return refuse("end of the stream");
    const headers = { ...this.#toHeaders(), accept: "text/event-stream", "last-event-id": lastEvent };
    return await this.#findResponse(await fetch(this.#env["CONFORMANCE_BASE"]!, { headers }), id);
  }

  async #answer({ id, method }: JsonObject): Promise<void> {
    if (id === undefined || method === undefined) {
      if (this.#kind === "rigid" && !KNOWN_NOTIFICATIONS.includes(String(method))) refuse("unknown message");
      return;
    }
    const error = { code: -32601, message: "Method not found" };
    await this.#post({ jsonrpc: "2.0", id, ...(method === "ping" ? { result: {} } : { error }) });
  }
}
