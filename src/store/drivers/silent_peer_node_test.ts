import { suite } from "uvu";
import * as assert from "uvu/assert";
import { dropStore } from "../../../scripts/cluster/cluster.ts";
import { CutProxy } from "../../../scripts/faults/cut_proxy.ts";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { type Store, StoreUnavailableError } from "../store.ts";
import { findEngine } from "../test_engines.ts";
import { postgresStore } from "./postgres.ts";
import { redisStore } from "./redis.ts";

const test = suite("store/silent_peer");
const DRIVERS = {
  postgres: { open: postgresStore, space: "schema", port: 5432 },
  redis: { open: redisStore, space: "name", port: 6379 },
} as const;
const run = Math.random().toString(36).slice(2, 8);
/** Every so often a PostgreSQL store looks whether its listening connection answers. */
const RENEWAL_MS = 20_000;

for (const [name, { open, space, port }] of Object.entries(DRIVERS)) {
  const address = await findEngine(name as keyof typeof DRIVERS);
  if (address === undefined) {
    skipBecause(test, `no ${name} listens: connections whose peer vanished are not tested`);
    continue;
  }
  const direct = `${address}?${space}=trivet_test_silent_${run}`;

  /** Runs with a store that connects through a proxy. */
  const throughProxy = async (
    more: string,
    work: (store: Store, proxy: CutProxy) => Promise<void>,
  ): Promise<void> => {
    const proxy = new CutProxy(Number(new URL(address).port || port));
    await proxy.start();
    const url = new URL(direct);
    url.host = `127.0.0.1:${proxy.port}`;
    const store = open(`${url}&timeout=0.5${more}`);
    try {
      await work(store, proxy);
    } finally {
      await store.close();
      await proxy.stop();
      await dropStore(direct);
    }
  };

  for (const kind of ["get", "commit"] as const) {
    test(`${name}: after one ${kind} on a connection whose peer vanished, the next call has a new one`, async () => {
      await throughProxy(name === "postgres" ? "&max=1" : "", async (store, proxy) => {
        const call = () =>
          kind === "get" ? store.get(["k"]) : store.commit({ set: [{ key: ["k"], value: 1 }] });
        await call();
        for (let round = 0; round < 2; round++) {
          proxy.silence();
          const error = await call().then(() => undefined, (error) => error);
          assert.instance(error, StoreUnavailableError);
          await call();
        }
      });
    });
  }

  test(`${name}: a watcher whose connection has no peer any more listens again, and is notified with its prefix`, async () => {
    const { setInterval } = globalThis;
    const often = (work: () => void, ms?: number) => setInterval(work, ms === RENEWAL_MS ? 300 : ms);
    globalThis.setInterval = often as typeof setInterval;
    try {
      await throughProxy("", async (store, proxy) => {
        const other = open(direct);
        const reader = store.watch(["w"]).getReader();
        await store.get(["w"]);
        proxy.silence();
        const alive = setTimeout(() => reader.cancel(), 30_000);
        let keys = (await reader.read()).value;
        assert.equal(keys, [["w"]]);
        await other.commit({ set: [{ key: ["w", 1], value: 1 }] });
        while (keys?.[0]?.length === 1) keys = (await reader.read()).value;
        clearTimeout(alive);
        assert.equal(keys, [["w", 1]]);
        await other.close();
      });
    } finally {
      globalThis.setInterval = setInterval;
    }
  });
}

test.run();
