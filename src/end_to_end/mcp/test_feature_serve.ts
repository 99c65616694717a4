/**
 * Serves the feature server: on a port, or by a command over stdio. Only tests import this.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import type { Trivet } from "../../mod.ts";
import type { RunningServer } from "../../runtime/server.ts";
import { entries } from "../test_entries.ts";
import { createFeatureServers } from "./test_feature_server.ts";
import { runtimeCommand } from "../test_process.ts";

const [command, before] = runtimeCommand();

/** The command that serves the feature server over stdio. */
export const STDIO: { readonly command: string; readonly args: string[] } = {
  command,
  args: [...before, fileURLToPath(new URL("./test_feature_stdio.ts", import.meta.url))],
};

/** A new server on a free port, on this entry of the runtime. Several instances take requests in turn. */
export async function serveFeatures(entry: string, count: number = 1): Promise<RunningServer> {
  const { promise, resolve } = Promise.withResolvers<readonly Trivet[]>();
  let turn = 0;
  const server = await entries[entry]!(
    { fetch: async (request, context) => (await promise)[turn++ % count]!.fetch(request, context) },
    { port: 0, hostname: "127.0.0.1", closeTimeout: 100 },
  );
  resolve(createFeatureServers(server.url, count));
  return server;
}
