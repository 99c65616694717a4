/**
 * A server process for the benchmarks over HTTP: `raw` is bare `node:http`, `trivet` is Trivet on `trivet/node`. Prints its
 * port.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createServer } from "node:http";
import process from "node:process";
import { createTrivet, memoryStore } from "../../src/mod.ts";
import { serve } from "../../src/runtime/node.ts";
import { add } from "./in_process.ts";

if (process.argv[2] === "raw") {
  const server = createServer((request, response) => {
    const chunks: Uint8Array[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : undefined;
      const text = JSON.stringify({
        jsonrpc: "2.0",
        id: body?.id ?? 0,
        result: { content: [{ type: "text", text: "3" }] },
      });
      response.writeHead(200, {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(text),
      }).end(text);
    });
  });
  server.listen(0, "127.0.0.1", () => console.log((server.address() as { port: number }).port));
} else {
  let handler = createTrivet({ issuer: "http://127.0.0.1", store: memoryStore() });
  const server = await serve({ fetch: (request, context) => handler.fetch(request, context) }, { port: 0 });
  handler = createTrivet({
    issuer: server.url,
    store: memoryStore(),
    oauth: { clients: [{ id: "app", secret: "secret" }] },
    mcp: { tools: [add("add")] },
  });
  console.log(server.port);
}
