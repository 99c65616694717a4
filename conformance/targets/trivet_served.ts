/**
 * Trivet as a target over a socket, on the current runtime: `POST /control/advance` with `{ "seconds": n }` advances
 * its clock, `POST /control/reset` starts a new instance.
 *
 *   node conformance/targets/trivet_served.ts [PORT]
 *
 * @module
 */
import process from "node:process";
import { start } from "./trivet.ts";
import { ALLOWED_PAGE_ORIGINS, withControl } from "./trivet_target.ts";

const port = Number(process.argv[2] ?? 8799);
const entry = "Deno" in globalThis
  ? await import("../../src/runtime/deno.ts")
  : "Bun" in globalThis
  ? await import("../../src/runtime/bun.ts")
  : await import("../../src/runtime/node.ts");

const target = await start({ base: `http://127.0.0.1:${port}`, allowedOrigins: ALLOWED_PAGE_ORIGINS });
const server = await entry.serve({ fetch: withControl(target) }, {
  port,
  onError: (error) => console.error(error),
});
console.log(server.url);
