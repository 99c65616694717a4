import { suite } from "uvu";
import * as assert from "uvu/assert";
import { dropStore } from "../../scripts/cluster/cluster.ts";
import { CutProxy } from "../../scripts/faults/cut_proxy.ts";
import { skipBecause } from "../../scripts/test/run_files.ts";
import { type InstanceProcess, startInstance } from "../runtime/test_mcp_instance.ts";
import { temporaryFolder } from "../runtime/test_process.ts";
import { memoryStore } from "../store/memory.ts";
import { redisStore } from "../store/redis.ts";
import { sqliteStore } from "../store/sqlite.ts";
import type { Store } from "../store/store.ts";
import { findEngine } from "../store/test_engines.ts";
import { type Instance, instanceOver } from "./test_instances.ts";
import { eventually, type Pair, type Scenario } from "./test_instances_client.ts";
import { clientsHangUp, killInTheMiddle, storeGoesAway } from "./test_instances_faults.ts";
import { SESSION_SCENARIOS } from "./test_instances_sessions.ts";
import { STREAM_SCENARIOS } from "./test_instances_streams.ts";
import { QUESTION_SCENARIOS, SSE_SCENARIOS, TASK_SCENARIOS } from "./test_instances_tasks.ts";

const test = suite("several instances of the tool server");
const SCENARIOS = [
  ...SESSION_SCENARIOS,
  ...STREAM_SCENARIOS,
  ...TASK_SCENARIOS,
  ...QUESTION_SCENARIOS,
  ...SSE_SCENARIOS,
];
const run = Math.random().toString(36).slice(2, 8);

/** Two instances, and what ends them. */
interface Opened extends Pair {
  close(): Promise<void>;
}

/** Runs every scenario on two instances, which keep nothing of any. */
function testAll(
  engine: string,
  open: () => Promise<Opened>,
  scenarios: readonly Scenario[] = SCENARIOS,
): void {
  let pair: Opened | undefined;
  for (const [name, scenario] of scenarios) {
    test(`${engine}: ${name}`, async () => {
      pair ??= await open();
      await scenario(pair);
      await letGo([pair.a, pair.b]);
    });
  }
  test(`${engine}: nothing keeps an instance alive that was closed`, async () => {
    pair ??= await open();
    await pair.close();
  });
}

/** No stream is open and no call runs: nothing is watched. */
async function letGo(instances: readonly Instance[]): Promise<void> {
  for (const instance of instances) {
    const watchesNothing = async () => (await instance.order({ do: "report" })).watches === 0;
    await eventually(watchesNothing, `${instance.name} lets go of the store`);
    assert.equal((await instance.order({ do: "report" })).faults, []);
  }
}

/** Two in this process, over one store or one each. */
function both(stores: readonly [Store, Store], remove: () => unknown = () => {}): Opened {
  return {
    a: instanceOver(stores[0], "A"),
    b: instanceOver(stores[1], "B"),
    async close() {
      for (const store of new Set(stores)) await store.close();
      await remove();
    },
  };
}

testAll("memory", async () => {
  const store = memoryStore();
  return both([store, store]);
});

testAll("SQLite", async () => {
  const folder = temporaryFolder();
  const store = sqliteStore(`${folder.path}/test.db`);
  return both([store, store], () => folder.remove());
});

// What is known elsewhere a quarter of a second later may be told twice, or not at all: not so what belongs to a call.
testAll("SQLite, each with a connection", async () => {
  const folder = temporaryFolder();
  const open = () => sqliteStore(`${folder.path}/test.db`);
  return both([open(), open()], () => folder.remove());
}, [...TASK_SCENARIOS, ...QUESTION_SCENARIOS, ...SSE_SCENARIOS]);

const redis = await findEngine("redis");
if (redis === undefined) skipBecause(test, "no Redis listens: instances on it are not tested");
else {
  testAll("Redis", async () => {
    const address = `${redis}?name=trivet_test_${run}`;
    return both([redisStore(address), redisStore(address)], () => dropStore(address));
  });
}

const postgres = await findEngine("postgres");
if (postgres === undefined) skipBecause(test, "no PostgreSQL listens: instances on it are not tested");
else {
  const address = `${postgres}?schema=trivet_test_${run}&max=4`;
  const start = (to: string) => Promise.all([startInstance(to, "A"), startInstance(to, "B")]);
  /** They end by themselves, in good order, once they are to let go. */
  const ended = async (instances: readonly InstanceProcess[]): Promise<void> => {
    const codes = await Promise.all(instances.map((each) => each.close()));
    assert.equal(codes, instances.map(() => 0));
    assert.equal(instances.map((each) => each.stderr()), instances.map(() => ""));
  };
  let afterKill: () => Promise<void>;

  test("PostgreSQL: an instance is killed in the middle of everything", async () => {
    const [a, b] = await start(address);
    const check = await killInTheMiddle({ a, b }, () => a.kill());
    afterKill = async () => {
      await check();
      await letGo([b]);
      await ended([b]);
    };
  });

  testAll("PostgreSQL", async () => {
    const [a, b] = await start(address);
    return { a, b, close: () => ended([a, b]) };
  });

  test("PostgreSQL: it is away for a while", async () => {
    const proxy = new CutProxy(Number(new URL(postgres).port));
    await proxy.start();
    const through = new URL(address);
    through.port = String(proxy.port);
    const [a, b] = await start(`${through}&timeout=1`);
    await storeGoesAway({ a, b }, { leave: () => proxy.refuse(), comeBack: () => proxy.pass() });
    await letGo([a, b]);
    await ended([a, b]);
    await proxy.stop();
  });

  test("PostgreSQL: clients that hang up at any moment leave nothing behind", async () => {
    const [a, b] = await start(address);
    await clientsHangUp({ a, b });
    await letGo([a, b]);
    await ended([a, b]);
  });

  test("PostgreSQL: what became of what the killed instance did is known on another", async () => {
    await afterKill();
  });

  test.after(() => dropStore(address));
}

test.run();
