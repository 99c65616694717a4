/**
 * Keeps the upstreams of a server in step with those in its store, which an administrator changes at any instance.
 *
 * @module
 */
import type { Sealer } from "../../crypto/seal.ts";
import { type Store, StoreUnavailableError } from "../../store/store.ts";
import { unrefTimer } from "../../timer.ts";
import type { McpServer } from "../upstream/configuration/configuration.ts";
import { listStoredUpstreams, openStoredUpstream, type ReadUpstream } from "./stored_upstream.ts";

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
  /** Uses the one of this name, if there is one: the server's own configuration has none of the name any more. */
  readAgain(name: string): Promise<void>;
  stop(): void;
}

/** How often the store is read, beside when it reports a change. */
const POLL_INTERVAL_MS = 15_000;

/** Adds the upstreams in the store, and follows their changes. */
export function followStoredUpstreams(options: FollowOptions): FollowedUpstreams {
  const { store, sealer, upstreams, endConnections, isConfigured, onProblem } = options;
  /** The version of each record that was read and used, or refused. */
  const seen = new Map<string, string>();
  /** Tried again after each change: that may free what one lacks, such as a prefix. */
  const refused = new Set<string>();
  /** Removed, and the connections of their users may not have ended. */
  const removed = new Set<string>();
  let isStopped = false;

  async function use({ stored, version }: ReadUpstream): Promise<void> {
    const { name } = stored;
    try {
      if (isConfigured(name)) throw new TypeError("The server's own configuration has one of this name");
      upstreams.add(name, await openStoredUpstream(stored, sealer), stored.isTrusted === true);
      refused.delete(name);
    } catch (error) {
      // The next reading tries again.
      if (error instanceof StoreUnavailableError) throw error;
      if (seen.get(name) !== version || !refused.has(name)) onProblem(name, error);
      refused.add(name);
      // The store does not have the one before any more.
      if (!isConfigured(name)) await upstreams.remove(name);
    }
    seen.set(name, version);
  }

  async function readAll(): Promise<void> {
    const found = await Array.fromAsync(listStoredUpstreams(store));
    if (isStopped) return;
    const names = new Set(found.map(({ stored }) => stored.name));
    const isChanged = ({ stored, version }: ReadUpstream) => seen.get(stored.name) !== version;
    const gone = [...seen.keys()].filter((name) => !names.has(name));
    const isAnyChanged = gone.length > 0 || found.some(isChanged);
    for (const name of gone) {
      seen.delete(name);
      refused.delete(name);
      if (isConfigured(name)) continue;
      removed.add(name);
      await upstreams.remove(name);
    }
    // The first one keeps its prefix, whatever the names are.
    const wanted = found.filter((each) => isChanged(each) || isAnyChanged && refused.has(each.stored.name))
      .sort((a, b) => a.stored.added - b.stored.added);
    for (const each of wanted) await use(each);
    // Users could connect here until now, after the removal had ended all connections.
    for (const name of removed) {
      if (!names.has(name) && !isConfigured(name)) await endConnections(name);
      removed.delete(name);
    }
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
    readAgain(name) {
      seen.delete(name);
      return read();
    },
    stop() {
      isStopped = true;
      clearInterval(timer);
      changes.cancel().catch(() => {});
    },
  };
}
