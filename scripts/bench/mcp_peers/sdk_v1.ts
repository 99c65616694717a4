/**
 * `@modelcontextprotocol/sdk` 1.x with its transport for `Request` and `Response`. Without sessions a server and a
 * transport are made for each request, since it refuses to use one again. It answers JSON, which costs it less than the
 * event streams that are its default.
 *
 * @module
 */
import { listenByHono } from "./listen.ts";
import { packageUrl, type Server } from "./subject.ts";
import { keepSessions } from "./session_table.ts";
import { add, type OfferedTool, zodTools } from "./tools.ts";

export function server(): Server {
  async function creator(tools: readonly OfferedTool[]) {
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
      const create = await creator(await zodTools(count));
      const { WebStandardStreamableHTTPServerTransport: Transport } = await import(
        packageUrl("@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js")
      );
      return {
        async stateless(request) {
          const server = create();
          const transport = new Transport({ sessionIdGenerator: undefined, enableJsonResponse: true });
          await server.connect(transport);
          const response: Response = await transport.handleRequest(request);
          // The body is there already: what was made for the request can go.
          await server.close();
          return response;
        },
        session: keepSessions(Transport, create),
      };
    },
    listen: listenByHono,
    async serveStdio(count) {
      const create = await creator(await zodTools(count));
      const { StdioServerTransport } = await import(packageUrl("@modelcontextprotocol/sdk/server/stdio.js"));
      await create().connect(new StdioServerTransport());
    },
  };
}
