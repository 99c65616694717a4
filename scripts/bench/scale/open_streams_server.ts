/**
 * Entry point of a server process of `open_streams.ts`: `node open_streams_server.ts floor|trivet`. Sends its port; then
 * answers "memory" with its memory, and "broadcast" with the time at which it announced a change to all streams.
 *
 * @module
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { createTrivet, memoryStore, tool } from "../../../src/mod.ts";
import { serve } from "../../../src/runtime/node.ts";

const isFloor = process.argv[2] === "floor";
const MANY = 1_000_000;
const HEAD = { "content-type": "text/event-stream", "cache-control": "no-cache" };

/** Bare `node:http`: what every server needs for an open stream. */
async function serveFloor() {
  const streams = new Set<{ write(text: string): boolean }>();
  const server = createServer((_, response) => {
    response.writeHead(200, HEAD).write(": open\n\n");
    streams.add(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    broadcast: () => {
      for (const stream of streams) stream.write('data: {"method":"notifications/tools/list_changed"}\n\n');
    },
  };
}

async function serveTrivet() {
  let handle: (request: Request) => Promise<Response> = () => Promise.reject(new Error("Not ready"));
  const { port, url } = await serve({ fetch: (request) => handle(request) }, { port: 0 });
  const streamLimits = { session: MANY, caller: MANY, network: MANY, anonymous: MANY };
  const tools = [tool({ name: "one", description: "One", run: () => "1" })];
  const trivet = createTrivet({
    issuer: url,
    store: memoryStore(),
    oauth: false,
    skills: false,
    mcp: { tools, streamLimits },
  });
  handle = trivet.fetch;
  return { port, broadcast: () => trivet.mcp!.listChanged("tools") };
}

const { port, broadcast } = isFloor ? await serveFloor() : await serveTrivet();
process.on("disconnect", () => process.exit());
process.on("message", async (command) => {
  if (command === "broadcast") {
    process.send!(performance.timeOrigin + performance.now());
    return void await broadcast();
  }
  for (let i = 0; i < 4; i++) {
    (globalThis as { gc?(): void }).gc!();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  process.send!({ heap: heapUsed + external, resident: rss });
});
process.send!(port);
