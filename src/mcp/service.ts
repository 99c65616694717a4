/**
 * Composes the MCP server: one table of methods per era, served over HTTP and stdio. Definitions may be replaced while it
 * runs; everything else is fixed at start.
 *
 * @module
 */
import type { Observe } from "../events.ts";
import { hasScope, type IdentifyCaller, type Principal } from "../http/principal.ts";
import { createHostGuard } from "../http/network/origin.ts";
import { respondText } from "../http/response.ts";
import { pathOf } from "../http/router.ts";
import type { Service } from "../http/service.ts";
import type { Dispatcher, Method } from "../jsonrpc/dispatch.ts";
import { INTERNAL_ERROR, RpcError } from "../jsonrpc/error.ts";
import { type Store, StoreUnavailableError } from "../store/store.ts";
import { createInputRequired } from "./input/input_required.ts";
import type { Call, CallHost } from "./call.ts";
import { Cancellations } from "./cancellation.ts";
import { findChangedLists } from "./definition/changed_lists.ts";
import { Changes } from "./definition/changes.ts";
import { completionMethods } from "./definition/completion.ts";
import { UnavailableError } from "./error.ts";
import { type Definitions, flatten, group, type Middleware } from "./definition/group.ts";
import { type Extension, extensionMethods } from "./definition/extension.ts";
import { createHttpHandlers } from "./http/http.ts";
import type { HttpOptions, SseFactory } from "./http/http_options.ts";
import { RequestStates } from "./input/inputs.ts";
import { discoverMethods, handshakeMethods } from "./session/lifecycle.ts";
import { createListPages, type ListEntry } from "./definition/list_pages.ts";
import { DEFAULT_LEVEL } from "./log_level.ts";
import { loggingMethods } from "./logging.ts";
import { createModernWriter } from "./modern.ts";
import { promptMethods } from "./definition/prompts.ts";
import { compileRegistry, type Registry } from "./definition/registry.ts";
import { resourceMethods } from "./definition/resources.ts";
import type { ServerInfo } from "./definition/server_info.ts";
import { Sessions } from "./session/session.ts";
import { Subscriptions } from "./session/session_subscriptions.ts";
import type { serveStdio } from "./stdio/stdio.ts";
import { STORAGE_LIMITS, StorageAllowance, type StorageLimits } from "./session/storage_limits.ts";
import { OpenStreams, STREAM_LIMITS, type StreamLimits } from "./http/stream_limits.ts";
import { subscriptionMethods } from "./session/subscriptions.ts";
import { TaskStore } from "./tasks/task_store.ts";
import { Tasks } from "./tasks/tasks.ts";
import { runTool, toolMethods } from "./definition/tools.ts";
import { Wakeups } from "./session/wakeups.ts";

/** The complete options of the MCP server, without defaults. `mcp_options.ts` describes each. */
export interface ToolServerOptions extends ServerInfo {
  readonly instructions: string | undefined;
  readonly base: string;
  readonly issuer: string;
  readonly store: Store;
  /** The key that signs session ids and encrypts cursors and request states. */
  readonly secret: () => Promise<Uint8Array>;
  readonly now: () => number;
  readonly definitions: Definitions;
  readonly extensions: readonly Extension[];
  readonly middleware: readonly Middleware[];
  readonly identify: IdentifyCaller;
  readonly auth: "required" | "optional" | "off";
  /** The other scopes that a scope implies. */
  readonly implied: ReadonlyMap<string, ReadonlySet<string>>;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  /** Bytes. */
  readonly bodyLimit: number;
  /** Entries of a list. */
  readonly pageSize: number;
  /** Milliseconds. */
  readonly sessionLifetime: number;
  readonly keepAlive: number;
  /** Limits of open streams and stored bytes. @default STREAM_LIMITS, STORAGE_LIMITS */
  readonly streamLimits?: Partial<StreamLimits> | undefined;
  readonly storageLimits?: Partial<StorageLimits> | undefined;
  readonly listLifetime: number;
  /** `createSseHandlers`, to serve HTTP+SSE (2024-11-05) at `/mcp/sse`; not bundled unless you pass it. */
  readonly sse: SseFactory | undefined;
  /** `serveStdio`, to serve stdio; not bundled unless you pass it. */
  readonly stdio: typeof serveStdio | undefined;
  readonly resourceMetadata: string | undefined;
  /** The scope in the challenge of a 401. */
  readonly initialScope?: string | undefined;
  readonly observe: Observe;
}

export interface ToolServer extends Service {
  /** Serves one client over stdio until the input ends. */
  serveStdio(
    input: ReadableStream<Uint8Array>,
    output: WritableStream<Uint8Array>,
    principal?: Principal,
  ): Promise<void>;
  /**
   * Replaces all definitions and notifies clients of the lists that changed. Running calls finish with the old definitions.
   * @throws {TypeError} for an invalid definition; then nothing is replaced
   */
  replace(definitions: Definitions): Promise<void>;
  /** Notifies the subscribers of a resource, on any instance, that it changed. */
  resourceUpdated(uri: string): Promise<void>;
  /** Notifies clients, on any instance, that a list changed. */
  listChanged(list: "tools" | "resources" | "prompts"): Promise<void>;
  /** Ends open streams, before the process stops. */
  close(): void;
}

/** How long the events of a stream are kept for a client that resumes it. */
const EVENT_RETENTION_MS = 10 * 60_000;

/** Creates an MCP server. @throws {TypeError} for an invalid definition */
export function createToolServer(options: ToolServerOptions): ToolServer {
  const { observe, base, store, now, secret, extensions } = options;
  const writer = createModernWriter(options);
  const wakeups = new Wakeups(store);
  const storage = new StorageAllowance({ ...STORAGE_LIMITS, ...options.storageLimits }, now);
  const openStreams = new OpenStreams({ ...STREAM_LIMITS, ...options.streamLimits });
  const sessions = new Sessions({ store, storage, secret, now, lifetime: options.sessionLifetime });
  const subscriptions = new Subscriptions({ store, sessions, storage, now });
  const changes = new Changes(store, wakeups, now);
  const cancellations = new Cancellations(store, wakeups, now, storage);
  const host: CallHost = {
    holds: (principal, scope) => principal !== undefined && hasScope(principal, scope, options.implied),
    getLogLevel: async (session) =>
      (await sessions.settings(session).catch(() => undefined))?.level ?? DEFAULT_LEVEL,
    watchCancellation(call, onCancelled) {
      // In a session a disconnect does not cancel; notifications/cancelled does, perhaps at another instance.
      if (call.session) return cancellations.listen(call.session, call.id!, onCancelled);
      const signal = call.request?.signal;
      signal?.addEventListener("abort", onCancelled, { once: true });
      return () => signal?.removeEventListener("abort", onCancelled);
    },
  };
  const inputRequired = createInputRequired(new RequestStates(secret, now));
  const taskStore = new TaskStore(store, wakeups, now);
  const tasks = new Tasks({
    store: taskStore,
    host,
    inputRequired,
    runTool: (tool, input, call) => runTool(tool, input, call, observe),
    findTool: (name) => registry.tools.get(name),
    observe,
    now,
    storage,
  });

  let registry: Registry;
  const onFault = (error: unknown, method: string, call?: Call): RpcError | undefined => {
    if (error instanceof StoreUnavailableError) {
      observe({ type: "store_unavailable", where: "mcp", error });
      return new UnavailableError(error);
    }
    // A cancelled handler may throw anything; its response is not sent.
    if (call?.isCancelled) return new RpcError(INTERNAL_ERROR, "Request cancelled");
    observe({ type: "fault", where: method.slice(0, 100), error });
    return undefined;
  };
  // Other notifications are ignored, also methods that are sent without an id.
  const notifications = new Map(cancellations.methods());
  const legacy = { methods: new Map<string, Method<Call>>(), notifications, onFault };
  const modern = { methods: new Map<string, Method<Call>>(), notifications, onFault };

  function install(definitions: Definitions): void {
    const { middleware } = options;
    const own = flatten(definitions);
    const all = [...extensions.flatMap((each) => each.definitions(own)), ...own];
    const compiled = compileRegistry(middleware.length > 0 ? group({ middleware }, all) : all);
    // A shared cache must not keep what requires a token.
    const cacheScope = options.auth === "required" ? "private" : "public";
    const pages = {
      pageSize: options.pageSize,
      secret,
      ttl: options.listLifetime,
      cacheScope,
      modernHead: writer.head,
    } as const;
    const listOf = (member: string, entries: Iterable<ListEntry>) =>
      createListPages({ ...pages, member, entries: [...entries] });
    const lifecycle = {
      info: options,
      instructions: options.instructions,
      registry: compiled,
      extensions,
      sessions,
      ttl: options.listLifetime,
      cacheScope,
      modernHead: writer.head,
    } as const;
    const both = [
      ...toolMethods({
        registry: compiled,
        list: listOf("tools", compiled.tools.values()),
        inputRequired,
        tasks,
        observe,
      }),
      ...resourceMethods({
        registry: compiled,
        list: listOf("resources", compiled.resources.values()),
        listOptions: pages,
        templatesList: listOf("resourceTemplates", compiled.templates),
        inputRequired,
      }),
      ...promptMethods({
        registry: compiled,
        list: listOf("prompts", compiled.prompts.values()),
        inputRequired,
      }),
      ...completionMethods(compiled),
    ];
    const extended = extensions.flatMap((each) => extensionMethods(each, options));
    registry = compiled;
    // Replaced in place, as the handlers keep references to the two dispatchers.
    (legacy as { methods: Map<string, Method<Call>> }).methods = new Map([
      ...both,
      ...handshakeMethods(lifecycle),
      ...loggingMethods(sessions),
      ...subscriptionMethods(compiled, subscriptions),
      ...extended,
    ]);
    (modern as { methods: Map<string, Method<Call>> }).methods = new Map([
      ...both,
      ...discoverMethods(lifecycle),
      ...(compiled.hasTasks ? tasks.methods() : []),
      ...extended,
    ]);
  }
  install(options.definitions);

  const log = { store, wakeups, now, lifetime: EVENT_RETENTION_MS, storage };
  const { keepAlive } = options;
  const open = new Set<() => void>();
  const listen = { registry: () => registry, changes, tasks, taskStore, writer };
  const httpOptions: HttpOptions = {
    ...options,
    writer,
    onFault,
    host,
    legacy: legacy as Dispatcher<Call>,
    modern: modern as Dispatcher<Call>,
    checkSender: createHostGuard(options).check,
    sessions,
    subscriptions,
    storage,
    cancellations,
    outlet: { log, serverRequests: { store, wakeups, now }, openStreams, keepAlive },
    listen,
    streams: { store, wakeups, subscriptions, changes, log, keepAlive, open, openStreams },
  };
  const path = base + "/mcp";
  const { endpoint, sse } = createHttpHandlers(httpOptions, options.sse, `${path}/messages`);
  const handlers = new Map([[path, endpoint]]);
  if (sse) handlers.set(`${path}/sse`, sse.open).set(`${path}/messages`, sse.post);

  return {
    mounts: ["mcp"],
    fetch(request, context = {}) {
      const handle = handlers.get(pathOf(request.url));
      return handle
        ? handle(request, context)
        : Promise.resolve(respondText(404, `Not found. The MCP endpoint is ${path}`));
    },
    async serveStdio(input, output, principal) {
      const connection = { host, legacy, modern, writer, sessions, subscriptions, changes, wakeups, listen };
      if (!options.stdio) throw new TypeError('Cannot serve stdio: the option "stdio" is missing');
      await options.stdio(connection, input, output, principal);
    },
    async replace(definitions) {
      const before = registry;
      install(definitions);
      for (const kind of findChangedLists(before, registry)) {
        // The definitions are replaced: a failed notification must not make replace() fail.
        await changes.publish({ kind }).catch((error) => onFault(error, "replace"));
      }
    },
    resourceUpdated: (uri) => changes.publish({ kind: "resource", uri }),
    listChanged: (kind) => changes.publish({ kind }),
    close() {
      for (const end of [...open]) end();
    },
  };
}
