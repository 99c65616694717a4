/**
 * `@modelcontextprotocol/server` 2.x: its `createMcpHandler`, which creates a server for each request, for all revisions,
 * and a table of sessions for revision 2025-11-25, which its documentation leaves to users. Its limit of 1,024
 * subscriptions is raised, to measure the memory of one.
 *
 * @module
 */
import { listenWithHono } from "./listen.ts";
import { packageUrl, type Server } from "./subject.ts";
import { createSessionHandler } from "./session_table.ts";
import { add, createJsonSchemaTools, createZodTools, loadZodToolFactory } from "./tools.ts";

export function server(option?: string): Server {
  async function loadFactory(count: number) {
    const { McpServer, fromJsonSchema } = await import(packageUrl("@modelcontextprotocol/server"));
    const createTools = await loadZodToolFactory();
    const tools = option === "json_schema"
      ? createJsonSchemaTools(count).map((tool) => ({ ...tool, inputSchema: fromJsonSchema(tool.schema) }))
      : (await createZodTools(count)).map((tool) => ({ ...tool, inputSchema: tool.zod }));
    return () => {
      const server = new McpServer({ name: "bench", version: "1.0.0" });
      // The documentation creates schemas where tools are registered, so for each request.
      const registered = option === "in_factory"
        ? createTools(count).map((tool) => ({ ...tool, inputSchema: tool.zod }))
        : tools;
      for (const { name, description, inputSchema } of registered) {
        server.registerTool(name, { description, inputSchema }, add);
      }
      return server;
    };
  }
  return {
    async handlers(count) {
      const create = await loadFactory(count);
      const {
        createMcpHandler,
        WebStandardStreamableHTTPServerTransport: Transport,
      } = await import(packageUrl("@modelcontextprotocol/server"));
      const handler = createMcpHandler(create, { maxSubscriptions: 1_000_000 });
      const handle = (request: Request): Promise<Response> => handler.fetch(request);
      return { stateless: handle, session: createSessionHandler(Transport, create), modern: handle };
    },
    listen: listenWithHono,
    async serveStdio(count) {
      const { serveStdio } = await import(packageUrl("@modelcontextprotocol/server/stdio"));
      serveStdio(await loadFactory(count));
    },
  };
}
