/**
 * Where the server of the tour is: on a port of its own, or behind a command. Nothing but tests imports this.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import type { Trivet } from "../mod.ts";
import type { RunningServer } from "./server.ts";
import { entries } from "./test_entries.ts";
import { newTourServer } from "./test_mcp_tour_server.ts";
import { runtimeCommand } from "./test_process.ts";

const [command, before] = runtimeCommand();

/** The command that serves the tour over stdio. */
export const STDIO: { readonly command: string; readonly args: string[] } = {
  command,
  args: [...before, fileURLToPath(new URL("./test_mcp_tour_stdio.ts", import.meta.url))],
};

/** A new server on a free port, on this entry of the runtime. */
export async function serveTour(entry: string): Promise<RunningServer> {
  const { promise, resolve } = Promise.withResolvers<Trivet>();
  const server = await entries[entry]!(
    { fetch: async (request, context) => (await promise).fetch(request, context) },
    { port: 0, hostname: "127.0.0.1", closeTimeout: 100 },
  );
  resolve(newTourServer(server.url));
  return server;
}
