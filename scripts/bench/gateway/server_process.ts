/**
 * A server process for `overhead.ts`: `upstream TOOLS`, or `gateway UPSTREAMS URL`. Sends its URL to its parent, and its
 * processor time when asked.
 *
 * @module
 */
import process from "node:process";
import { serve } from "../../../src/runtime/node.ts";
import type { Trivet } from "../../../src/mod.ts";
import { createGateway, createUpstream } from "./overhead.ts";

const [kind, count, url] = process.argv.slice(2);
const server = await serve({
  fetch: (request, context) => handler.fetch(request, context),
}, { port: 0 });
const handler: Trivet = kind === "upstream"
  ? createUpstream(Number(count), server.url)
  : await createGateway(Number(count), url!, server.url);
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send!(user + system);
});
process.send!(`${server.url}/mcp`);
