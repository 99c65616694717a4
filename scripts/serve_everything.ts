/**
 * `npm run serve:everything -- --port N`: Trivet on 127.0.0.1 with everything that MCP has (`fixtures/everything/`), for
 * conformance suites and clients to try. On Node, Deno and Bun; nothing is kept when it ends.
 *
 *   node scripts/serve_everything.ts [--port N]
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { everything } from "../fixtures/everything/everything.ts";
import { createTrivet, memoryStore, type Trivet } from "../src/mod.ts";
import { skillFolder } from "../src/runtime/skill_folder.ts";

const { values } = parseArgs({ options: { port: { type: "string", default: "8787" } } });
const entry = "Deno" in globalThis
  ? await import("../src/runtime/deno.ts")
  : "Bun" in globalThis
  ? await import("../src/runtime/bun.ts")
  : await import("../src/runtime/node.ts");

// Which port 0 stands for is known when it listens, and the issuer names it.
const server = await entry.serve({ fetch: (request, context) => trivet.fetch(request, context) }, {
  port: Number(values.port),
  onError: (error) => console.error(error),
});
const trivet: Trivet = createTrivet({
  issuer: server.url,
  store: memoryStore(),
  oauth: false,
  skills: {
    folders: [skillFolder(fileURLToPath(new URL("../fixtures/skills", import.meta.url)))],
    auth: "off",
  },
  mcp: { auth: "off", definitions: everything(() => trivet.mcp!) },
  onEvent(event) {
    if (event.type === "fault") console.error(event.where, event.error);
  },
});
console.log(`${server.url}/mcp`);
