/**
 * Finds the engines for tests at the addresses in `TRIVET_TEST_POSTGRES` and `TRIVET_TEST_REDIS`, or else at their default
 * ports on this machine, and cleans up after tests. Only tests import this.
 *
 * @module
 */
import { connect } from "node:net";
import process from "node:process";
import type { Store } from "./store.ts";

type Engine = "postgres" | "redis";

const ADDRESSES: Readonly<Record<Engine, string>> = {
  postgres: process.env.TRIVET_TEST_POSTGRES ?? "postgres://postgres@127.0.0.1:5432/test",
  redis: process.env.TRIVET_TEST_REDIS ?? "redis://127.0.0.1:6379/15",
};

/**
 * The engine's address; `undefined` when it does not listen, so that tests can report that they are skipped.
 * @throws {Error} when it does not listen and `CI` is `true`
 */
export async function findEngine(name: Engine): Promise<string | undefined> {
  const { hostname, port } = new URL(ADDRESSES[name]);
  const listens = await new Promise<boolean>((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.setTimeout(2000, () => socket.destroy());
    socket.once("connect", () => {
      resolve(true);
      socket.destroy();
    });
    socket.once("error", () => resolve(false));
    socket.once("close", () => resolve(false));
  });
  if (!listens && process.env.CI === "true") throw new Error(`${name} must run where CI is true`);
  return listens ? ADDRESSES[name] : undefined;
}

/** The store, with a cleanup that runs after it is closed. */
export function closingWith(store: Store, cleanUp: () => Promise<unknown>): Store {
  return {
    get guarantees() {
      return store.guarantees;
    },
    ...(store.now && { now: () => store.now!() }),
    get: (key, options) => store.get(key, options),
    list: (prefix, options) => store.list(prefix, options),
    commit: (commit) => store.commit(commit),
    watch: (prefix) => store.watch(prefix),
    sweep: () => store.sweep(),
    async close() {
      await store.close();
      await cleanUp();
    },
  };
}
