/**
 * One session of an upstream: its connection and its lists. It connects on demand, connects again after a failure, and
 * refreshes its lists when the upstream says that they changed.
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
import { digestLists, fetchLists, type RawLists } from "./upstream_lists.ts";
import { ResourceUpdates } from "./resource_updates.ts";
import type { UpstreamState } from "./upstream_definition.ts";

/** What a session uses of its upstream. */
export interface SessionHost {
  readonly name: string;
  createClient(options: Pick<McpClientOptions, "onNotification" | "onClosed">): McpClient;
  /** Milliseconds. */
  readonly timeout: number;
  readonly connectTimeout: number;
  readonly inputTimeout: number;
  readonly breaker: CircuitBreakerOptions;
  /** Whether it connects again by itself after its connection was lost. */
  readonly isShared: boolean;
  readonly now: () => number;
  /** What it offers has changed. */
  onLists(session: UpstreamSession): Promise<void>;
  /** The upstream announced a change of lists, and they are as before: something else about them may have changed. */
  onAnnounced(lists: ReadonlySet<ListName>): void;
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
/** Further notifications within this time are one refresh. */
const DEBOUNCE_MS = 100;
/** The least time between two refreshes of one session. */
const MIN_REFRESH_INTERVAL_MS = 1_000;

export class UpstreamSession implements ConnectedSession {
  readonly partition: string;
  /** A caller of this partition: whose credentials its own requests carry. */
  caller: Principal | undefined;
  readonly breaker: CircuitBreaker;
  readonly held: HeldCalls;
  readonly elicitations: Map<string, CallContext> = new Map();
  calls = 0;
  readonly updates: ResourceUpdates;
  state: UpstreamState = "idle";
  lastError: { readonly message: string; readonly at: number } | undefined;
  lastUse: number;
  /** What the upstream listed, and its digest; kept while it is not connected. */
  raw: RawLists | undefined;
  digest: string | undefined;
  /** Set while connected. */
  connected: McpClient | undefined;
  #info: ConnectionInfo | undefined;
  readonly #host: SessionHost;
  #connecting: Promise<McpClient> | undefined;
  #connectedAt = 0;
  #lists: Promise<void> | undefined;
  #stale = new Set<ListName>();
  #refreshedAt = -Infinity;
  #stopRefresh: (() => void) | undefined;
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
    if (this.digest !== undefined) return;
    try {
      await this.connect();
      await this.#lists;
    } catch {
      // The state says what failed.
    }
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
    this.#stopRefresh?.();
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
    this.#stale = new Set();
    this.#lists = this.#readLists(client);
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
    this.lastError = { message: message.slice(0, 500), at: this.#host.now() };
    this.#setState(this.breaker.isOpen ? "open" : "failed");
  }

  #setState(state: UpstreamState): void {
    if (this.state === state) return;
    this.state = state;
    this.#host.onState(this);
  }

  #onNotification(method: string, params: JsonObject): void {
    const lists = CHANGED[method];
    if (lists) {
      for (const list of lists) this.#stale.add(list);
      this.#refreshLater();
    } else if (method === "notifications/resources/updated") this.updates.updated(params.uri);
    else if (method === "notifications/elicitation/complete" && typeof params.elicitationId === "string") {
      const context = this.elicitations.get(params.elicitationId);
      this.elicitations.delete(params.elicitationId);
      context?.elicitationCompleted(params.elicitationId).catch(() => {});
    }
  }

  #refreshLater(): void {
    if (this.#stopRefresh || this.#isClosed) return;
    const due = this.#refreshedAt + MIN_REFRESH_INTERVAL_MS - this.#host.now();
    this.#stopRefresh = later(Math.max(DEBOUNCE_MS, due), async () => {
      await this.#lists;
      const client = this.connected;
      const lists = this.#stale;
      this.#stale = new Set();
      if (client && !this.#isClosed) await (this.#lists = this.#readLists(client, lists));
      this.#stopRefresh = undefined;
      if (this.#stale.size > 0) this.#refreshLater();
    });
  }

  /** Reads the lists. Never rejects: calls report what fails. */
  async #readLists(client: McpClient, only?: ReadonlySet<ListName>): Promise<void> {
    const { timeout, now } = this.#host;
    this.#refreshedAt = now();
    try {
      const exchange = { caller: this.caller, timeout };
      const raw = await fetchLists(client, this.info, exchange, this.raw, only);
      const digest = await digestLists(raw);
      this.raw = raw;
      if (digest === this.digest) return void (only && this.#host.onAnnounced(only));
      this.digest = digest;
      await this.#host.onLists(this);
    } catch (error) {
      if (client !== this.connected) return;
      if (findConnectionRequired(error)) await this.#disconnect("connection_required");
      else if (this.raw) this.#setFailed(error);
      // Without lists it offers nothing, so it connects again.
      else this.#onClosed(client, error as Error);
    }
  }
}
