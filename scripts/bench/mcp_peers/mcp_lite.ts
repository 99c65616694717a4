/**
 * `mcp-lite`: one server for all requests, with sessions in its memory adapter. It supports revisions up to 2025-06-18 and
 * no stdio. It sends event streams to clients that accept them, and JSON to others.
 *
 * @module
 */
import { listenWithHono } from "./listen.ts";
import { packageUrl, type Server } from "./subject.ts";
import { add, createZodTools } from "./tools.ts";

export function server(): Server {
  return {
    async handlers(count) {
      const { McpServer, StreamableHttpTransport, InMemorySessionAdapter } = await import(
        packageUrl("mcp-lite")
      );
      const { z } = await import(packageUrl("zod"));
      const tools = await createZodTools(count);
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
    listen: listenWithHono,
  };
}
