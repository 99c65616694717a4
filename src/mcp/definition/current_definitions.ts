/**
 * The definitions that a server offers: compiled at start or at its first request, and replaced while it runs.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import type { Dispatcher } from "../../jsonrpc/dispatch.ts";
import type { Call } from "../call.ts";
import type { MethodsOfEras } from "../methods.ts";
import type { SchemaConverter } from "../schema/schema_converter.ts";
import type { ConvertSchema } from "../schema/convert_schema.ts";
import type { Change } from "./changes.ts";
import type { Definition } from "./definition.ts";
import { withSources } from "./definition_source.ts";
import type { Extension } from "./extension.ts";
import { type Definitions, flatten, group } from "./group.ts";
import { ALL_LISTS, checkEntries, compileRegistry, type Registry } from "./registry.ts";
import type { ToolServerOptions } from "../tool_server.ts";
import type { View } from "./views.ts";

export type DefinitionsOptions = Pick<
  ToolServerOptions,
  "definitions" | "extensions" | "middleware" | "sources" | "arrange" | "views" | "observe"
>;

/** The server whose definitions they are. */
export interface DefinitionsHost {
  readonly schemas: SchemaConverter;
  /** Get the methods of what is offered. */
  readonly legacy: Dispatcher<Call>;
  readonly modern: Dispatcher<Call>;
  compileMethods(registry: Registry, extensions: readonly Extension[]): MethodsOfEras;
  publish(change: Change): Promise<void>;
  onFault(error: unknown, what: string): void;
}

export interface CurrentDefinitions {
  /** `undefined` until they are compiled. */
  readonly registry: Registry | undefined;
  /** What a caller is offered. */
  find(principal: Principal | undefined): Promise<Registry>;
  /** As `ToolServer.ready`. */
  ready(): Promise<void>;
  /** As `ToolServer.replace`. */
  replace(definitions: Definitions): Promise<void>;
}

/** @throws {TypeError} for an invalid definition */
export function createCurrentDefinitions(
  options: DefinitionsOptions,
  { schemas, legacy, modern, compileMethods, publish, onFault }: DefinitionsHost,
): CurrentDefinitions {
  const { sources } = options;
  let registry: Registry | undefined;
  /** The definitions that `replace` set last. */
  let own = options.definitions;
  /** The number of the last call of `replace`, and that of the call whose definitions are installed. */
  let calls = 0;
  let installed = 0;

  /** All definitions, with those that extensions and sources add. */
  function complete(definitions: Definitions, extensions = options.extensions): Definition[] {
    const own = withSources(definitions, sources);
    return [...extensions.flatMap((each) => each.definitions(own)), ...own];
  }

  function compile(all: readonly Definition[], convert: ConvertSchema): Registry {
    const { middleware, arrange, observe } = options;
    const guarded = middleware.length > 0 ? group({ middleware }, all) : all;
    return compileRegistry(
      arrange ? flatten(arrange(guarded, { convert, observe })) : guarded,
      convert,
      registry ?? (sources.length > 0 || options.views ? ALL_LISTS : undefined),
    );
  }

  function compileView(all: readonly Definition[], extensions = options.extensions): View {
    const registry = compile(all, schemas.convert);
    return { registry, methods: compileMethods(registry, extensions) };
  }

  const views = options.views?.({
    definitions: (extensions) => complete(own, extensions),
    compile: compileView,
  });

  function install(definitions: Definitions): void {
    const view = compileView(complete(definitions));
    checkEntries(view.registry);
    registry = view.registry;
    views?.reset();
    for (const [era, dispatcher] of [["legacy", legacy], ["modern", modern]] as const) {
      // Replaced in place, as the handlers keep references to the two dispatchers.
      Object.assign(dispatcher, {
        methods: views?.methods(views.find, era, view.methods[era]) ?? view.methods[era],
      });
    }
  }

  const schemasIn = (definitions: Definitions): unknown[] =>
    flatten(definitions).flatMap((each) => each?.kind === "tool" ? [each.input, each.output] : []);
  const sourcesWait = sources.some((each) => each.ready);
  if (!sourcesWait && schemas.isReadyFor(schemasIn(own))) install(own);
  // Everything else that is invalid is refused at start.
  else checkEntries(compile(complete(own), () => ({ type: "object" })));

  /** Not at start: an import is asynchronous. Not as one promise: on Workers it belongs to the request that began it. */
  async function ready(): Promise<void> {
    if (registry) return;
    await Promise.all(sources.map((each) => each.ready?.()));
    await schemas.prepare(schemasIn(withSources(own, sources)));
    if (!registry) install(own);
  }

  async function replace(definitions: Definitions, call = ++calls): Promise<void> {
    // Clients of other instances have a list to compare with, also before the first request to this one.
    if (!registry) await ready().catch(() => {});
    const used = schemasIn(withSources(definitions, sources));
    if (!schemas.isReadyFor(used)) await schemas.prepare(used);
    // A later call has not waited. It read the sources, too.
    if (call < installed) return;
    const before = registry;
    install(definitions);
    own = definitions;
    installed = call;
    const after = registry!;
    if (!before) return;
    const { findChangedLists } = await import("./changed_lists.ts");
    for (const kind of findChangedLists(before, after)) {
      // The definitions are replaced: a failed notification must not make replace() fail.
      await publish({ kind }).catch((error) => onFault(error, "replace"));
    }
  }
  for (const source of sources) {
    // Before the first request, what it offers is read then.
    source.watch(() => registry && replace(own, installed).catch((error) => onFault(error, "source")));
  }

  return {
    get registry() {
      return registry;
    },
    find: async (principal) => (await views?.find(principal))?.registry ?? registry!,
    ready,
    replace: (definitions) => replace(definitions),
  };
}
