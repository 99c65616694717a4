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
import { disconnectClients, interruptStore, killDuringCalls } from "./test_instances_faults.ts";
import { createPair, testAll, waitUntilReleased } from "./test_instances_suite.ts";
import { QUESTION_SCENARIOS, SSE_SCENARIOS, TASK_SCENARIOS } from "./test_instances_tasks.ts";

const test = suite("mcp/instances in processes");
const run = Math.random().toString(36).slice(2, 8);

testAll(test, "SQLite", async () => {
  const folder = temporaryFolder();
  const store = sqliteStore(`${folder.path}/test.db`);
  return createPair([store, store], () => folder.remove());
});

// Two connections see each other's commits with a delay, so changes may be repeated or lost; calls are not affected.
testAll(test, "SQLite with two connections", async () => {
  const folder = temporaryFolder();
  const open = () => sqliteStore(`${folder.path}/test.db`);
  return createPair([open(), open()], () => folder.remove());
}, [...TASK_SCENARIOS, ...QUESTION_SCENARIOS, ...SSE_SCENARIOS]);

const redis = await findEngine("redis");
if (redis === undefined) skipBecause(test, "no Redis listens: instances on it are not tested");
else {
  testAll(test, "Redis", async () => {
    const address = `${redis}?name=trivet_test_${run}`;
    return createPair([redisStore(address), redisStore(address)], () => dropStore(address));
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

  test("PostgreSQL: calls run when their instance is killed", async () => {
    const [a, b] = await start(address);
    const check = await killDuringCalls({ a, b }, () => a.kill());
    afterKill = async () => {
      await check();
      await waitUntilReleased([b]);
      await ended([b]);
    };
  });

  testAll(test, "PostgreSQL", async () => {
    const [a, b] = await start(address);
    return { a, b, close: () => ended([a, b]) };
  });

  test("PostgreSQL: calls and streams continue after an outage", async () => {
    const proxy = new CutProxy(Number(new URL(postgres).port));
    await proxy.start();
    const through = new URL(address);
    through.port = String(proxy.port);
    const [a, b] = await start(`${through}&timeout=1`);
    await interruptStore({ a, b }, { stop: () => proxy.refuse(), restart: () => proxy.pass() });
    await waitUntilReleased([a, b]);
    await ended([a, b]);
    await proxy.stop();
  });

  test("PostgreSQL: disconnected clients leave no watch open", async () => {
    const [a, b] = await start(address);
    await disconnectClients({ a, b });
    await waitUntilReleased([a, b]);
    await ended([a, b]);
  });

  test("PostgreSQL: another instance reports the outcome of the killed instance's calls", async () => {
    await afterKill();
  });

  test.after(() => dropStore(address));
}

test.run();
