/**
 * The definitions that both transports of this target serve: tools on two pages, a prompt, resources, logging.
 */
import { setTimeout as pause } from "node:timers/promises";
import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod";
import { McpServer } from "tmcp";
import { complete, prompt, resource, tool } from "tmcp/utils";
import * as z from "zod";

export const server = new McpServer({
  name: "conformance-target",
  version: "1",
  description: "A target",
}, {
  adapter: new ZodJsonSchemaAdapter(),
  capabilities: {
    logging: {},
    completions: {},
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { listChanged: true },
  },
  pagination: { tools: { size: 4 } },
});

server.tool(
  { name: "hello", description: "Says hello" },
  () => tool.text("Hello."),
);
server.tool(
  {
    name: "echo",
    description: "Returns its text",
    schema: z.object({ text: z.string() }),
  },
  ({ text }) => tool.text(text),
);
server.tool({ name: "steps", description: "Reports progress" }, async () => {
  for (const done of [0, 50, 100]) {
    server.progress(done, 100);
    await pause(50);
  }
  return tool.text("Done.");
});
server.tool({
  name: "slow",
  description: "Takes 1.5 seconds and can be cancelled",
}, async () => {
  const { signal } = server.ctx;
  server.progress(0, 100);
  await pause(1500, undefined, { signal });
  return tool.text("Done.");
});
server.tool({ name: "log", description: "Writes to the log" }, () => {
  server.log("info", "It was called");
  return tool.text("Done.");
});
server.tool({
  name: "change_tools",
  description: "Reports that the tools changed",
}, () => {
  server.changed("tools");
  return tool.text("Done.");
});
server.tool({
  name: "change_prompts",
  description: "Reports that the prompts changed",
}, () => {
  server.changed("prompts");
  return tool.text("Done.");
});
server.prompt(
  {
    name: "greet",
    description: "Greets someone",
    schema: z.object({ name: z.string() }),
    complete: {
      name: (start) =>
        complete.values(
          ["Alice", "Bob"].filter((name) => name.startsWith(start)),
        ),
    },
  },
  ({ name }) => prompt.message(`Greet ${name}`),
);
server.resource(
  { name: "motto", description: "A motto", uri: "text://motto" },
  (uri) => resource.text(uri, "Ask.", "text/plain"),
);
server.template(
  { name: "page", description: "A page", uri: "page://{number}" },
  (uri, { number }) => resource.text(uri, `Page ${number}`, "text/plain"),
);
