/**
 * One upstream: a session for each partition of its callers, the limits of its calls, and what it offers.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import type { ChangedFor } from "../../mcp/definition/changes.ts";
import { userKey } from "../../mcp/session/principal_key.ts";
import { INVALID_PARAMS } from "../../jsonrpc/error.ts";
import { type ListName, McpError } from "../../mcp_client/client.ts";
import type { UpstreamAccess } from "../credentials/access.ts";
import { CallLimiter } from "../call_limiter.ts";
import type { CircuitBreakerOptions } from "./circuit_breaker.ts";
import { digestServer, type UpstreamConfiguration } from "./configuration/configuration.ts";
import { createDefinitions, type TakenNames } from "./definitions.ts";
import { isOutageOfCall, UpstreamFailure, UpstreamPaused } from "./failure.ts";
import { OfferedSets } from "./offered_sets.ts";
import type { CallerContext, CallTarget, ConnectedSession } from "./proxy/call_target.ts";
import { connectTool } from "./proxy/connect_tool.ts";
import { findConnectionRequired } from "./proxy/connect_user.ts";
import { UpstreamSession } from "./session.ts";
import { type ClientHost, createUpstreamClient } from "./upstream_client.ts";
import type { UpstreamDefinition, UpstreamState, UpstreamStatus } from "./upstream_definition.ts";
import { isListed, readLists, type UpstreamLists } from "./lists/upstream_lists.ts";
import { describeStatus } from "./upstream_status.ts";
import { waitToConnect } from "./wait_to_connect.ts";
import { createKeptUris, createUriMap, type UriMap } from "./uris.ts";

/** What all upstreams of a gateway share. */
export interface UpstreamHost extends ClientHost {
  readonly inputTimeout: number;
  readonly idleTimeout: number;
  readonly breaker: CircuitBreakerOptions;
  readonly now: () => number;
  /** What some caller is offered has changed. */
  onChange(changedFor?: ChangedFor): void;
  onAnnounced(lists: ReadonlySet<ListName>, changedFor: ChangedFor | undefined): void;
  onResourceUpdated(uri: string, changedFor: ChangedFor | undefined): void;
  onState(upstream: string, state: UpstreamState, error: string | undefined): void;
}

/** A server may take long to start for the first time, such as when it is downloaded. */
const MIN_CONNECT_TIMEOUT_MS = 60_000;
/** Sessions of users that are kept; the longest unused is closed when there are more. */
const MAX_SESSIONS = 10_000;
const WAITING_PER_RUNNING = 4;

export class Upstream implements CallTarget {
  readonly name: string;
  readonly serverDigest: string;
  readonly configuration: UpstreamConfiguration;
  uris: UriMap;
  readonly timeout: number;
  readonly #host: UpstreamHost;
  readonly #access: UpstreamAccess;
  readonly #limiter: CallLimiter;
  readonly #sessions = new Map<string, UpstreamSession>();
  readonly #sets = new OfferedSets((lists) => this.#define(lists));
  #connectTool: readonly UpstreamDefinition[] | undefined;
  #prefix = "";
  #taken: TakenNames = { prefixes: [], heads: [] };
  #isClosed = false;

  constructor(host: UpstreamHost, configuration: UpstreamConfiguration, access: UpstreamAccess) {
    const { name, timeout, maxConcurrent } = configuration;
    this.#host = host;
    this.#access = access;
    this.configuration = configuration;
    this.name = name;
    this.serverDigest = digestServer(configuration);
    this.timeout = timeout;
    this.uris = createUriMap(name);
    this.#limiter = new CallLimiter(maxConcurrent, maxConcurrent * WAITING_PER_RUNNING, timeout);
  }

  /** The session of the caller, which may not be connected. */
  sessionOf(caller: Principal | undefined): UpstreamSession {
    const partition = this.#access.partition(caller);
    let session = this.#sessions.get(partition);
    if (!session) {
      session = this.#createSession(partition, caller);
      this.#sessions.set(partition, session);
      if (this.#sessions.size > MAX_SESSIONS) this.#dropOldest();
    }
    // The newest principal of the user is the one whose token lasts longest.
    if (partition !== "") session.caller = caller;
    return session;
  }

  /** What the caller is offered now; `undefined` before the first answer of the upstream. */
  offeredTo(caller: Principal | undefined): readonly UpstreamDefinition[] | undefined {
    const { lists, state } = this.sessionOf(caller);
    lists.refresh();
    if (lists.digest !== undefined) return this.#sets.get(lists.digest)?.definitions;
    return state === "connection_required"
      ? this.#connectTool ??= [connectTool(this, this.#prefix, this.#taken.prefixes)]
      : undefined;
  }

  enter(context: CallerContext): ConnectedSession | Promise<ConnectedSession> {
    if (this.#isClosed) throw new UpstreamFailure("was removed from the configuration.");
    const session = this.sessionOf(context.principal);
    session.lastUse = this.#host.now();
    if (!session.breaker.tryEnter()) {
      const seconds = Math.max(1, Math.ceil(session.breaker.pause / 1000));
      throw new UpstreamPaused(
        `failed ${session.breaker.failures} times in a row and is paused. Try again in ${seconds} s.`,
      );
    }
    const waiting = this.#limiter.enter(context, () => userKey(context.principal));
    session.running++;
    return !waiting && session.connected ? session : this.#enterLater(session, waiting, context);
  }

  async #enterLater(
    session: UpstreamSession,
    waiting: Promise<void> | undefined,
    { signal }: CallerContext,
  ): Promise<ConnectedSession> {
    let hasPlace = false;
    try {
      await waiting;
      hasPlace = true;
      if (!session.connected) await waitToConnect(session.connect(), this.timeout, signal);
      return session;
    } catch (error) {
      if (hasPlace) this.#limiter.leave();
      this.#end(session);
      throw error;
    }
  }

  #end(session: UpstreamSession): void {
    session.running--;
    this.#reconnectOutdated(session);
  }

  #reconnectOutdated(session: UpstreamSession): void {
    if (session.isOutdated && !session.isBusy && this.#sessions.get(session.partition) === session) {
      this.reconnect(session.caller);
    }
  }

  leave(session: ConnectedSession, error?: unknown): void {
    this.#limiter.leave();
    const left = session as UpstreamSession;
    if (error === undefined) left.breaker.succeed();
    else if (isOutageOfCall(error)) left.breaker.fail();
    // Of a name that is not known, and of other arguments that the upstream refuses.
    else if (error instanceof McpError && error.code === INVALID_PARAMS) left.lists.doubt();
    this.#end(left);
  }

  async whileWaiting<Result>(wait: () => Promise<Result>): Promise<Result> {
    this.#limiter.leave();
    try {
      return await wait();
    } finally {
      this.#limiter.enterAgain();
    }
  }

  async isAuthorized(caller: Principal | undefined, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#access.headers(caller, signal);
      return true;
    } catch (error) {
      if (findConnectionRequired(error)) return false;
      throw error;
    }
  }

  /** Whether all callers share one session. */
  get isShared(): boolean {
    return this.#access.partition(undefined) === "" &&
      this.#access.partition({ subject: "someone", scopes: new Set(), workspace: "" }) === "";
  }

  /** Subscribes to the updates of a resource, given as clients know it. `false` when it is not of this upstream. */
  async subscribe(uri: string, caller: Principal | undefined): Promise<boolean> {
    const original = this.uris.toOriginal(uri);
    const session = this.sessionOf(caller);
    const lists = this.#sets.get(session.lists.digest)?.lists;
    if (original === undefined || !lists?.features.resources) return false;
    // Of the URIs that it keeps, an upstream has those that it lists.
    if (original === uri && !await isListed(lists, original)) return false;
    await session.subscribe(original, userKey(caller));
    return true;
  }

  /** Whether its names and URIs say that they are of it. */
  get isNamed(): boolean {
    return this.#prefix !== "";
  }

  /** Sets the prefix that it has beside the other upstreams. {@linkcode setTaken} must follow. */
  setPrefix(prefix: string): void {
    this.#prefix = prefix;
    this.uris = this.isNamed ? createUriMap(this.name) : createKeptUris(this.name);
  }

  /** Names the definitions anew after an upstream was added or removed. */
  setTaken(taken: TakenNames): void {
    this.#taken = taken;
    this.#connectTool = undefined;
    this.#sets.define();
  }

  /** Starts again for a caller, such as after its credentials changed. @param when `"idle"`: first, its calls end */
  reconnect(caller: Principal | undefined, when: "now" | "idle" = "now"): void {
    const partition = this.#access.partition(caller);
    const session = this.#sessions.get(partition);
    if (when === "idle" && session?.isBusy) {
      session.isOutdated = true;
      return;
    }
    this.#sessions.delete(partition);
    session?.close();
    this.sessionOf(caller).prepare().then(() => this.#host.onChange(toChangedFor(partition, caller)));
  }

  /** Closes sessions of users that were not used for some time. */
  sweep(): void {
    const unused = this.#host.now() - this.#host.idleTimeout;
    for (const session of this.#sessions.values()) {
      session.endSubscriptions();
      this.#reconnectOutdated(session);
      const isBusy = session.isBusy || session.updates.size > 0;
      if (session.partition !== "" && session.connected && session.lastUse < unused && !isBusy) {
        session.rest();
      }
    }
  }

  status(): UpstreamStatus {
    return describeStatus(
      this.configuration,
      [...this.#sessions.values()],
      this.#limiter,
      (digest) => this.#sets.get(digest)?.lists,
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const sessions = [...this.#sessions.values()];
    // Calls that end now begin no session.
    this.#sessions.clear();
    await Promise.all(sessions.map((session) => session.close()));
  }

  #createSession(partition: string, caller: Principal | undefined): UpstreamSession {
    const { breaker, inputTimeout, now } = this.#host;
    const changedFor = toChangedFor(partition, caller);
    return new UpstreamSession(
      {
        name: this.name,
        timeout: this.timeout,
        connectTimeout: Math.max(this.timeout, MIN_CONNECT_TIMEOUT_MS),
        inputTimeout,
        breaker,
        now,
        isShared: partition === "",
        createClient: (events) => createUpstreamClient(this.#host, this.configuration, this.#access, events),
        offer: async (digest, raw, accept) => {
          await this.#sets.make(digest, raw, () => readLists(raw, this.configuration), accept);
          this.#sets.retain(new Set([...this.#sessions.values()].map(({ lists }) => lists.digest)));
          this.#host.onChange(changedFor);
        },
        onAnnounced: (lists) => this.#host.onAnnounced(lists, changedFor),
        onState: ({ state, lastError }) => this.#host.onState(this.name, state, lastError?.message),
        onResourceUpdated: (uri) => this.#host.onResourceUpdated(this.uris.toPublic(uri), changedFor),
      },
      partition,
      caller,
    );
  }

  #define(lists: UpstreamLists): readonly UpstreamDefinition[] {
    const { configuration: { scopes }, uris } = this;
    return createDefinitions(lists, { target: this, scopes, uris }, this.#prefix, this.#taken);
  }

  #dropOldest(): void {
    let oldest: UpstreamSession | undefined;
    for (const session of this.#sessions.values()) {
      if (session.partition !== "" && session.lastUse <= (oldest?.lastUse ?? Infinity)) oldest = session;
    }
    if (!oldest) return;
    this.#sessions.delete(oldest.partition);
    oldest.close();
  }
}

/** Other users may be offered other lists, and read other contents at the same URI. */
function toChangedFor(partition: string, caller: Principal | undefined): ChangedFor | undefined {
  return partition === "" ? undefined : { user: caller };
}
