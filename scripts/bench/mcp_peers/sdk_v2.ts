/**
 * `@modelcontextprotocol/server` 2.x: its `createMcpHandler` for both eras, with a server made for each request as it
 * does, and a table of sessions for revision 2025-11-25, which its documentation leaves to users. Its limit of 1,024
 * subscriptions is raised, to count what one takes.
 *
 * @module
 */
import { listenByHono } from "./listen.ts";
import { packageUrl, type Server } from "./subject.ts";
import { keepSessions } from "./session_table.ts";
import { add, jsonSchemaTools, zodToolMaker, zodTools } from "./tools.ts";

export function server(option?: string): Server {
  async function creator(count: number) {
    const { McpServer, fromJsonSchema } = await import(packageUrl("@modelcontextprotocol/server"));
    const make = await zodToolMaker();
    const tools = option === "json_schema"
      ? jsonSchemaTools(count).map((tool) => ({ ...tool, inputSchema: fromJsonSchema(tool.schema) }))
      : (await zodTools(count)).map((tool) => ({ ...tool, inputSchema: tool.zod }));
    return () => {
      const server = new McpServer({ name: "bench", version: "1.0.0" });
      // Its documentation writes schemas where tools are registered, so they are made for each request too.
      const offered = option === "in_factory"
        ? make(count).map((tool) => ({ ...tool, inputSchema: tool.zod }))
        : tools;
      for (const { name, description, inputSchema } of offered) {
        server.registerTool(name, { description, inputSchema }, add);
      }
      return server;
    };
  }
  return {
    async handlers(count) {
      const create = await creator(count);
      const {
        createMcpHandler,
        WebStandardStreamableHTTPServerTransport: Transport,
      } = await import(packageUrl("@modelcontextprotocol/server"));
      const handler = createMcpHandler(create, { maxSubscriptions: 1_000_000 });
      const handle = (request: Request): Promise<Response> => handler.fetch(request);
      return { stateless: handle, session: keepSessions(Transport, create), modern: handle };
    },
    listen: listenByHono,
    async serveStdio(count) {
      const { serveStdio } = await import(packageUrl("@modelcontextprotocol/server/stdio"));
      serveStdio(await creator(count));
    },
  };
}
