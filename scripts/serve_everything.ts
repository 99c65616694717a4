/**
 * `npm run serve:everything -- --port N`: starts Trivet on 127.0.0.1 with every feature of MCP (`fixtures/everything/`),
 * for conformance suites and clients. Runs on Node, Deno and Bun, and stores nothing on disk.
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

// The issuer contains the port, which for port 0 is known only when the server listens.
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
