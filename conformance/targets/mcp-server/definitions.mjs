/**
 * The definitions that both transports of this target serve: tools, one of which needs a scope, prompts, resources,
 * logging.
 */
import { setTimeout as pause } from "node:timers/promises";
import { completable, McpServer, requireScopes, ResourceTemplate } from "@modelcontextprotocol/server";
import * as z from "zod/v4";

const textResult = (text) => ({ content: [{ type: "text", text }] });

/**
 * @param changed notifies subscribers of changed lists of tools or prompts; by default the server itself does
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
    () => textResult("Hello."),
  );
  server.registerTool(
    "echo",
    {
      description: "Returns its text",
      inputSchema: z.object({ text: z.string() }),
    },
    ({ text }) => textResult(text),
  );
  server.registerTool(
    "write",
    {
      description: "Needs a scope",
      scopeChallenge: requireScopes("files:write"),
    },
    () => textResult("Written."),
  );
  server.registerTool(
    "steps",
    { description: "Reports progress" },
    async (context) => {
      for (const done of [0, 50, 100]) {
        await progress(context, done);
        await pause(50);
      }
      return textResult("Done.");
    },
  );
  server.registerTool("slow", {
    description: "Takes 1.5 seconds and can be cancelled",
  }, async (context) => {
    await progress(context, 0);
    await pause(1500, undefined, { signal: context.mcpReq.signal });
    return textResult("Done.");
  });
  server.registerTool(
    "log",
    { description: "Writes to the log" },
    async (context) => {
      await context.mcpReq.log("info", "It was called");
      return textResult("Done.");
    },
  );
  server.registerTool("change_tools", {
    description: "Reports that the tools changed",
  }, () => {
    changes.tools();
    return textResult("Done.");
  });
  server.registerTool("change_prompts", {
    description: "Reports that the prompts changed",
  }, () => {
    changes.prompts();
    return textResult("Done.");
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
