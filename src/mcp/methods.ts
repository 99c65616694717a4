/**
 * The methods of each era, for one set of definitions. Only those that a self-contained request for a tool needs are there
 * from the start; the others load at first use.
 *
 * @module
 */
import type { FindSecrets } from "../crypto/server_secrets.ts";
import type { Observe } from "../events.ts";
import type { Method } from "../jsonrpc/dispatch.ts";
import type { Call } from "./call.ts";
import { type Extension, extensionMethods } from "./definition/extension.ts";
import { createListPages, type ListEntry } from "./definition/list_pages.ts";
import type { Registry } from "./definition/registry.ts";
import type { ServerInfo } from "./definition/server_info.ts";
import { toolMethods } from "./definition/tools.ts";
import type { InputRequired } from "./input/input_required.ts";
import { type Lazy, lazy } from "./lazy.ts";
import { discoverMethods, handshakeMethods } from "./session/lifecycle.ts";
import type { Stateful } from "./stateful.ts";

export interface MethodsOptions extends ServerInfo {
  readonly instructions?: string | undefined;
  readonly auth: "required" | "optional" | "off";
  readonly extensions: readonly Extension[];
  readonly pageSize: number;
  /** Whether `initialize` over HTTP opens a session. */
  readonly sessions: boolean;
  readonly secret: FindSecrets;
  /** Milliseconds. */
  readonly listLifetime: number;
  readonly inputRequired: InputRequired;
  readonly observe: Observe;
  readonly stateful: Lazy<Stateful>;
  /** The head of every modern result: see `modern.ts`. */
  readonly modernHead: string;
}

type Methods = readonly (readonly [name: string, method: Method<Call>])[];

export interface MethodsOfEras {
  readonly legacy: ReadonlyMap<string, Method<Call>>;
  readonly modern: ReadonlyMap<string, Method<Call>>;
}

/** Methods whose module loads with the first call of one of them. */
function laterMethods(
  names: readonly string[],
  load: () => Promise<Methods>,
): [string, Method<Call>][] {
  const table = lazy(async () => new Map(await load()));
  return names.map((name) => [
    name,
    (params, call) => table.use((methods) => methods.get(name)!(params, call)),
  ]);
}

/** The methods that a server with these definitions has. */
export function compileMethods(options: MethodsOptions, registry: Registry): MethodsOfEras {
  const { inputRequired, observe, stateful, extensions, secret, modernHead, listLifetime: ttl } = options;
  const { tools, resources, prompts, offers } = registry;
  // A shared cache must not keep what requires a token.
  const cacheScope = options.auth === "required" ? "private" : "public";
  const pages = { pageSize: options.pageSize, secret, ttl, cacheScope, modernHead } as const;
  const listOf = (member: string, entries: Iterable<ListEntry>) =>
    createListPages({ ...pages, member, entries: [...entries] });
  const lifecycle = {
    ...pages,
    info: options,
    sessions: options.sessions,
    instructions: options.instructions,
    registry,
    extensions,
  };
  const inState = (...names: readonly string[]) =>
    laterMethods(names, async () => (await stateful.load()).methods(registry));
  const both: Methods = [
    ...(offers.tools
      ? toolMethods({
        registry,
        list: listOf("tools", tools.values()),
        inputRequired,
        runAsTask: (...run) => stateful.use(({ tasks }) => tasks.run(...run)),
        observe,
      })
      : []),
    ...(offers.resources
      ? laterMethods(
        ["resources/list", "resources/read", "resources/templates/list"],
        async () =>
          (await import("./definition/resources.ts")).resourceMethods({
            registry,
            list: listOf("resources", resources.values()),
            listOptions: pages,
            listTemplates: (listed) => listOf("resourceTemplates", listed),
            inputRequired,
          }),
      )
      : []),
    ...(offers.prompts
      ? laterMethods(
        ["prompts/list", "prompts/get"],
        async () =>
          (await import("./definition/prompts.ts")).promptMethods({
            registry,
            list: listOf("prompts", prompts.values()),
            inputRequired,
          }),
      )
      : []),
    ...(registry.completes
      ? laterMethods(
        ["completion/complete"],
        async () => (await import("./definition/completion.ts")).completionMethods(registry),
      )
      : []),
  ];
  const extended = extensions.flatMap((each) => extensionMethods(each, options));
  return {
    legacy: new Map([
      ...both,
      ...handshakeMethods(lifecycle),
      ...inState("logging/setLevel"),
      ...(offers.resources ? inState("resources/subscribe", "resources/unsubscribe") : []),
      ...extended,
    ]),
    modern: new Map([
      ...both,
      ...discoverMethods(lifecycle),
      ...(registry.hasTasks ? inState("tasks/get", "tasks/update", "tasks/cancel") : []),
      ...extended,
    ]),
  };
}
