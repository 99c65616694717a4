/**
 * mcp-lite on Hono, as its README has it, with what it keeps in memory for one server: sessions, and no origin but its own.
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
const said = (text) => ({ content: [{ type: "text", text }] });

const server = new McpServer({
  name: "conformance-target",
  version: "1",
  schemaAdapter: (schema) => z.toJSONSchema(schema),
})
  .tool("hello", { description: "Says hello", handler: () => said("Hello.") })
  .tool("echo", {
    description: "Says it again",
    inputSchema: z.object({ text: z.string() }),
    handler: ({ text }) => said(text),
  })
  .tool("steps", {
    description: "Tells how far it is",
    handler: async (_args, context) => {
      for (const progress of [0, 50, 100]) {
        await context.progress?.({ progress, total: 100 });
        await pause(50);
      }
      return said("Done.");
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
