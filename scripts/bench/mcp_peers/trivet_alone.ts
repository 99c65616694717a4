/**
 * Trivet's tool server alone, of `trivet/mcp`, over stdio: what an author of tools imports who needs neither OAuth nor
 * skills, as with the peers. The option is the URL of a build. A file as small as those of the peers, since Node strips its
 * types when the server starts.
 *
 * @module
 */
import process from "node:process";
import type { Server } from "./subject.ts";
import { add, type Arguments, createZodTools } from "./tools.ts";

export function server(build: string): Pick<Server, "serveStdio"> {
  return {
    async serveStdio(count) {
      const { tool, toolServer }: typeof import("../../../src/mcp_service.ts") = await import(
        new URL("bundle/mcp_service.js", build).href
      );
      const { memoryStore }: typeof import("../../../src/store/drivers/memory.ts") = await import(
        new URL("bundle/store/drivers/memory.js", build).href
      );
      const run = (input: unknown) => add(input as Arguments);
      const tools = (await createZodTools(count)).map(({ name, description, zod }) =>
        tool({ name, description, input: zod as Record<string, unknown>, run })
      );
      const served = toolServer({ url: "http://127.0.0.1", store: memoryStore(), tools });
      await served.serveStdio(process.stdin, process.stdout);
    },
  };
}
