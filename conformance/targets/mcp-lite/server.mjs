/**
 * mcp-lite on Hono, set up as in its README with its memory adapters: sessions, and only its own origin allowed.
 *
 *   node server.mjs PORT
 */
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import {
  InMemoryClientRequestAdapter,
  InMemorySessionAdapter,
  McpServer,
  StreamableHttpTransport,
} from "mcp-lite";
import { z } from "zod";

const port = Number(process.argv[2]);
const textResult = (text) => ({ content: [{ type: "text", text }] });

const server = new McpServer({
  name: "conformance-target",
  version: "1",
  schemaAdapter: (schema) => z.toJSONSchema(schema),
})
  .tool("hello", { description: "Says hello", handler: () => textResult("Hello.") })
  .tool("echo", {
    description: "Returns its text",
    inputSchema: z.object({ text: z.string() }),
    handler: ({ text }) => textResult(text),
  })
  .tool("steps", {
    description: "Reports progress",
    handler: async (_args, context) => {
      for (const progress of [0, 50, 100]) {
        await context.progress?.({ progress, total: 100 });
        await pause(50);
      }
      return textResult("Done.");
    },
  })
  .prompt("greet", {
    description: "Greets someone",
    arguments: z.object({ name: z.string() }),
    handler: ({ name }) => ({
      messages: [{
        role: "user",
        content: { type: "text", text: `Greet ${name}` },
      }],
    }),
  })
  .resource(
    "text://motto",
    { name: "motto", description: "A motto", mimeType: "text/plain" },
    (uri) => ({ contents: [{ uri: uri.href, type: "text", text: "Ask." }] }),
  )
  .resource(
    "page://{number}",
    { name: "page", description: "A page", mimeType: "text/plain" },
    (uri, { number }) => ({
      contents: [{ uri: uri.href, type: "text", text: `Page ${number}` }],
    }),
  );

const handle = new StreamableHttpTransport({
  sessionAdapter: new InMemorySessionAdapter({ maxEventBufferSize: 1024 }),
  clientRequestAdapter: new InMemoryClientRequestAdapter({
    defaultTimeoutMs: 30_000,
  }),
  allowedHosts: [`127.0.0.1:${port}`],
  allowedOrigins: [`http://127.0.0.1:${port}`],
}).bind(server);

const app = new Hono();
app.all("/mcp", (context) => handle(context.req.raw));
serve({ fetch: app.fetch, port, hostname: "127.0.0.1" });
