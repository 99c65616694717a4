/**
 * MCP clients of 2026-07-28 for the tests of the scenarios, of the kinds of `test_oauth_client.ts`.
 *
 * @module
 */
import { isJsonObject, type JsonObject } from "../vector/vector_file.ts";
import { EXIT } from "./driver.ts";
import { findAnyResult, readEvents } from "./test_event_stream.ts";
import { type Env, getText, type Kind, refuse } from "./test_oauth_client.ts";

const REVISION = "2026-07-28";
const HEADER_MISMATCH = -32020;
const PRIMITIVES = ["string", "integer", "boolean"];

/** Performs a flow of 2026-07-28. Returns the exit code. */
export async function runModernClient(kind: Kind, env: Env): Promise<number> {
  const text = env["CONFORMANCE_FLOW"] === "modern_text" ? env["CONFORMANCE_TEXT"]! : "hello";
  const client = new ModernClient(kind, env["CONFORMANCE_BASE"]!);
  await client.call("server/discover");
  const { content } = await client.callTool("echo", { text });
  const isText = Array.isArray(content) && getText(content[0], "text") === text;
  if (kind !== "careless" && !isText) refuse("content");
  return EXIT["accepted"]!;
}

/** The JSON-RPC error of a response. */
class RpcError extends Error {
  readonly code: unknown;
  constructor(code: unknown) {
    super(`error ${code}`);
    this.code = code;
  }
}

class ModernClient {
  readonly #kind: Kind;
  readonly #url: string;
  #lastId = 0;

  constructor(kind: Kind, url: string) {
    this.#kind = kind;
    this.#url = url;
  }

  async callTool(name: string, args: Readonly<Record<string, string>>, isRetry = false): Promise<JsonObject> {
    const marks = await this.#findTool(name);
    const headers: Record<string, string> = { "mcp-name": toHeaderValue(name) };
    for (const [property, field] of marks) {
      if (args[property] !== undefined) headers[`mcp-param-${field}`] = toHeaderValue(args[property]);
    }
    if (this.#kind === "careless") headers["mcp-param-text"] = JSON.stringify(args["text"]);
    try {
      return await this.call("tools/call", { name, arguments: args }, headers);
    } catch (error) {
      const isMismatch = error instanceof RpcError && error.code === HEADER_MISMATCH && !isRetry;
      return isMismatch && this.#kind === "careful"
        ? await this.callTool(name, args, true)
        : refuse(`${error}`);
    }
  }

  /** The marked properties of a listed tool, with their header fields. */
  async #findTool(name: string): Promise<ReadonlyMap<string, string>> {
    const { tools } = await this.call("tools/list");
    if (this.#kind === "careless") {
      await this.call("tools/list", { cursor: "next" });
      return new Map();
    }
    if (!Array.isArray(tools)) return refuse("tools");
    const marks = new Map(tools.map((tool) => [getText(tool, "name"), findMarks(tool)]));
    if (this.#kind === "rigid" && [...marks.values()].includes(undefined)) refuse("x-mcp-header");
    return marks.get(name) ?? refuse(`no tool ${name}`);
  }

  async call(
    method: string,
    params: JsonObject = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<JsonObject> {
    if (this.#kind === "careless") return await this.#callCarelessly(method, params, headers);
    const id = ++this.#lastId;
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": REVISION,
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    };
    const response = await fetch(this.#url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": REVISION,
        "mcp-method": method,
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta } }),
    });
    const message = await this.#readResponse(response, id);
    if (isJsonObject(message["error"])) throw new RpcError(message["error"]["code"]);
    const { result } = message;
    if (!isJsonObject(result)) return refuse("result");
    const type = this.#kind === "rigid" ? result["resultType"] : result["resultType"] ?? "complete";
    return type === "complete" ? result : refuse("resultType");
  }

  async #readResponse(response: Response, id: number): Promise<JsonObject> {
    if (response.headers.get("content-type") === "application/json") {
      const message: unknown = await response.json();
      return isJsonObject(message) && message["id"] === id ? message : refuse("id");
    }
    if (this.#kind === "rigid") refuse("content type");
    for await (const { data } of readEvents(response.body!)) {
      if (data === "") continue;
      const message: JsonObject = JSON.parse(data);
      if (message["id"] === id && message["method"] === undefined) return message;
    }
    return refuse("end of the stream");
  }

  async #callCarelessly(
    method: string,
    params: JsonObject,
    headers: Readonly<Record<string, string>>,
  ): Promise<JsonObject> {
    const send = (message: JsonObject | JsonObject[]) =>
      fetch(this.#url, {
        method: "POST",
        headers: { "content-type": "text/plain", ...headers },
        body: JSON.stringify(message),
      });
    const message = { jsonrpc: "2.0", id: 1, method, params };
    const text = await (await send(method === "server/discover" ? [message] : message)).text();
    if (text.includes("server-1")) await send({ jsonrpc: "2.0", id: "server-1", result: {} });
    return findAnyResult(text);
  }
}

/** The properties of a tool that `x-mcp-header` marks, with their fields; `undefined` if a mark is not allowed. */
function findMarks(tool: unknown): ReadonlyMap<string, string> | undefined {
  const schema = isJsonObject(tool) ? tool["inputSchema"] : undefined;
  const properties = isJsonObject(schema) && isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const marks = new Map<string, string>();
  for (const [name, property] of Object.entries(properties)) {
    if (!isJsonObject(property) || !("x-mcp-header" in property)) continue;
    const field = getText(property, "x-mcp-header").toLowerCase();
    const isAllowed = /^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(field) &&
      PRIMITIVES.includes(getText(property, "type"));
    if (!isAllowed || [...marks.values()].includes(field)) return undefined;
    marks.set(name, field);
  }
  return marks;
}

function toHeaderValue(text: string): string {
  const isPlain = /^[\x20-\x7e\t]*$/.test(text) && text.trim() === text && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}?=`;
}
