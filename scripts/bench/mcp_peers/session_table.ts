/**
 * A session table for the official packages, which have none: a Map of transports by session id, each with its own server,
 * as users write it.
 *
 * @module
 */
import type { Handler } from "./subject.ts";

interface Transport {
  handleRequest(request: Request): Promise<Response>;
}
interface Connectable {
  connect(transport: Transport): Promise<void>;
  close(): Promise<void>;
}

/** @param TransportClass the package's transport for `Request` and `Response` @param createServer creates a server with tools */
export function createSessionHandler(
  TransportClass: new (options: Record<string, unknown>) => Transport,
  createServer: () => Connectable,
): Handler {
  const transports = new Map<string, Transport>();
  return async (request) => {
    const known = request.headers.get("mcp-session-id");
    if (known !== null) {
      const transport = transports.get(known);
      return transport ? await transport.handleRequest(request) : new Response(null, { status: 404 });
    }
    const server = createServer();
    const transport: Transport = new TransportClass({
      sessionIdGenerator: () => crypto.randomUUID(),
      enableJsonResponse: true,
      onsessioninitialized: (id: string) => {
        transports.set(id, transport);
      },
      onsessionclosed: async (id: string) => {
        transports.delete(id);
        await server.close();
      },
    });
    await server.connect(transport);
    return await transport.handleRequest(request);
  };
}
