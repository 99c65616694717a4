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
  async function create(count: number, issuer: string): Promise<Trivet> {
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
    return createTrivet({
      issuer,
      store: memoryStore(),
      oauth: false,
      skills: false,
      mcp: { tools, storageLimits },
    });
  }
  return {
    async handlers(count, origin) {
      const trivet = await create(count, origin);
      const handle = (request: Request) => trivet.fetch(request);
      return { stateless: handle, session: handle, modern: handle };
    },
    async listen(createHandler) {
      const { serve } = await import("../../../src/runtime/node.ts");
      let handle = (_: Request): Promise<Response> => Promise.reject(new Error("Not ready"));
      const running = await serve({ fetch: (request) => handle(request) }, { port: 0 });
      handle = await createHandler(running.url);
      return running.port;
    },
    async serveStdio(count) {
      const trivet = await create(count, "http://127.0.0.1");
      await trivet.mcp!.serveStdio(readInput(), writeOutput());
    },
  };
}

/** Reads standard input like `trivet stdio`. */
function readInput(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      process.stdin.on("data", (chunk: Uint8Array) => {
        controller.enqueue(new Uint8Array(chunk));
        if ((controller.desiredSize ?? 0) <= 0) process.stdin.pause();
      });
      process.stdin.on("end", () => controller.close());
    },
    pull() {
      process.stdin.resume();
    },
  }, { highWaterMark: 16 });
}

function writeOutput(): WritableStream<Uint8Array> {
  return new WritableStream({
    write: (chunk) =>
      new Promise<void>((resolve, reject) => {
        process.stdout.write(chunk, (error) => error ? reject(error) : resolve());
      }),
  });
}
