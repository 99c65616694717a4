/**
 * Which engines are there to test with, and how tests leave them as they were: at the addresses in `TRIVET_TEST_POSTGRES` and `TRIVET_TEST_REDIS`, else where
 * they usually listen on this machine. Nothing but tests imports this.
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
 * The engine's address; `undefined` where nothing listens there, so that tests can skip by name.
 * @throws {Error} where `CI` is `true`: there every engine must run
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

/** The store, and what is to be done once it is closed. */
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
