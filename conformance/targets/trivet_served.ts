/**
 * Trivet as a target over a socket, on the runtime that runs this: `POST /control/advance` with `{ "seconds": n }` moves
 * its clock, `POST /control/reset` begins anew.
 *
 *   node conformance/targets/trivet_served.ts [PORT]
 *
 * @module
 */
import process from "node:process";
import { start } from "./trivet.ts";
import { PAGE_ORIGINS, withControl } from "./trivet_world.ts";

const port = Number(process.argv[2] ?? 8799);
const entry = "Deno" in globalThis
  ? await import("../../src/runtime/deno.ts")
  : "Bun" in globalThis
  ? await import("../../src/runtime/bun.ts")
  : await import("../../src/runtime/node.ts");

const target = await start({ base: `http://127.0.0.1:${port}`, allowedOrigins: PAGE_ORIGINS });
const server = await entry.serve({ fetch: withControl(target) }, {
  port,
  onError: (error) => console.error(error),
});
console.log(server.url);
