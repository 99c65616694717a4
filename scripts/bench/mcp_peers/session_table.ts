/**
 * Sessions as users of the official packages keep them, since these bring none: a table of transports, each with a server
 * of its own, found by the session id of a request.
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

/** @param TransportClass the package's transport for `Request` and `Response` @param createServer a server with its tools */
export function keepSessions(
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
