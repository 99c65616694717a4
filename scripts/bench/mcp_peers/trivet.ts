/**
 * Trivet through its public API: the tool server of `createTrivet`, over HTTP on `trivet/node`. The checks of Host and
 * Origin are on, which is the default; there is no event listener. The option is the kind of schemas, the URL of a build, or
 * `alone:` and that URL: then it is the tool server alone, of `trivet/mcp`.
 *
 * @module
 */
import process from "node:process";
import type { McpServer } from "../../../src/mcp_service.ts";
import type { Trivet } from "../../../src/mod.ts";
import type { Server } from "./subject.ts";
import { add, type Arguments, createJsonSchemaTools, createZodTools } from "./tools.ts";

/** Before the URL of a build. */
export const ALONE = "alone:";

export function server(option = "zod"): Server {
  async function create(count: number, issuer: string, sessions = true): Promise<Trivet> {
    const built = option.startsWith("file:") ? new URL("bundle/mod.js", option).href : undefined;
    const { createTrivet, memoryStore, tool }: typeof import("../../../src/mod.ts") = await (
      built === undefined ? import("../../../src/mod.ts") : import(built)
    );
    const run = (input: unknown) => add(input as Arguments);
    const tools = option === "json_schema"
      ? createJsonSchemaTools(count).map(({ name, description, schema }) =>
        tool({ name, description, input: schema, run })
      )
      : (await createZodTools(count)).map(({ name, description, zod }) =>
        tool({ name, description, input: zod as Record<string, unknown>, run })
      );
    // The end of a session is stored, and counts for the anonymous callers of a network: a bench ends millions.
    const storageLimits = { network: Number.MAX_SAFE_INTEGER, anonymous: Number.MAX_SAFE_INTEGER };
    // All clients of the bench are anonymous callers of one network.
    const streamLimits = { network: Number.MAX_SAFE_INTEGER, anonymous: Number.MAX_SAFE_INTEGER };
    return createTrivet({
      issuer,
      store: memoryStore(),
      oauth: false,
      skills: false,
      mcp: { tools, sessions, storageLimits, streamLimits },
    });
  }
  return {
    async handlers(count, origin) {
      const trivet = await create(count, origin);
      const sessionless = await create(count, origin, false);
      const handle = (request: Request) => trivet.fetch(request);
      return { stateless: (request) => sessionless.fetch(request), session: handle, modern: handle };
    },
    async listen(createHandler) {
      const { serve } = await import("../../../src/runtime/node.ts");
      let handle = (_: Request): Promise<Response> => Promise.reject(new Error("Not ready"));
      const running = await serve({ fetch: (request) => handle(request) }, { port: 0 });
      handle = await createHandler(running.url);
      return running.port;
    },
    async serveStdio(count) {
      const served = option.startsWith(ALONE)
        ? await createAlone(count, option.slice(ALONE.length))
        : (await create(count, "http://127.0.0.1")).mcp!;
      await served.serveStdio(process.stdin, process.stdout);
    },
  };
}

/** The tool server alone: what an author of tools imports who needs neither OAuth nor skills, as with the peers. */
async function createAlone(count: number, build: string): Promise<McpServer> {
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
  return toolServer({ url: "http://127.0.0.1", store: memoryStore(), tools });
}
