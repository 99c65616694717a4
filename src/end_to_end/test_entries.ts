/**
 * The HTTP entries of the runtime of the tests, and a client that sends raw bytes. Only tests import this.
 *
 * @module
 */
import { connect } from "node:net";
import type { FetchHandler, RunningServer, ServeOptions } from "../runtime/server.ts";

type Serve = (handler: FetchHandler, options: ServeOptions) => Promise<RunningServer>;

/** The entry of this runtime; on Node also the one for Hattip. */
export const entries: Readonly<Record<string, Serve>> = "Deno" in globalThis
  ? { deno: (await import("../runtime/deno.ts")).serve }
  : "Bun" in globalThis
  ? { bun: (await import("../runtime/bun.ts")).serve }
  : {
    node: (await import("../runtime/node.ts")).serve,
    "hattip-node": (await import("../runtime/hattip_node.ts")).serve,
  };

/** A handler whose response at `/slow` waits for `release()`. Others are given at once. */
export function waitingHandler(): FetchHandler & { readonly arrived: Promise<void>; release: () => void } {
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  return {
    arrived: arrived.promise,
    release: released.resolve,
    async fetch(request) {
      if (new URL(request.url).pathname === "/slow") {
        arrived.resolve();
        await released.promise;
      }
      return new Response("done");
    },
  };
}

/** Sends raw text and reads until the connection closes or is cut, for at most 5 seconds. */
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
