/**
 * The upstreams in the store of one server, for its administration.
 *
 * @module
 */
import type { Sealer } from "../../crypto/seal.ts";
import type { Store } from "../../store/store.ts";
import type { McpServer } from "../upstream/configuration/configuration.ts";
import {
  addStoredUpstream,
  listStoredUpstreams,
  removeStoredUpstream,
  type StoredUpstream,
} from "./stored_upstream.ts";

/** Upstreams that administrators add; every instance on the store offers them. */
export interface StoredUpstreams {
  list(): Promise<readonly Omit<StoredUpstream, "sealed">[]>;
  /**
   * @param options.isNew leaves one with this name as it is, and returns `false`
   * @throws {ConfigurationError} naming the problems; commands and private addresses need the option `trustAdministrators`
   */
  add(name: string, server: McpServer, options?: { readonly isNew?: boolean }): Promise<boolean>;
  /** Its users' connections end, too, also those that an interrupted removal left. `false` when there is none. */
  remove(name: string): Promise<boolean>;
}

export interface StoredUpstreamsOptions {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly now: () => number;
  /** Whether administrators may add commands and private addresses. */
  readonly isTrusted: boolean;
  /** Names of the server's own configuration. */
  readonly isConfigured: (name: string) => boolean;
  /** @throws {ConfigurationError} naming why this instance cannot have it, such as a prefix that another one has */
  readonly check: (name: string, server: McpServer) => void;
  /** Brings this instance in step. */
  readonly read: () => Promise<void>;
  /** Ends the connections of users. */
  readonly endConnections: (name: string) => Promise<unknown>;
  /** Revokes the tokens of connections that have ended. */
  readonly revokeEnded: () => Promise<void>;
}

export function createStoredUpstreams(options: StoredUpstreamsOptions): StoredUpstreams {
  const { store, sealer, now, isTrusted, isConfigured, check, read, endConnections, revokeEnded } = options;
  return {
    async list() {
      const all: Omit<StoredUpstream, "sealed">[] = [];
      for await (const { stored: { sealed: _, ...shown } } of listStoredUpstreams(store)) all.push(shown);
      return all;
    },
    async add(name, server, { isNew } = {}) {
      if (isConfigured(name)) {
        if (isNew) return false;
        throw new TypeError(`The server's own configuration has an upstream named "${name}"`);
      }
      check(name, server);
      const stored = await addStoredUpstream(store, sealer, name, server, { isTrusted, isNew, now });
      await read();
      return stored !== undefined;
    },
    async remove(name) {
      // Those of the configuration's upstream of this name stay.
      const end = isConfigured(name) ? undefined : endConnections;
      // First, since after an interruption an administrator removes again only what is still listed.
      await end?.(name);
      const isRemoved = await removeStoredUpstream(store, name);
      await read();
      // Those that users made meanwhile.
      await end?.(name);
      await revokeEnded();
      return isRemoved;
    },
  };
}
