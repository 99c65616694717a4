/**
 * `tmcp` with `@tmcp/transport-http`: one server and one transport for all requests, sessions in memory. Every response is
 * an event stream.
 *
 * @module
 */
import { listenWithHono } from "./listen.ts";
import { packageUrl, type Server } from "./subject.ts";
import { add, createZodTools } from "./tools.ts";

export function server(): Server {
  async function create(count: number) {
    const { McpServer } = await import(packageUrl("tmcp"));
    const { ZodJsonSchemaAdapter } = await import(packageUrl("@tmcp/adapter-zod"));
    const server = new McpServer({ name: "bench", version: "1.0.0", description: "A benchmark" }, {
      adapter: new ZodJsonSchemaAdapter(),
      capabilities: { tools: { listChanged: true } },
    });
    for (const { name, description, zod } of await createZodTools(count)) {
      server.tool({ name, description, schema: zod }, add);
    }
    return server;
  }
  return {
    async handlers(count) {
      const { HttpTransport } = await import(packageUrl("@tmcp/transport-http"));
      const transport = new HttpTransport(await create(count), { path: "/mcp" });
      const handle = async (request: Request): Promise<Response> =>
        await transport.respond(request) ?? new Response(null, { status: 404 });
      return { stateless: handle, session: handle, modern: handle };
    },
    listen: listenWithHono,
    async serveStdio(count) {
      const { StdioTransport } = await import(packageUrl("@tmcp/transport-stdio"));
      new StdioTransport(await create(count)).listen();
    },
  };
}
