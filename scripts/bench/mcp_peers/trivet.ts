/**
 * Trivet through its public API: the tool server of `createTrivet`, over HTTP on `trivet/node`. The checks of Host and
 * Origin are on, which is the default; there is no event listener. The option is the kind of schemas, or the URL of a build.
 *
 * @module
 */
import process from "node:process";
import type { Trivet } from "../../../src/mod.ts";
import type { Server } from "./subject.ts";
import { add, type Arguments, createJsonSchemaTools, createZodTools } from "./tools.ts";

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
      await (await create(count, "http://127.0.0.1")).mcp!.serveStdio(process.stdin, process.stdout);
    },
  };
}
