/**
 * What both transports of this target serve: tools, one of which needs a scope, prompts, resources, a log.
 */
import { setTimeout as pause } from "node:timers/promises";
import { completable, McpServer, requireScopes, ResourceTemplate } from "@modelcontextprotocol/server";
import * as z from "zod/v4";

const said = (text) => ({ content: [{ type: "text", text }] });

/**
 * @param changed tells who listens that the list of tools or prompts is another; without it the server itself does
 */
export function buildServer(changed) {
  const server = new McpServer({ name: "conformance-target", version: "1" }, {
    capabilities: { logging: {} },
  });
  const changes = changed ?? {
    tools: () => server.sendToolListChanged(),
    prompts: () => server.sendPromptListChanged(),
  };
  const progress = async (context, done) => {
    const progressToken = context.mcpReq._meta?.progressToken;
    if (progressToken === undefined) return;
    await context.mcpReq.notify({
      method: "notifications/progress",
      params: { progressToken, progress: done, total: 100 },
    });
  };

  server.registerTool(
    "hello",
    { description: "Says hello" },
    () => said("Hello."),
  );
  server.registerTool(
    "echo",
    {
      description: "Says it again",
      inputSchema: z.object({ text: z.string() }),
    },
    ({ text }) => said(text),
  );
  server.registerTool(
    "write",
    {
      description: "Needs a scope",
      scopeChallenge: requireScopes("files:write"),
    },
    () => said("Written."),
  );
  server.registerTool(
    "steps",
    { description: "Tells how far it is" },
    async (context) => {
      for (const done of [0, 50, 100]) {
        await progress(context, done);
        await pause(50);
      }
      return said("Done.");
    },
  );
  server.registerTool("slow", {
    description: "Takes its time, and may be cancelled",
  }, async (context) => {
    await progress(context, 0);
    await pause(1500, undefined, { signal: context.mcpReq.signal });
    return said("Done.");
  });
  server.registerTool(
    "log",
    { description: "Writes to the log" },
    async (context) => {
      await context.mcpReq.log("info", "It was called");
      return said("Done.");
    },
  );
  server.registerTool("change_tools", {
    description: "Tells that the tools changed",
  }, () => {
    changes.tools();
    return said("Told.");
  });
  server.registerTool("change_prompts", {
    description: "Tells that the prompts changed",
  }, () => {
    changes.prompts();
    return said("Told.");
  });
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
