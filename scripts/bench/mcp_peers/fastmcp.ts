/**
 * `fastmcp`: over HTTP its own listener, the only one it has on Node, without a session and with sessions; and over stdio. In
 * process its variant for edge runtimes (`fastmcp/edge`), the only one with a handler, which has no sessions. Responses are
 * JSON, which costs less than its default, event streams.
 *
 * @module
 */
import { freePort } from "../../../conformance/runner/target/free_port.ts";
import { listenWithHono } from "./listen.ts";
import { packageUrl, type Server } from "./subject.ts";
import { add, type Arguments, createZodTools } from "./tools.ts";

const NAME = { name: "bench", version: "1.0.0" } as const;

export function server(): Server {
  async function create(count: number) {
    const { FastMCP } = await import(packageUrl("fastmcp"));
    const ignore = () => {};
    const logger = { debug: ignore, error: ignore, info: ignore, log: ignore, warn: ignore };
    const server = new FastMCP({ ...NAME, logger, ping: { enabled: false }, health: { enabled: false } });
    for (const { name, description, zod } of await createZodTools(count)) {
      server.addTool({ name, description, parameters: zod, execute: async (input: Arguments) => add(input) });
    }
    return server;
  }
  return {
    async handlers(count) {
      const { EdgeFastMCP } = await import(packageUrl("fastmcp/edge"));
      const server = new EdgeFastMCP({ ...NAME, mcpPath: "/mcp" });
      for (const { name, description, zod } of await createZodTools(count)) {
        server.addTool({
          name,
          description,
          parameters: zod,
          execute: async (input: Arguments) => add(input),
        });
      }
      return { stateless: (request) => server.fetch(request) };
    },
    listen: listenWithHono,
    async listenItself(variant, count) {
      if (variant === "modern") return undefined;
      const port = await freePort();
      const httpStream = {
        port,
        host: "127.0.0.1",
        endpoint: "/mcp",
        enableJsonResponse: true,
        stateless: variant === "stateless",
      };
      await (await create(count)).start({ transportType: "httpStream", httpStream });
      return port;
    },
    async serveStdio(count) {
      await (await create(count)).start({ transportType: "stdio" });
    },
  };
}
