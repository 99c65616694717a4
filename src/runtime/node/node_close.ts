/**
 * Closes a `node:http` server gracefully.
 *
 * @module
 */
import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { timerDelay } from "../../timer.ts";

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

/** Whether the server of a response accepts no more connections. */
export function isClosing({ req: { socket } }: ServerResponse): boolean {
  return (socket as Socket & { readonly server?: Server }).server?.listening === false;
}
