import { suite } from "uvu";
import * as assert from "uvu/assert";
import { dropStore } from "../../../scripts/cluster/cluster.ts";
import { CutProxy } from "../../../scripts/faults/cut_proxy.ts";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { type InstanceProcess, startInstance } from "../../end_to_end/mcp/test_mcp_instance.ts";
import { temporaryFolder } from "../../end_to_end/test_process.ts";
import { redisStore } from "../../store/drivers/redis.ts";
import { sqliteStore } from "../../store/drivers/sqlite.ts";
import { findEngine } from "../../store/test_engines.ts";
import { clientsHangUp, killInTheMiddle, storeGoesAway } from "./test_instances_faults.ts";
import { both, letGo, testAll } from "./test_instances_suite.ts";
import { QUESTION_SCENARIOS, SSE_SCENARIOS, TASK_SCENARIOS } from "./test_instances_tasks.ts";

const test = suite("several instances of the tool server");
const run = Math.random().toString(36).slice(2, 8);

testAll(test, "SQLite", async () => {
  const folder = temporaryFolder();
  const store = sqliteStore(`${folder.path}/test.db`);
  return both([store, store], () => folder.remove());
});

// Two connections see each other's commits with a delay, so changes may come twice or not at all; calls are not affected.
testAll(test, "SQLite, each with a connection", async () => {
  const folder = temporaryFolder();
  const open = () => sqliteStore(`${folder.path}/test.db`);
  return both([open(), open()], () => folder.remove());
}, [...TASK_SCENARIOS, ...QUESTION_SCENARIOS, ...SSE_SCENARIOS]);

const redis = await findEngine("redis");
if (redis === undefined) skipBecause(test, "no Redis listens: instances on it are not tested");
else {
  testAll(test, "Redis", async () => {
    const address = `${redis}?name=trivet_test_${run}`;
    return both([redisStore(address), redisStore(address)], () => dropStore(address));
  });
}

const postgres = await findEngine("postgres");
if (postgres === undefined) skipBecause(test, "no PostgreSQL listens: instances on it are not tested");
else {
  const address = `${postgres}?schema=trivet_test_${run}&max=4`;
  const start = (to: string) => Promise.all([startInstance(to, "A"), startInstance(to, "B")]);
  /** Checks that the processes end by themselves, without errors. */
  const ended = async (instances: readonly InstanceProcess[]): Promise<void> => {
    const codes = await Promise.all(instances.map((each) => each.close()));
    assert.equal(codes, instances.map(() => 0));
    assert.equal(instances.map((each) => each.stderr()), instances.map(() => ""));
  };
  let afterKill: () => Promise<void>;

  test("PostgreSQL: an instance is killed during calls", async () => {
    const [a, b] = await start(address);
    const check = await killInTheMiddle({ a, b }, () => a.kill());
    afterKill = async () => {
      await check();
      await letGo([b]);
      await ended([b]);
    };
  });

  testAll(test, "PostgreSQL", async () => {
    const [a, b] = await start(address);
    return { a, b, close: () => ended([a, b]) };
  });

  test("PostgreSQL: it is unavailable for a while", async () => {
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

  test("PostgreSQL: clients that disconnect at any moment leave nothing open", async () => {
    const [a, b] = await start(address);
    await clientsHangUp({ a, b });
    await letGo([a, b]);
    await ended([a, b]);
  });

  test("PostgreSQL: another instance reports the outcome of the calls of the killed one", async () => {
    await afterKill();
  });

  test.after(() => dropStore(address));
}

test.run();
