/**
 * Keeps the upstreams of a server in step with those in its store, which an administrator changes at any instance.
 *
 * @module
 */
import type { Sealer } from "../../crypto/seal.ts";
import type { Store } from "../../store/store.ts";
import { unrefTimer } from "../../timer.ts";
import type { McpServer } from "../upstream/configuration/configuration.ts";
import { listStoredUpstreams, openStoredUpstream, type StoredUpstream } from "./stored_upstream.ts";

export interface FollowOptions {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly upstreams: {
    /** @param isTrusted whether it may be at a private address */
    add(name: string, server: McpServer, isTrusted: boolean): void;
    remove(name: string): Promise<unknown>;
  };
  /** Ends the connections of users to an upstream that was removed from the store. */
  readonly endConnections: (name: string) => Promise<unknown>;
  /** Names of the server's own configuration, which those in the store do not replace. */
  readonly isConfigured: (name: string) => boolean;
  /** Called with the name of an upstream that cannot be used, and why. */
  readonly onProblem: (name: string, error: unknown) => void;
}

export interface FollowedUpstreams {
  /** Resolves when the upstreams that were in the store at the start are there. Never rejects. */
  readonly ready: Promise<void>;
  /** Reads the store now. */
  read(): Promise<void>;
  stop(): void;
}

/** How often the store is read, beside when it reports a change. */
const POLL_INTERVAL_MS = 15_000;

/** Adds the upstreams in the store, and follows their changes. */
export function followStoredUpstreams(options: FollowOptions): FollowedUpstreams {
  const { store, sealer, upstreams, endConnections, isConfigured, onProblem } = options;
  /** The version of each record that was read. */
  let seen = new Map<string, string>();
  let isStopped = false;

  async function use(stored: StoredUpstream): Promise<void> {
    try {
      if (isConfigured(stored.name)) {
        throw new TypeError("The server's own configuration has one of this name");
      }
      upstreams.add(stored.name, await openStoredUpstream(stored, sealer), stored.isTrusted === true);
    } catch (error) {
      onProblem(stored.name, error);
      // The store does not have the one before any more.
      if (!isConfigured(stored.name)) await upstreams.remove(stored.name);
    }
  }

  async function readAll(): Promise<void> {
    const found = new Map<string, string>();
    const changed: StoredUpstream[] = [];
    for await (const { stored, version } of listStoredUpstreams(store)) {
      found.set(stored.name, version);
      if (seen.get(stored.name) !== version) changed.push(stored);
    }
    if (isStopped) return;
    const removed = [...seen.keys()].filter((name) => !found.has(name) && !isConfigured(name));
    seen = found;
    await Promise.all(removed.map((name) => upstreams.remove(name)));
    for (const stored of changed) await use(stored);
    // Users could connect here until now, after the removal had ended all connections.
    for (const name of removed) await endConnections(name);
  }

  // One at a time, so that a slow read cannot bring back what a later one removed.
  let reading: Promise<void> = Promise.resolve();
  // While the store is unavailable nothing changes.
  const read = (): Promise<void> => reading = reading.then(readAll).catch(() => {});
  const ready = read();
  const timer = setInterval(read, POLL_INTERVAL_MS);
  unrefTimer(timer);
  const changes = store.watch(["upstream"]).getReader();
  void (async () => {
    while (!(await changes.read()).done) await read();
  })().catch(() => {});
  return {
    ready,
    read,
    stop() {
      isStopped = true;
      clearInterval(timer);
      changes.cancel().catch(() => {});
    },
  };
}
