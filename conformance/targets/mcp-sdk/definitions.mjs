/**
 * What both transports of this target serve: a tool, a prompt, resources, a log.
 */
import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import {
  McpServer,
  ResourceTemplate,
} from "@modelcontextprotocol/sdk/server/mcp.js";
import * as z from "zod/v4";

export function buildServer() {
  const server = new McpServer({ name: "conformance-target", version: "1" }, {
    capabilities: { logging: {} },
  });
  server.registerTool(
    "echo",
    { description: "Says it again", inputSchema: { text: z.string() } },
    ({ text }) => ({ content: [{ type: "text", text }] }),
  );
  server.registerPrompt(
    "greet",
    {
      description: "Greets someone",
      argsSchema: {
        name: completable(
          z.string(),
          (start) => ["Alice", "Bob"].filter((name) => name.startsWith(start)),
        ),
      },
    },
    ({ name }) => ({
      messages: [{
        role: "user",
        content: { type: "text", text: `Greet ${name}` },
      }],
    }),
  );
  server.registerResource(
    "motto",
    "text://motto",
    { description: "A motto", mimeType: "text/plain" },
    (uri) => ({ contents: [{ uri: uri.href, text: "Ask." }] }),
  );
  server.registerResource(
    "page",
    new ResourceTemplate("page://{number}", { list: undefined }),
    { description: "A page", mimeType: "text/plain" },
    (uri, { number }) => ({
      contents: [{ uri: uri.href, text: `Page ${number}` }],
    }),
  );
  return server;
}
