/**
 * Closes a `node:http` server gracefully.
 *
 * @module
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { timerDelay } from "../../timer.ts";

/** What Node adds to the socket of a connection. */
interface ServedSocket {
  readonly server?: Server;
  /** Has the request whose header came last; absent once the connection is detached from HTTP. */
  readonly parser?: { readonly incoming?: IncomingMessage | null } | null;
}

/**
 * Must be called before the server listens. The returned function accepts no more connections and resolves when all are
 * closed: idle ones at once, others after their request, and all after `timeoutMs`.
 */
export function prepareClose(server: Server, timeoutMs: number): () => Promise<void> {
  // Browsers open spare connections. Node counts one that has sent nothing yet as active.
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
    // A connection becomes idle when its last request ends.
    const idle = setInterval(() => server.closeIdleConnections(), 20);
    // Node's `closeAllConnections` does not know those of detached responses.
    const late = setTimeout(() => open.forEach((socket) => socket.destroy()), timerDelay(timeoutMs));
    await closed;
    clearInterval(idle);
    clearTimeout(late);
  };
}

/**
 * Whether the server of a response accepts no more connections, and no later request of this one waits for its own: it would
 * be lost when the connection is closed.
 */
export function isLastResponse({ req, socket }: ServerResponse): boolean {
  // Node takes that of a request whose body was cancelled. A response that waits for those before it has none.
  const { server, parser } = (socket ?? req.socket ?? {}) as Partial<Socket> & ServedSocket;
  return server?.listening === false && (parser?.incoming ?? req) === req;
}
