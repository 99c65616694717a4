/**
 * The floor: the cost of any handler. In process it is a bare `Response.json`, over HTTP bare `node:http`, over stdio one
 * parsed line and one written line. The bare switch, in process only, is the minimum of a server: it reads each message and
 * responds completely, almost without checks.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import type { Handler, Server } from "./subject.ts";
import { add, createJsonSchemaTools } from "./tools.ts";
import {
  BOTH_TYPES,
  LEGACY,
  type Message,
  META,
  MODERN,
  type Operation,
  toLegacyFields,
  toModernFields,
  toParams,
} from "./wire.ts";

const RESULT = { content: [{ type: "text", text: "42" }] };
const STREAM = { "content-type": "text/event-stream", "cache-control": "no-cache" };

export function server(option?: string): Server {
  return {
    handlers(tools) {
      const handle = option === "switch"
        ? createSwitch(tools)
        : async () => Response.json({ jsonrpc: "2.0", id: 0, result: RESULT });
      return { stateless: handle, session: handle, modern: handle };
    },
    listen() {
      const http = createServer((request, response) => {
        // An open stream, to measure the memory of a connection that every server needs.
        if (request.method === "GET") {
          return response.writeHead(200, STREAM).write(": open\n\n");
        }
        const chunks: Uint8Array[] = [];
        request.on("data", (chunk) => chunks.push(chunk));
        request.on("end", () => {
          const { id } = JSON.parse(Buffer.concat(chunks).toString());
          const text = JSON.stringify({ jsonrpc: "2.0", id, result: RESULT });
          const length = Buffer.byteLength(text);
          response.writeHead(200, { "content-type": "application/json", "content-length": length }).end(text);
        });
      });
      return new Promise((resolve) =>
        http.listen(0, "127.0.0.1", () => resolve((http.address() as AddressInfo).port))
      );
    },
    serveStdio() {
      let rest = "";
      process.stdin.setEncoding("utf8").on("data", (text: string) => {
        const lines = (rest + text).split("\n");
        rest = lines.pop()!;
        for (const line of lines) {
          const { id } = JSON.parse(line);
          if (id === undefined) continue;
          process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: RESULT }) + "\n");
        }
      });
    },
  };
}

function createSwitch(count: number): Handler {
  const tools = createJsonSchemaTools(count).map(({ name, description, schema }) => ({
    name,
    description,
    inputSchema: schema,
  }));
  const serverInfo = { name: "bench", version: "1.0.0" };
  const capabilities = { tools: {} };
  return async (request) => {
    const { id, method, params } = JSON.parse(await request.text() || "{}");
    const respond = (result: unknown) => Response.json({ jsonrpc: "2.0", id, result });
    switch (method) {
      case "initialize":
        return Response.json({
          jsonrpc: "2.0",
          id,
          result: { protocolVersion: LEGACY, capabilities, serverInfo },
        }, { headers: { "mcp-session-id": "a-session" } });
      case "server/discover":
        return respond({ supportedVersions: [MODERN], capabilities, resultType: "complete" });
      case "tools/list":
        return respond({ tools, resultType: "complete" });
      case "tools/call":
        if (typeof params.arguments.a !== "number") {
          return respond({ content: [], isError: true });
        }
        return respond({ ...add(params.arguments), resultType: "complete" });
    }
    return new Response(null, { status: 202 });
  };
}

/**
 * A message like those that `prepare` sends, for a floor: it has the header fields and the length of a client's
 * request, so that making the request costs the same.
 */
export function createFloorMessage({ variant, method }: Operation, tools: number): Message {
  const params = toParams(method, tools);
  const session = variant === "session" && method !== "initialize" ? crypto.randomUUID() : null;
  const all = variant === "modern" ? { ...params, _meta: META } : params;
  return {
    method: "POST",
    headers: variant === "modern"
      ? toModernFields(method, params.name as string | undefined)
      : method === "initialize"
      ? { "content-type": "application/json", accept: BOTH_TYPES }
      : toLegacyFields({ revision: LEGACY, session }, BOTH_TYPES),
    body: JSON.stringify({ jsonrpc: "2.0", id: 0, method, params: all }),
  };
}
