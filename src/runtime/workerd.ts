/**
 * Serves a handler on Cloudflare workerd. The handler needs the bindings, which the first request brings: it is created
 * then, once per isolate.
 *
 * ```ts ignore
 * export default toWorker((env: { ISSUER: string }) => createTrivet({ issuer: env.ISSUER, store: memoryStore() }));
 * ```
 *
 * @module
 */
import { usePublicConnect } from "../http/network/public_fetch.ts";
import { checkNames, type Names } from "../options/option_check.ts";
import { faultResponse, type FetchHandler } from "./server.ts";

// workerd's network service resolves names itself and reaches public addresses only, unless the operator configured it
// otherwise; the flag `global_fetch_strictly_public` keeps it out of the own zone too.
usePublicConnect((url, init) => fetch(url, init));

/** What workerd calls: a module's default export. */
export interface Worker<Env> {
  fetch(
    request: Request,
    env: Env,
    context: { waitUntil(promise: Promise<unknown>): void },
  ): Promise<Response>;
}

/** Options of {@linkcode toWorker}. */
export interface WorkerOptions {
  /** Called with what `create` or its handler threw. The client gets only status 500. @default the worker's log */
  readonly onError?: (error: unknown) => void;
}

const NAMES: Names<WorkerOptions> = { onError: "function" };

/** A worker for the handler that `create` makes from the bindings. @throws {TypeError} for an option that does not exist */
export function toWorker<Env>(create: (env: Env) => FetchHandler, options: WorkerOptions = {}): Worker<Env> {
  checkNames("toWorker", options, NAMES);
  // deno-lint-ignore no-console -- the console is a worker's only log
  const { onError = (error) => console.error(error) } = options;
  let handler: FetchHandler | undefined;
  return {
    async fetch(request, env, context) {
      try {
        handler ??= create(env);
        return await handler.fetch(request, {
          // Set by Cloudflare's edge, which removes what a client sent under this name.
          ip: request.headers.get("cf-connecting-ip") ?? undefined,
          isIsolated: true,
          waitUntil: (promise) => context.waitUntil(promise),
        });
      } catch (error) {
        onError(error);
        return faultResponse();
      }
    },
  };
}
