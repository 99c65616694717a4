/**
 * What remembers something between requests: sessions, their streams and subscriptions, changes, tasks, and requests to the
 * client. A server that answers self-contained requests alone never loads this.
 *
 * @module
 */
import type { FindSecrets } from "../crypto/server_secrets.ts";
import type { Observe } from "../events.ts";
import type { Principal } from "../http/principal.ts";
import type { Method } from "../jsonrpc/dispatch.ts";
import type { ClientResponse, Id } from "../jsonrpc/message.ts";
import type { Store } from "../store/store.ts";
import type { Telemetry } from "../http/telemetry.ts";
import type { Call, CallHost } from "./call.ts";
import { Cancellations } from "./cancellation.ts";
import { Changes } from "./definition/changes.ts";
import type { CompiledTool, Registry } from "./definition/registry.ts";
import type { ListenOptions } from "./http/listen.ts";
import type { OpenStreams } from "./http/stream_limits.ts";
import type { InputRequired } from "./input/input_required.ts";
import { acceptClientResponse, sendServerRequest } from "./input/server_request.ts";
import { loggingMethods, readLogLevel } from "./logging.ts";
import type { ModernWriter } from "./modern.ts";
import { LogWriter } from "./session/event_log.ts";
import { type Session, Sessions } from "./session/session.ts";
import type { OnSubscribed } from "./session/session_changes.ts";
import type { EndStream, SessionStreamOptions } from "./session/session_stream.ts";
import { Subscriptions } from "./session/session_subscriptions.ts";
import {
  type Caller,
  RECORD_BYTES,
  STORAGE_LIMITS,
  StorageAllowance,
  type StorageLimits,
} from "./session/storage_limits.ts";
import { subscriptionMethods } from "./session/subscriptions.ts";
import { Wakeups } from "./session/wakeups.ts";
import { TaskStore } from "./tasks/task_store.ts";
import { Tasks } from "./tasks/tasks.ts";

export interface StatefulOptions {
  readonly store: Store;
  readonly telemetry?: Telemetry | undefined;
  readonly secret: FindSecrets;
  readonly now: () => number;
  readonly observe: Observe;
  readonly host: CallHost;
  readonly writer: ModernWriter;
  readonly inputRequired: InputRequired;
  readonly runTool: (tool: CompiledTool, input: unknown, call: Call) => Promise<unknown>;
  /** What the caller is offered. */
  readonly registryOf: (principal: Principal | undefined) => Promise<Registry>;
  readonly onSubscribed?: OnSubscribed | undefined;
  readonly openStreams: OpenStreams;
  /** Whether requests may not share work: see `RequestContext.isIsolated`. */
  readonly isIsolated: () => boolean;
  /** Milliseconds. */
  readonly keepAlive: number;
  readonly sessionLifetime: number;
  readonly storageLimits?: Partial<StorageLimits> | undefined;
}

export interface Stateful {
  readonly wakeups: Wakeups;
  readonly storage: StorageAllowance;
  readonly sessions: Sessions;
  readonly subscriptions: Subscriptions;
  readonly changes: Changes;
  readonly cancellations: Cancellations;
  readonly tasks: Tasks;
  readonly listen: ListenOptions;
  readonly streams: SessionStreamOptions;
  /** Ends the streams that wait for changes: see `close` of the server. */
  closeStreams(): void;
  /** The methods that read or change the state. */
  methods(registry: Registry): readonly [name: string, method: Method<Call>][];
  readonly getLogLevel: CallHost["getLogLevel"];
  /** Starts the log of the stream of a request; `undefined` at the caller's storage limit. */
  startLog(session: Session, id: Id, caller: Caller): LogWriter | undefined;
  /** Sends a request to the client of a session: see `server_request.ts`. */
  sendServerRequest(
    session: Session,
    principal: Principal | undefined,
    method: string,
    params: unknown,
    send: (json: string) => void,
    signal: AbortSignal,
  ): Promise<unknown>;
  /** Passes a client's response on; `false` when no such request of the caller is pending. */
  acceptClientResponse(
    session: Session,
    principal: Principal | undefined,
    message: ClientResponse,
  ): Promise<boolean>;
}

/** When clients come back to a server that stops: at least after this time, at most after twice as long. */
const MIN_RETRY_MS = 500;

/** How long the events of a stream are kept for a client that resumes it. */
const EVENT_RETENTION_MS = 10 * 60_000;

export function createStateful(options: StatefulOptions): Stateful {
  const { store, now, secret, keepAlive, openStreams, registryOf, onSubscribed } = options;
  const open = new Set<EndStream>();
  const wakeups = new Wakeups(store, options.isIsolated);
  const storage = new StorageAllowance({ ...STORAGE_LIMITS, ...options.storageLimits }, now);
  const sessions = new Sessions({
    store,
    storage,
    secret,
    now,
    lifetime: options.sessionLifetime,
    telemetry: options.telemetry,
  });
  const subscriptions = new Subscriptions({ store, sessions, storage, now });
  const changes = new Changes(store, wakeups, now);
  const cancellations = new Cancellations(store, wakeups, now, storage);
  const taskStore = new TaskStore(store, wakeups, now);
  const { host, inputRequired, runTool, observe, writer } = options;
  const tasks = new Tasks({
    store: taskStore,
    host,
    inputRequired,
    runTool,
    findTool: async (name, { principal }) => (await registryOf(principal)).tools.get(name),
    observe,
    now,
    storage,
  });
  const log = { store, wakeups, now, lifetime: EVENT_RETENTION_MS, storage };
  const requests = { store, wakeups, now };
  return {
    wakeups,
    storage,
    sessions,
    subscriptions,
    changes,
    cancellations,
    tasks,
    listen: { registryOf, onSubscribed, changes, tasks, taskStore, writer },
    streams: {
      store,
      wakeups,
      registryOf,
      onSubscribed,
      subscriptions,
      changes,
      log,
      keepAlive,
      open,
      openStreams,
    },
    closeStreams() {
      // At different times, so that they do not all come back at once.
      for (const end of [...open]) end(Math.round(MIN_RETRY_MS * (1 + Math.random())));
    },
    methods: (registry) => [
      ...loggingMethods(sessions),
      ...subscriptionMethods(registry, subscriptions),
      ...tasks.methods(),
    ],
    getLogLevel: (session) => readLogLevel(sessions, session),
    startLog: (session, id, caller) =>
      storage.tryTake(caller, RECORD_BYTES, log.lifetime)
        ? new LogWriter(log, session.id, JSON.stringify(id), caller)
        : undefined,
    sendServerRequest: (...request) => sendServerRequest(requests, ...request),
    acceptClientResponse: (...response) => acceptClientResponse(requests, ...response),
  };
}
