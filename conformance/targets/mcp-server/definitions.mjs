/**
 * What both transports of this target serve: tools, one of which needs a scope, prompts, resources, a log.
 */
import {
  completable,
  McpServer,
  requireScopes,
  ResourceTemplate,
} from "@modelcontextprotocol/server";
import * as z from "zod/v4";

export function buildServer() {
  const server = new McpServer({ name: "conformance-target", version: "1" }, {
    capabilities: { logging: {} },
  });
  server.registerTool(
    "echo",
    {
      description: "Says it again",
      inputSchema: z.object({ text: z.string() }),
    },
    ({ text }) => ({ content: [{ type: "text", text }] }),
  );
  server.registerTool(
    "write",
    {
      description: "Needs a scope",
      scopeChallenge: requireScopes("files:write"),
    },
    () => ({ content: [{ type: "text", text: "written" }] }),
  );
  server.registerPrompt(
    "greet",
    {
      description: "Greets someone",
      argsSchema: z.object({
        name: completable(
          z.string(),
          (start) => ["Alice", "Bob"].filter((name) => name.startsWith(start)),
        ),
      }),
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
