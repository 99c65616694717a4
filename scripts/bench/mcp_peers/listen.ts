/**
 * Handlers of `Request` behind a port, for peers whose documentation leaves the choice of an adapter open: by
 * `@hono/node-server`, which is as quick as raw `node:http` since it replaces Node's `Request` and `Response`.
 *
 * @module
 */
import { type Handler, packageUrl } from "./subject.ts";

/** Listens on a free port, and gives it. */
export async function listenByHono(make: (origin: string) => Promise<Handler>): Promise<number> {
  const { serve } = await import(packageUrl("@hono/node-server"));
  let handle: Handler = () => Promise.reject(new Error("Not ready"));
  const port = await new Promise<number>((resolve) =>
    serve(
      { fetch: (request: Request) => handle(request), port: 0, hostname: "127.0.0.1" },
      (info: { readonly port: number }) => resolve(info.port),
    )
  );
  handle = await make(`http://127.0.0.1:${port}`);
  return port;
}
