/**
 * Views: what one caller is offered where callers are offered different definitions, such as the tools of servers that each
 * user connects to. Callers with the same view share its compiled methods.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import { type Dispatcher, type Method, methodNotFound } from "../../jsonrpc/dispatch.ts";
import type { Call } from "../call.ts";
import type { MethodsOfEras } from "../methods.ts";
import type { Definition } from "./definition.ts";
import type { Extension } from "./extension.ts";
import type { Registry } from "./registry.ts";

/** What a caller is offered, compiled. */
export interface View {
  readonly registry: Registry;
  readonly methods: MethodsOfEras;
}

/** The server for which views are made. */
export interface ViewHost {
  /**
   * The server's own definitions, those of its sources, and of its extensions. They change with `replace`.
   * @param extensions in place of those of the server
   */
  definitions(extensions?: readonly Extension[]): readonly Definition[];
  /** Compiles a view. Middleware runs around its definitions. @throws {TypeError} for an invalid definition */
  compile(definitions: readonly Definition[], extensions?: readonly Extension[]): View;
}

/** Makes the function that finds the view of a caller. A call waits for a promise, so it should settle within seconds. */
export type CreateViews = (host: ViewHost) => Views;

export interface Views {
  readonly find: FindView;
  /** The methods that find the view of each caller: {@linkcode viewedMethods}. */
  readonly methods: typeof viewedMethods;
  /** Called after the definitions of the server changed. */
  reset(): void;
}

export type FindView = (principal: Principal | undefined) => View | Promise<View>;

/** The methods of each caller's view. `base` says which methods the server has at all. */
export function viewedMethods(
  findView: FindView,
  era: keyof MethodsOfEras,
  base: ReadonlyMap<string, Method<Call>>,
): Dispatcher<Call>["methods"] {
  return {
    has: (name) => base.has(name),
    get: (name) => (params, call) => {
      const run = ({ methods }: View): unknown => {
        const method = methods[era].get(name);
        if (!method) throw methodNotFound(name);
        return method(params, call);
      };
      const view = findView(call.principal);
      return view instanceof Promise ? view.then(run) : run(view);
    },
  };
}
