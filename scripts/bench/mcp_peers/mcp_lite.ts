/**
 * `mcp-lite`: one server for all requests, its sessions kept in memory by its own adapter. It speaks revisions up to
 * 2025-06-18, and not over stdio. To a client that accepts event streams it answers with one, to others with JSON.
 *
 * @module
 */
import { listenByHono } from "./listen.ts";
import { packageUrl, type Server } from "./subject.ts";
import { add, zodTools } from "./tools.ts";

export function server(): Server {
  return {
    async handlers(count) {
      const { McpServer, StreamableHttpTransport, InMemorySessionAdapter } = await import(
        packageUrl("mcp-lite")
      );
      const { z } = await import(packageUrl("zod"));
      const tools = await zodTools(count);
      const create = () => {
        const server = new McpServer({
          name: "bench",
          version: "1.0.0",
          schemaAdapter: (schema: unknown) => z.toJSONSchema(schema),
        });
        for (const { name, description, zod } of tools) {
          server.tool(name, { description, inputSchema: zod, handler: add });
        }
        return server;
      };
      const sessionAdapter = new InMemorySessionAdapter({ maxEventBufferSize: 1024 });
      return {
        stateless: new StreamableHttpTransport().bind(create()),
        session: new StreamableHttpTransport({ sessionAdapter }).bind(create()),
      };
    },
    listen: listenByHono,
  };
}
