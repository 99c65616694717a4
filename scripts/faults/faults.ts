/**
 * What goes wrong with an engine and with instances, each as a test that checks the history of clients under it. One
 * list for every engine: `faults_postgres_node_test.ts` and `faults_redis_node_test.ts` run it. Long because it is one
 * list, which each engine is held to whole.
 *
 * @module
 */
import { skipBecause } from "../test/run_files.ts";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { startTrivet, temporaryFolder } from "../../src/end_to_end/test_process.ts";
import { layeredStore } from "../../src/store/drivers/layered.ts";
import type { Store } from "../../src/store/store.ts";
import { createTrivet } from "../../src/trivet.ts";
import { CutProxy } from "./cut_proxy.ts";
import { type Engine, hasEngine, newEngine } from "./engine.ts";
import { Load, type LoadOptions, makeAccount } from "./load.ts";

export interface FaultOptions {
  readonly open: (address: string, now?: () => number) => Store;
  /** What a commit looks like on the wire. */
  readonly isCommit: (sent: string) => boolean;
  /** What makes a store's pool small. */
  readonly smallPool: string;
  /** Takes every connection that the server has; resolves to what gives them back. */
  readonly takeAll: (address: string) => Promise<() => Promise<unknown>>;
}

const ISSUER = "http://127.0.0.1:8787";
/** Revocations wait so long, so that the cache is tested and the tests are not slow. */
const CACHE = 40;

/** Instances in this process on one engine, and what closes them. */
interface Instances {
  readonly stores: readonly Store[];
  readonly send: LoadOptions["send"];
  close(): Promise<void>;
}

export function testFaults(name: Engine["name"], { open, isCommit, smallPool, takeAll }: FaultOptions): void {
  const test = suite(`faults: ${name}`);
  if (!hasEngine(name)) {
    if (process.env.CI === "true") throw new Error(`The programs of ${name} must be there where CI is true`);
    skipBecause(test, `no program of ${name} is on this machine: faults are not tested`);
    return test.run();
  }
  let engine: Engine;
  let proxy: CutProxy;

  test.before(async () => {
    engine = await newEngine(name);
    await engine.start();
    proxy = new CutProxy(engine.port);
    await proxy.start();
  });
  test.after(async () => {
    await proxy.stop();
    await engine.remove();
  });

  const query = (address: string, more: string) => `${address}?timeout=1${more}`;

  function newInstances(
    count: number,
    { port = proxy.port, more = "", skew = [] as readonly number[] } = {},
  ): Instances {
    const made = Array.from({ length: count }, (_, i) => {
      const now = () => Date.now() + (skew[i] ?? 0);
      const store = layeredStore(open(query(engine.address(port), more), now), { lifetime: CACHE });
      return {
        store,
        trivet: createTrivet({ issuer: ISSUER, store, oauth: { passwordIterations: 1000 } }),
      };
    });
    return {
      stores: made.map(({ store }) => store),
      send: (instance, path, init) => made[instance]!.trivet.fetch(new Request(ISSUER + path, init)),
      close: async () => void await Promise.all(made.map(({ store }) => store.close())),
    };
  }

  /** Clients on instances, with something going wrong meanwhile; then every promise is checked. */
  async function underLoad(
    instances: Instances,
    count: number,
    fault: (load: Load) => Promise<void>,
    { clients = 8, rounds = 60 } = {},
  ): Promise<Load> {
    const account = await makeAccount(instances.stores[0]!);
    const over = Promise.withResolvers<void>();
    const load = new Load(
      { send: instances.send, instances: count, rounds, clients, until: over.promise },
      account,
    );
    const running = load.run();
    await fault(load);
    over.resolve();
    await running;
    assert.equal(await load.violations(), []);
    report(load);
    return load;
  }

  function report(load: Load): void {
    console.log(`  ${name}: ${load.history.summary()}; ${load.unavailable} answers of 503`);
  }

  test("three instances, nothing goes wrong: no promise is broken, and nobody gets a 503", async () => {
    const instances = newInstances(3);
    const load = await underLoad(instances, 3, () => pause(1500));
    assert.is(load.unavailable, 0);
    assert.ok(load.history.operations.length > 100);
    await instances.close();
  });

  test("the engine crashes and starts again, three times, under load", async () => {
    const instances = newInstances(2);
    const load = await underLoad(instances, 2, async () => {
      for (let i = 0; i < 3; i++) {
        await pause(500);
        await engine.kill();
        await pause(300);
        await engine.start();
        await pause(900);
      }
    }, { rounds: 500 });
    assert.ok(load.unavailable > 0);
    await instances.close();
  });

  test("connections are cut between a commit and its answer", async () => {
    const instances = newInstances(2);
    const before = proxy.cuts;
    const load = await underLoad(instances, 2, async () => {
      for (let i = 0; i < 25; i++) {
        proxy.cutAnswerTo(isCommit);
        await pause(120);
      }
    }, { rounds: 500 });
    assert.ok(proxy.cuts - before >= 15, `${proxy.cuts - before} cuts`);
    assert.ok(load.unavailable > 0);
    await instances.close();
  });

  test("all connections are cut, again and again", async () => {
    const instances = newInstances(2);
    await underLoad(instances, 2, async () => {
      for (let i = 0; i < 6; i++) {
        await pause(300);
        proxy.refuse();
        await pause(150);
        proxy.pass();
      }
      await pause(600);
    }, { rounds: 500 });
    await instances.close();
  });

  test("the engine answers nobody and every connection is taken: 503 in time, then all is well again", async () => {
    const instances = newInstances(2, { more: smallPool });
    let slowest = 0;
    const measured: Instances = {
      ...instances,
      async send(...all) {
        const started = performance.now();
        return await instances.send(...all).finally(() =>
          slowest = Math.max(slowest, performance.now() - started)
        );
      },
    };
    const load = await underLoad(measured, 2, async () => {
      await pause(400);
      await engine.stall(2500);
      await pause(1500);
    }, { clients: 30, rounds: 500 });
    assert.ok(load.unavailable > 0);
    // A request may ask the store a few times, and is given up the first time that the answer is late.
    assert.ok(slowest < 6000, `the slowest answer took ${slowest} ms`);
    await instances.close();
  });

  test("the engine is down when an instance starts: 503 with Retry-After; it is up: answers, without a restart", async () => {
    await engine.kill();
    const instances = newInstances(1);
    for (let i = 0; i < 3; i++) {
      const refused = await instances.send(0, "/.well-known/jwks.json");
      assert.equal([refused.status, refused.headers.get("retry-after")], [503, "1"]);
    }
    await engine.start();
    let status = 0;
    for (let i = 0; i < 40 && status !== 200; i++) {
      status = (await instances.send(0, "/.well-known/jwks.json")).status;
      await pause(100);
    }
    assert.is(status, 200);
    await instances.close();
  });

  test("the server takes no more connections: 503 for an instance that has none; it takes them again: answers", async () => {
    const giveBack = await takeAll(engine.address());
    const instances = newInstances(1);
    const refused = await instances.send(0, "/.well-known/jwks.json");
    assert.equal([refused.status, refused.headers.get("retry-after")], [503, "1"]);
    await giveBack();
    let status = 0;
    for (let i = 0; i < 40 && status !== 200; i++) {
      status = (await instances.send(0, "/.well-known/jwks.json")).status;
      await pause(100);
    }
    assert.is(status, 200);
    await instances.close();
  });

  test("the clocks of three instances are 5 minutes apart: they go by the engine's, and no promise is broken", async () => {
    const instances = newInstances(3, { skew: [0, -300_000, 300_000] });
    await underLoad(instances, 3, () => pause(2000));
    await instances.close();
  });

  test("an instance is killed under load, twice; the others and its successor keep every promise", async () => {
    const address = query(engine.address(), "");
    const store = layeredStore(open(address), { lifetime: CACHE });
    const folder = temporaryFolder();
    const start = () =>
      startTrivet([
        "--store",
        address,
        "--no-demo",
        "--issuer",
        ISSUER,
        "--cache",
        String(CACHE),
        "--data",
        folder.path,
      ]);
    const running = await Promise.all([start(), start()]);
    const instances: Instances = {
      stores: [store],
      send: (instance, path, init) => fetch(running[instance]!.facts.url + path, init),
      close: async () => {
        await Promise.all(running.map((each) => each.stop()));
        await store.close();
        folder.remove();
      },
    };
    await underLoad(instances, 2, async () => {
      for (let i = 0; i < 2; i++) {
        await pause(800);
        await running[i]!.stop("SIGKILL");
        await pause(300);
        running[i] = await start();
      }
      await pause(500);
    }, { rounds: 500 });
    await instances.close();
  });

  test.run();
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
