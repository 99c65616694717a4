/**
 * One session of an upstream: its connection, which it opens on demand and again after a failure, and its lists.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import type { CallContext } from "../../mcp/context.ts";
import { MODERN } from "../../mcp/era.ts";
import {
  type ConnectionInfo,
  type JsonObject,
  type ListName,
  type McpClient,
  type McpClientOptions,
} from "../../mcp_client/client.ts";
import { findConnectionRequired } from "./proxy/connect_user.ts";
import { CircuitBreaker, type CircuitBreakerOptions } from "./circuit_breaker.ts";
import { isOutage, UpstreamFailure } from "./failure.ts";
import { later } from "./later.ts";
import { HeldCalls } from "./proxy/held_calls.ts";
import type { ConnectedSession } from "./proxy/call_target.ts";
import { ResourceUpdates } from "./resource_updates.ts";
import { type ListedSession, type ListsHost, SessionLists } from "./lists/session_lists.ts";
import type { UpstreamState } from "./upstream_definition.ts";

/** What a session uses of its upstream. */
export interface SessionHost extends ListsHost {
  readonly name: string;
  createClient(options: Pick<McpClientOptions, "onNotification" | "onClosed">): McpClient;
  readonly connectTimeout: number;
  readonly inputTimeout: number;
  readonly breaker: CircuitBreakerOptions;
  /** Whether it connects again by itself after its connection was lost. */
  readonly isShared: boolean;
  onState(session: UpstreamSession): void;
  onResourceUpdated(originalUri: string): void;
}

/** The lists that a notification is about. */
const CHANGED: Readonly<Record<string, readonly ListName[]>> = {
  "notifications/tools/list_changed": ["tools"],
  // Skills are resources, and have no notification of their own.
  "notifications/resources/list_changed": ["resources", "resourceTemplates", "skills"],
  "notifications/prompts/list_changed": ["prompts"],
};

export class UpstreamSession implements ConnectedSession, ListedSession {
  readonly partition: string;
  /** A caller of this partition: whose credentials its own requests carry. */
  caller: Principal | undefined;
  readonly breaker: CircuitBreaker;
  readonly held: HeldCalls;
  readonly elicitations: Map<string, CallContext> = new Map();
  readonly updates: ResourceUpdates;
  readonly lists: SessionLists;
  state: UpstreamState = "idle";
  lastError: { readonly message: string; readonly at: number } | undefined;
  lastUse: number;
  /** Calls that have entered it and not left. */
  running = 0;
  /** Whether another session takes its place once it is not busy. */
  isOutdated = false;
  /** Set while connected. */
  connected: McpClient | undefined;
  #info: ConnectionInfo | undefined;
  readonly #host: SessionHost;
  #connecting: Promise<McpClient> | undefined;
  #connectedAt = 0;
  /** When the attempt to prepare it began that runs. */
  #preparingSince: number | undefined;
  /** How long the attempt before took. */
  #preparedMs = 0;
  #stopReconnect: (() => void) | undefined;
  #isClosed = false;

  constructor(host: SessionHost, partition: string, caller: Principal | undefined) {
    this.#host = host;
    this.partition = partition;
    this.caller = caller;
    this.lastUse = host.now();
    this.breaker = new CircuitBreaker(host.breaker);
    this.held = new HeldCalls(host.inputTimeout);
    this.updates = new ResourceUpdates((uri) => host.onResourceUpdated(uri), host.now);
    this.lists = new SessionLists(this, host);
  }

  get isBusy(): boolean {
    return this.running > 0 || this.held.size > 0;
  }

  get client(): McpClient {
    return this.connected!;
  }

  get info(): ConnectionInfo {
    return this.#info!;
  }

  /** What the last connection was negotiated to. */
  get lastInfo(): ConnectionInfo | undefined {
    return this.#info;
  }

  /**
   * Connects. Concurrent calls share one attempt.
   * @throws {ConnectionError} @throws {ConnectionRequired} @throws {UpstreamFailure}
   */
  connect(): Promise<McpClient> {
    if (this.connected) return Promise.resolve(this.connected);
    return this.#connecting ??= this.#connect().finally(() => this.#connecting = undefined);
  }

  /** Resolves when its lists were read at least once, or the attempt failed. Never rejects. */
  async prepare(): Promise<void> {
    if (this.lists.digest !== undefined) return;
    const since = this.#preparingSince ??= this.#host.now();
    try {
      await this.connect();
      await this.lists.settled();
    } catch {
      // The state says what failed.
    }
    this.#preparedMs = this.#host.now() - since;
    if (this.#preparingSince === since) this.#preparingSince = undefined;
  }

  /** Milliseconds that its lists have been awaited: in the attempt that runs, or in the one before if that took longer. */
  get waitedMs(): number {
    const since = this.#preparingSince;
    return Math.max(this.#preparedMs, since === undefined ? 0 : this.#host.now() - since);
  }

  /** Subscribes to the updates of a resource. @param user `userKey` of the subscriber */
  async subscribe(uri: string, user: string): Promise<void> {
    const client = await this.connect();
    await this.updates.subscribe(client, uri, user, { caller: this.caller, timeout: this.#host.timeout });
  }

  /** Ends subscriptions that no client renews. */
  endSubscriptions(): void {
    if (this.connected) {
      this.updates.sweep(this.connected, { caller: this.caller, timeout: this.#host.timeout });
    }
  }

  /** Ends the connection; the next call connects again. */
  async rest(): Promise<void> {
    this.#stopReconnect?.();
    await this.#disconnect("idle");
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopReconnect?.();
    this.lists.close();
    this.held.close();
    this.updates.close();
    // An attempt that still runs finds that the session is closed.
    await this.#disconnect("idle");
  }

  async #disconnect(state: UpstreamState): Promise<void> {
    const client = this.connected ?? this.#opening;
    this.connected = undefined;
    this.#setState(state);
    await client?.close();
  }

  /** The client of an attempt that still runs. */
  #opening: McpClient | undefined;

  async #connect(): Promise<McpClient> {
    const host = this.#host;
    this.#stopReconnect?.();
    this.#setState("connecting");
    const pause = this.breaker.isOpen ? 0 : this.breaker.pause;
    if (pause > 0) await new Promise<void>((resolve) => later(pause, resolve));
    this.#refuseClosed();
    const client = host.createClient({
      onNotification: (method, params) => {
        if (client === this.connected) this.#onNotification(method, params);
      },
      onClosed: (reason) => this.#onClosed(client, reason),
    });
    this.#opening = client;
    try {
      this.#info = await client.connect({ caller: this.caller, timeout: host.connectTimeout });
      this.#refuseClosed();
    } catch (error) {
      await client.close();
      this.#onConnectFailed(error);
      throw error;
    } finally {
      this.#opening = undefined;
    }
    this.connected = client;
    this.#connectedAt = host.now();
    this.#setState("connected");
    const { capabilities, revision } = this.#info;
    if (capabilities.logging !== undefined && revision < MODERN) {
      // All levels: each client gets those that it asked for.
      client.request("logging/setLevel", { level: "debug" }, { caller: this.caller, timeout: host.timeout })
        .catch(() => {});
    }
    this.updates.resume(client, { caller: this.caller, timeout: host.timeout });
    this.lists.readAll();
    return client;
  }

  #refuseClosed(): void {
    if (this.#isClosed) throw new UpstreamFailure("was removed from the configuration.");
  }

  #onConnectFailed(error: unknown): void {
    if (this.#isClosed) return;
    if (findConnectionRequired(error)) return this.#setState("connection_required");
    if (isOutage(error)) this.breaker.fail();
    this.#setFailed(error);
    this.#reconnectLater();
  }

  #onClosed(client: McpClient, reason: Error | undefined): void {
    if (client !== this.connected || this.#isClosed) return;
    this.connected = undefined;
    client.close().catch(() => {});
    this.breaker.fail(this.#host.now() - this.#connectedAt);
    this.held.close();
    this.#setFailed(reason ?? new Error("The connection was closed"));
    this.#reconnectLater();
  }

  /** Connects again by itself, so that its lists are current again without a call. */
  #reconnectLater(): void {
    if (!this.#host.isShared || this.#isClosed) return;
    this.#stopReconnect?.();
    this.#stopReconnect = later(Math.max(this.breaker.pause, 50), () => {
      if (this.breaker.tryEnter()) this.connect().catch(() => {});
      else this.#reconnectLater();
    });
  }

  #setFailed(error: unknown): void {
    const message = error instanceof Error ? error.message : "Unknown error";
    this.lastError = { message: message.slice(0, 500), at: Date.now() };
    this.#setState(this.breaker.isOpen ? "open" : "failed");
  }

  #setState(state: UpstreamState): void {
    if (this.state === state) return;
    this.state = state;
    this.#host.onState(this);
  }

  #onNotification(method: string, params: JsonObject): void {
    const lists = CHANGED[method];
    if (lists) this.lists.changed(lists);
    else if (method === "notifications/resources/updated") this.updates.updated(params.uri);
    else if (method === "notifications/elicitation/complete" && typeof params.elicitationId === "string") {
      const context = this.elicitations.get(params.elicitationId);
      this.elicitations.delete(params.elicitationId);
      context?.elicitationCompleted(params.elicitationId).catch(() => {});
    }
  }

  onListsRead(): void {
    if (this.connected) this.#setState("connected");
  }

  async onListsFailed(client: McpClient, error: unknown): Promise<void> {
    if (findConnectionRequired(error)) await this.#disconnect("connection_required");
    else if (this.lists.raw) this.#setFailed(error);
    // Without lists it offers nothing, so it connects again.
    else this.#onClosed(client, error as Error);
  }
}
