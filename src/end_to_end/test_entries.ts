/**
 * The entries that the runtime of the tests has, and a client that sends bytes as they are. Only tests import this.
 *
 * @module
 */
import { connect } from "node:net";
import type { FetchHandler, RunningServer, ServeOptions } from "../runtime/server.ts";

type Serve = (handler: FetchHandler, options: ServeOptions) => Promise<RunningServer>;

/** This runtime's own entry; on Node the one for Hattip too. */
export const entries: Readonly<Record<string, Serve>> = "Deno" in globalThis
  ? { deno: (await import("../runtime/deno.ts")).serve }
  : "Bun" in globalThis
  ? { bun: (await import("../runtime/bun.ts")).serve }
  : {
    node: (await import("../runtime/node.ts")).serve,
    "hattip-node": (await import("../runtime/hattip_node.ts")).serve,
  };

/** Sends text as it is and reads until the connection closes; for 5 s at most. A connection cut off ends the answer. */
export function sendRaw(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    socket.setTimeout(5000, () => socket.destroy());
    socket.on("data", (chunk) => answer += chunk);
    socket.on("error", () => {});
    socket.on("close", () => resolve(answer));
  });
}
