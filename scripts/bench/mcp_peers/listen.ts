/**
 * Serves handlers with `@hono/node-server`, for peers whose documentation does not prescribe an adapter. It is as fast as
 * bare `node:http`, because it replaces Node's `Request` and `Response`.
 *
 * @module
 */
import { type Handler, packageUrl } from "./subject.ts";

/** Listens on a free port; resolves to the port. */
export async function listenWithHono(createHandler: (origin: string) => Promise<Handler>): Promise<number> {
  const { serve } = await import(packageUrl("@hono/node-server"));
  let handle: Handler = () => Promise.reject(new Error("Not ready"));
  const port = await new Promise<number>((resolve) =>
    serve(
      { fetch: (request: Request) => handle(request), port: 0, hostname: "127.0.0.1" },
      (info: { readonly port: number }) => resolve(info.port),
    )
  );
  handle = await createHandler(`http://127.0.0.1:${port}`);
  return port;
}
