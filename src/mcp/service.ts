/**
 * The tool server as a service: one table of methods, reached over HTTP and over stdio.
 *
 * @module
 */
import type { Observe } from "../events.ts";
import type { Authenticate, Principal } from "../http/bearer.ts";
import { createHostGuard } from "../http/origin.ts";
import { respondText } from "../http/response.ts";
import { pathOf } from "../http/router.ts";
import type { Service } from "../http/service.ts";
import type { Dispatcher } from "../jsonrpc/dispatch.ts";
import { StoreUnavailableError } from "../store/store.ts";
import type { CallContext, Definition } from "./definition.ts";
import { UnavailableError } from "./error.ts";
import { createHttpHandler } from "./http.ts";
import { lifecycleMethods } from "./lifecycle.ts";
import { promptMethods } from "./prompts.ts";
import { compileRegistry } from "./registry.ts";
import { resourceMethods } from "./resources.ts";
import { serveStdio } from "./stdio.ts";
import { toolMethods } from "./tools.ts";

/** The complete options of the tool server; `options.ts` says what each is for. */
export interface ToolServerOptions {
  readonly name: string;
  readonly version: string;
  readonly instructions: string | undefined;
  readonly base: string;
  readonly issuer: string;
  readonly definitions: readonly Definition[];
  readonly authenticate: Authenticate;
  readonly auth: "required" | "optional" | "off";
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly bodyLimit: number;
  readonly resourceMetadata: string | undefined;
  /** What a 401 says to ask for to begin with. */
  readonly initialScope?: string | undefined;
  readonly observe: Observe;
}

export interface ToolServer extends Service {
  /** Serves one client over a pair of streams until the input ends. */
  serveStdio(
    input: ReadableStream<Uint8Array>,
    output: WritableStream<Uint8Array>,
    principal?: Principal,
  ): Promise<void>;
}

/** The tool server. @throws {TypeError} for a definition that cannot stand */
export function toolServer(options: ToolServerOptions): ToolServer {
  const { observe, base } = options;
  const registry = compileRegistry(options.definitions);
  const dispatcher: Dispatcher<CallContext> = {
    methods: new Map([
      ...toolMethods(registry, observe),
      ...lifecycleMethods(options, registry),
      ...resourceMethods(registry),
      ...promptMethods(registry),
    ]),
    onFault(error, method) {
      if (error instanceof StoreUnavailableError) {
        observe({ type: "store_unavailable", where: "mcp", error });
        return new UnavailableError(error);
      }
      observe({ type: "fault", where: method.slice(0, 100), error });
      return undefined;
    },
  };
  const handle = createHttpHandler({ ...options, dispatcher, isAllowed: createHostGuard(options) });
  const path = base + "/mcp";
  return {
    mounts: ["mcp"],
    fetch: (request, context = {}) =>
      pathOf(request.url) === path
        ? handle(request, context)
        : Promise.resolve(respondText(404, `Nothing is here. The tool server is at ${path}`)),
    serveStdio: (input, output, principal) => serveStdio(dispatcher, input, output, { principal }),
  };
}
