/**
 * Closing a `node:http` server gracefully.
 *
 * @module
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { timerDelay } from "../http/timer.ts";

/**
 * To be called before the server listens. The function that it gives takes no more connections and resolves when all
 * are closed: idle ones at once, others with their request; what is not done by `timeout` milliseconds is cut.
 */
export function prepareClose(server: Server, timeout: number): () => Promise<void> {
  // Browsers open connections to spare. Node counts one that has sent nothing yet as busy.
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
    // A connection whose last request has just ended is idle only then.
    const idle = setInterval(() => server.closeIdleConnections(), 20);
    const late = setTimeout(() => server.closeAllConnections(), timerDelay(timeout));
    await closed;
    clearInterval(idle);
    clearTimeout(late);
  };
}
