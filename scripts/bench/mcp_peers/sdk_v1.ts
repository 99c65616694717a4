/**
 * `@modelcontextprotocol/sdk` 1.x with its transport for `Request` and `Response`. Without sessions each request needs a
 * new server and transport, because the package refuses to reuse them. Responses are JSON, which costs less than the
 * default, event streams.
 *
 * @module
 */
import { listenWithHono } from "./listen.ts";
import { packageUrl, type Server } from "./subject.ts";
import { createSessionHandler } from "./session_table.ts";
import { add, createZodTools, type ZodTool } from "./tools.ts";

export function server(): Server {
  async function loadFactory(tools: readonly ZodTool[]) {
    const { McpServer } = await import(packageUrl("@modelcontextprotocol/sdk/server/mcp.js"));
    return () => {
      const server = new McpServer({ name: "bench", version: "1.0.0" });
      for (const { name, description, zod } of tools) {
        server.registerTool(name, { description, inputSchema: zod }, add);
      }
      return server;
    };
  }
  return {
    async handlers(count) {
      const create = await loadFactory(await createZodTools(count));
      const { WebStandardStreamableHTTPServerTransport: Transport } = await import(
        packageUrl("@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js")
      );
      return {
        async stateless(request) {
          const server = create();
          const transport = new Transport({ sessionIdGenerator: undefined, enableJsonResponse: true });
          await server.connect(transport);
          const response: Response = await transport.handleRequest(request);
          // The body is complete, so the server can be closed.
          await server.close();
          return response;
        },
        session: createSessionHandler(Transport, create),
      };
    },
    listen: listenWithHono,
    async serveStdio(count) {
      const create = await loadFactory(await createZodTools(count));
      const { StdioServerTransport } = await import(packageUrl("@modelcontextprotocol/sdk/server/stdio.js"));
      await create().connect(new StdioServerTransport());
    },
  };
}
