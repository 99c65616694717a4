/**
 * The tool server as a service: one table of methods per era, reached over HTTP and over stdio. Definitions may be
 * replaced while it runs; everything else is fixed at start.
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

/** The complete options of the tool server; `options.ts` says what each is for. */
export interface ToolServerOptions extends ServerInfo {
  readonly instructions: string | undefined;
  readonly base: string;
  readonly issuer: string;
  readonly store: Store;
  /** The key under which session ids, cursors and states are sealed. */
  readonly secret: () => Promise<Uint8Array>;
  readonly now: () => number;
  readonly definitions: Definitions;
  readonly extensions: readonly Extension[];
  readonly middleware: readonly Middleware[];
  readonly identify: IdentifyCaller;
  readonly auth: "required" | "optional" | "off";
  /** What a scope implies, itself aside. */
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
  /** What callers may hold open and have stored; the defaults where they are left out. */
  readonly streamLimits?: Partial<StreamLimits> | undefined;
  readonly storageLimits?: Partial<StorageLimits> | undefined;
  readonly listLifetime: number;
  /** Serves the transport of 2024-11-05, at `/mcp/sse`: `createSseHandlers`, for who wants it. */
  readonly sse: SseFactory | undefined;
  /** `serveStdio`, for who wants it: a server behind HTTP alone need not carry it. */
  readonly stdio: typeof serveStdio | undefined;
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
  /**
   * Offers these definitions from now on, in place of all before, and tells clients which lists changed. Calls under way
   * end as they began.
   * @throws {TypeError} for one that cannot stand; then nothing is replaced
   */
  replace(definitions: Definitions): Promise<void>;
  /** Tells those who subscribed to a resource, on any instance, that it changed. */
  resourceUpdated(uri: string): Promise<void>;
  /** Tells clients, on any instance, that a list is not what it was. */
  listChanged(list: "tools" | "resources" | "prompts"): Promise<void>;
  /** Ends open streams in good order: for a process that stops. */
  close(): void;
}

/** Milliseconds that the events of a stream are kept for a client that comes back. */
const EVENT_LIFETIME = 10 * 60_000;

/** The tool server. @throws {TypeError} for a definition that cannot stand */
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
    levelOf: async (session) =>
      (await sessions.settings(session).catch(() => undefined))?.level ?? DEFAULT_LEVEL,
    watch(call, gone) {
      // In a session a lost connection is no cancellation; that comes by name, perhaps to another instance.
      if (call.session) return cancellations.listen(call.session, call.id!, gone);
      const signal = call.request?.signal;
      signal?.addEventListener("abort", gone, { once: true });
      return () => signal?.removeEventListener("abort", gone);
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
    // What a handler throws that was told to stop; nobody hears the answer.
    if (call?.isCancelled) return new RpcError(INTERNAL_ERROR, "Request cancelled");
    observe({ type: "fault", where: method.slice(0, 100), error });
    return undefined;
  };
  // All others need no answer and get none: a call without an id is not made.
  const notifications = new Map(cancellations.methods());
  const legacy = { methods: new Map<string, Method<Call>>(), notifications, onFault };
  const modern = { methods: new Map<string, Method<Call>>(), notifications, onFault };

  function install(definitions: Definitions): void {
    const { middleware } = options;
    const own = flatten(definitions);
    const all = [...extensions.flatMap((each) => each.definitions(own)), ...own];
    const compiled = compileRegistry(middleware.length > 0 ? group({ middleware }, all) : all);
    // What takes a token to read is not for a cache that gives it to others.
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
    // The tables are replaced as they stand: dispatchers hold on to them.
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

  const log = { store, wakeups, now, lifetime: EVENT_LIFETIME, storage };
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
    outlet: { log, questions: { store, wakeups, now }, openStreams, keepAlive },
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
        // They are in place: that clients hear of it a little later is no reason to say that they are not.
        await changes.tell({ kind }).catch((error) => onFault(error, "replace"));
      }
    },
    resourceUpdated: (uri) => changes.tell({ kind: "resource", uri }),
    listChanged: (kind) => changes.tell({ kind }),
    close() {
      for (const end of [...open]) end();
    },
  };
}
