/**
 * Closing a `node:http` server gracefully.
 *
 * @module
 */
import type { Server } from "node:http";

/** Takes no more connections and resolves when all are closed; what is not done by `timeout` milliseconds is cut. */
export async function closeNodeServer(server: Server, timeout: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A connection whose last request has just ended is idle only then.
  const idle = setInterval(() => server.closeIdleConnections(), 20);
  const late = setTimeout(() => server.closeAllConnections(), timeout);
  await closed;
  clearInterval(idle);
  clearTimeout(late);
}
