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

const port = Number(process.argv[2] ?? 8799);
const entry = "Deno" in globalThis
  ? await import("../../src/runtime/deno.ts")
  : "Bun" in globalThis
  ? await import("../../src/runtime/bun.ts")
  : await import("../../src/runtime/node.ts");

const target = await start({ base: `http://127.0.0.1:${port}` });
const server = await entry.serve({ fetch: serve }, { port, onError: (error) => console.error(error) });
console.log(server.url);

async function serve(request: Request): Promise<Response> {
  const name = /^\/control\/([a-z]+)$/.exec(new URL(request.url).pathname)?.[1];
  if (name === undefined) return await target.fetch(request);
  const procedure = target.procedures?.[name];
  if (typeof procedure !== "function") return new Response(null, { status: 404 });
  await procedure(await request.json());
  return new Response(null, { status: 204 });
}
