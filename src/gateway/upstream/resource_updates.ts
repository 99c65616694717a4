/**
 * The resource subscriptions of one session of an upstream, for all its callers, and the updates that come of them.
 *
 * @module
 */
import type { ClientExchange, McpClient } from "../../mcp_client/client.ts";
import { later } from "./later.ts";

/** Subscriptions of one session. When there are more, the oldest ends of the user who has most alone: users can share a session. */
const MAX_SUBSCRIPTIONS = 1000;
/** How long a subscription lasts without renewal. */
const RENEWAL_MS = 3_600_000;
/** Updates of one resource within this time are one. */
const COALESCE_MS = 100;

interface Subscription {
  readonly renewed: number;
  /** Who subscribed; of several users two are kept. */
  readonly users: Set<string>;
  /** Whether the upstream did not accept it again, over a new connection. */
  isLost: boolean;
}

export class ResourceUpdates {
  readonly #onUpdate: (uri: string) => void;
  readonly #now: () => number;
  /** By the URI that the upstream has; the one that was renewed longest ago first. */
  readonly #subscribed = new Map<string, Subscription>();
  readonly #updated = new Set<string>();
  #stop: (() => void) | undefined;

  constructor(onUpdate: (uri: string) => void, now: () => number) {
    this.#onUpdate = onUpdate;
    this.#now = now;
  }

  get size(): number {
    return this.#subscribed.size;
  }

  /** @throws {McpError} @throws {ConnectionError} */
  async subscribe(client: McpClient, uri: string, user: string, exchange: ClientExchange): Promise<void> {
    const known = this.#subscribed.get(uri);
    const users = known?.users ?? new Set();
    if (users.size < 2) users.add(user);
    this.#subscribed.delete(uri);
    const subscription: Subscription = { renewed: this.#now(), users, isLost: false };
    this.#subscribed.set(uri, subscription);
    if (known && !known.isLost) return;
    try {
      await client.subscribe(uri, exchange);
    } catch (error) {
      // One that was accepted before is tried again with the next connection or renewal.
      if (known) subscription.isLost = true;
      else this.#subscribed.delete(uri);
      throw error;
    }
    if (this.#subscribed.size <= MAX_SUBSCRIPTIONS) return;
    this.#end(client, this.#findExcess(), exchange);
  }

  /** The oldest subscription of the user who has most, or of those that users share when there are more of them. */
  #findExcess(): string {
    const byUser = Map.groupBy(
      this.#subscribed,
      ([, { users }]) => users.size === 1 ? [...users][0] : undefined,
    );
    const most = [...byUser.values()].reduce((most, each) => each.length > most.length ? each : most);
    return most[0]![0];
  }

  /** Ends the subscriptions that were not renewed. */
  sweep(client: McpClient, exchange: ClientExchange): void {
    const oldest = this.#now() - RENEWAL_MS;
    for (const [uri, { renewed }] of this.#subscribed) if (renewed < oldest) this.#end(client, uri, exchange);
  }

  /** Subscribes again, over a new connection. */
  resume(client: McpClient, exchange: ClientExchange): void {
    for (const uri of this.#subscribed.keys()) {
      client.subscribe(uri, exchange).catch(() => {
        const subscription = this.#subscribed.get(uri);
        if (subscription) subscription.isLost = true;
      });
    }
  }

  /** An update that the upstream sent; ignored unless someone subscribed to it. */
  updated(uri: unknown): void {
    if (typeof uri !== "string" || !this.#subscribed.has(uri)) return;
    this.#updated.add(uri);
    this.#stop ??= later(COALESCE_MS, () => {
      this.#stop = undefined;
      for (const each of this.#updated) this.#onUpdate(each);
      this.#updated.clear();
    });
  }

  close(): void {
    this.#stop?.();
    this.#subscribed.clear();
  }

  #end(client: McpClient, uri: string, exchange: ClientExchange): void {
    this.#subscribed.delete(uri);
    client.unsubscribe(uri, exchange).catch(() => {});
  }
}
