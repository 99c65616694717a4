/**
 * The definitions that all transports of this target serve: tools, prompts, resources, logging.
 */
import { setTimeout as pause } from "node:timers/promises";
import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import * as z from "zod/v4";

const textResult = (text) => ({ content: [{ type: "text", text }] });

async function progress(extra, done) {
  const progressToken = extra._meta?.progressToken;
  if (progressToken === undefined) return;
  await extra.sendNotification({
    method: "notifications/progress",
    params: { progressToken, progress: done, total: 100 },
  });
}

export function buildServer() {
  const server = new McpServer({ name: "conformance-target", version: "1" }, {
    capabilities: { logging: {} },
  });
  server.registerTool(
    "hello",
    { description: "Says hello" },
    () => textResult("Hello."),
  );
  server.registerTool(
    "echo",
    { description: "Returns its text", inputSchema: { text: z.string() } },
    ({ text }) => textResult(text),
  );
  server.registerTool(
    "steps",
    { description: "Reports progress" },
    async (extra) => {
      for (const done of [0, 50, 100]) {
        await progress(extra, done);
        await pause(50);
      }
      return textResult("Done.");
    },
  );
  server.registerTool("slow", {
    description: "Takes 1.5 seconds and can be cancelled",
  }, async (extra) => {
    await progress(extra, 0);
    await pause(1500, undefined, { signal: extra.signal });
    return textResult("Done.");
  });
  server.registerTool(
    "log",
    { description: "Writes to the log" },
    async (extra) => {
      await server.sendLoggingMessage(
        { level: "info", data: "It was called" },
        extra.sessionId,
      );
      return textResult("Done.");
    },
  );
  server.registerTool("change_tools", {
    description: "Reports that the tools changed",
  }, () => {
    server.sendToolListChanged();
    return textResult("Done.");
  });
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
