/**
 * Tests faults of an engine and of instances: each test checks the history of concurrent clients during a fault.
 * `faults_postgres_node_test.ts` and `faults_redis_node_test.ts` run all of them. Long because every engine runs the same
 * list.
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
import { createEngine, type Engine, hasEngine } from "./engine.ts";
import { createAccount, Load, type LoadOptions } from "./load.ts";

export interface FaultOptions {
  readonly open: (address: string, now?: () => number) => Store;
  /** Whether bytes that a client sends are a commit. */
  readonly isCommit: (sent: string) => boolean;
  /** Query parameters of a store with few connections. */
  readonly smallPoolQuery: string;
  /** Opens every connection that the server allows; resolves to a function that closes them. */
  readonly exhaustConnections: (address: string) => Promise<() => Promise<unknown>>;
}

const ISSUER = "http://127.0.0.1:8787";
/** Lifetime of cache entries, for which a revocation waits: short, to keep the tests fast. */
const CACHE_MS = 40;

/** Instances in this process on one engine. */
interface Instances {
  readonly stores: readonly Store[];
  readonly send: LoadOptions["send"];
  close(): Promise<void>;
}

export function testFaults(
  name: Engine["name"],
  { open, isCommit, smallPoolQuery, exhaustConnections }: FaultOptions,
): void {
  const test = suite(`faults: ${name}`);
  if (!hasEngine(name)) {
    if (process.env.CI === "true") throw new Error(`CI requires the programs of ${name}`);
    skipBecause(test, `the programs of ${name} are not installed`);
    return test.run();
  }
  let engine: Engine;
  let proxy: CutProxy;

  test.before(async () => {
    engine = await createEngine(name);
    await engine.start();
    proxy = new CutProxy(engine.port);
    await proxy.start();
  });
  test.after(async () => {
    await proxy.stop();
    await engine.remove();
  });

  const query = (address: string, more: string) => `${address}?timeout=1${more}`;

  function createInstances(
    count: number,
    { port = proxy.port, more = "", skew = [] as readonly number[] } = {},
  ): Instances {
    const created = Array.from({ length: count }, (_, i) => {
      const now = () => Date.now() + (skew[i] ?? 0);
      const store = layeredStore(open(query(engine.address(port), more), now), { lifetime: CACHE_MS });
      return {
        store,
        trivet: createTrivet({ issuer: ISSUER, store, oauth: { passwordIterations: 1000 } }),
      };
    });
    return {
      stores: created.map(({ store }) => store),
      send: (instance, path, init) => created[instance]!.trivet.fetch(new Request(ISSUER + path, init)),
      close: async () => void await Promise.all(created.map(({ store }) => store.close())),
    };
  }

  /** Runs clients during a fault, and checks that their history has no violation. */
  async function runDuring(
    instances: Instances,
    count: number,
    fault: (load: Load) => Promise<void>,
    { clients = 8, rounds = 60 } = {},
  ): Promise<Load> {
    // After a start the engine refuses sessions until it has recovered, which takes long on a busy machine.
    for (let i = 0; i < 600 && !await engine.isReady(); i++) await pause(50);
    const account = await createAccount(instances.stores[0]!);
    const over = Promise.withResolvers<void>();
    const load = new Load(
      { send: instances.send, instances: count, rounds, clients, until: over.promise },
      account,
    );
    const running = load.run();
    await fault(load);
    over.resolve();
    await running;
    assert.equal(await load.findViolations(), []);
    report(load);
    return load;
  }

  function report(load: Load): void {
    console.log(`  ${name}: ${load.history.summary()}; ${load.unavailable} responses with 503`);
  }

  test("three instances without a fault: no violation and no 503", async () => {
    const instances = createInstances(3);
    const load = await runDuring(instances, 3, () => pause(1500));
    assert.is(load.unavailable, 0);
    assert.ok(load.history.operations.length > 100);
    await instances.close();
  });

  test("the engine crashes and restarts three times under load", async () => {
    const instances = createInstances(2);
    const load = await runDuring(instances, 2, async () => {
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

  test("connections are closed between a commit and its response", async () => {
    const instances = createInstances(2);
    const before = proxy.cuts;
    const load = await runDuring(instances, 2, async () => {
      for (let i = 0; i < 25; i++) {
        proxy.cutResponseTo(isCommit);
        await pause(120);
      }
    }, { rounds: 500 });
    assert.ok(proxy.cuts - before >= 15, `${proxy.cuts - before} cuts`);
    assert.ok(load.unavailable > 0);
    await instances.close();
  });

  test("all connections are closed repeatedly", async () => {
    const instances = createInstances(2);
    await runDuring(instances, 2, async () => {
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

  test("the engine does not respond and all connections are in use: 503 in time, then success", async () => {
    const instances = createInstances(2, { more: smallPoolQuery });
    let slowest = 0;
    const measured: Instances = {
      ...instances,
      async send(...request) {
        const started = performance.now();
        return await instances.send(...request).finally(() =>
          slowest = Math.max(slowest, performance.now() - started)
        );
      },
    };
    const load = await runDuring(measured, 2, async () => {
      await pause(400);
      await engine.stall(2500);
      await pause(1500);
    }, { clients: 30, rounds: 500 });
    assert.ok(load.unavailable > 0);
    // A request may call the store a few times, and fails at the first timeout.
    assert.ok(slowest < 6000, `the slowest response took ${slowest} ms`);
    await instances.close();
  });

  test("an instance that starts while the engine is down: 503 with Retry-After, then success without a restart", async () => {
    await engine.kill();
    const instances = createInstances(1);
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

  test("an instance that cannot connect, because the server has no free connections: 503, then success", async () => {
    const releaseConnections = await exhaustConnections(engine.address());
    const instances = createInstances(1);
    const refused = await instances.send(0, "/.well-known/jwks.json");
    assert.equal([refused.status, refused.headers.get("retry-after")], [503, "1"]);
    await releaseConnections();
    let status = 0;
    for (let i = 0; i < 40 && status !== 200; i++) {
      status = (await instances.send(0, "/.well-known/jwks.json")).status;
      await pause(100);
    }
    assert.is(status, 200);
    await instances.close();
  });

  test("the clocks of three instances differ by 5 minutes: instances use the engine's clock, and no violation", async () => {
    const instances = createInstances(3, { skew: [0, -300_000, 300_000] });
    await runDuring(instances, 3, () => pause(2000));
    await instances.close();
  });

  test("an instance is killed and replaced twice under load: no violation", async () => {
    const address = query(engine.address(), "");
    const store = layeredStore(open(address), { lifetime: CACHE_MS });
    const folder = temporaryFolder();
    const start = () =>
      startTrivet([
        "--store",
        address,
        "--no-demo",
        "--issuer",
        ISSUER,
        "--cache",
        String(CACHE_MS),
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
    await runDuring(instances, 2, async () => {
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
