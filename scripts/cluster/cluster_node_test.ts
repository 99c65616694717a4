import { skipBecause } from "../test/run_files.ts";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { findEngine } from "../../src/store/test_engines.ts";
import { createAccount } from "../faults/load.ts";
import { dropStore, openStore, startCluster } from "./cluster.ts";
import { runFlows } from "./flows.ts";

const test = suite("several instances behind a balancer");
const name = `trivet_test_cluster_${Math.random().toString(36).slice(2, 8)}`;

const ENGINES = [["postgres", `?schema=${name}&max=4`], ["redis", `?name=${name}`]] as const;

for (const [engine, query] of ENGINES) {
  const address = await findEngine(engine);
  if (address === undefined) {
    skipBecause(test, `${engine} is not available`);
    continue;
  }
  test(`${engine}: every flow works when each request goes to another of three instances`, async () => {
    const store = openStore(address + query);
    const cluster = await startCluster(address + query, 3);
    try {
      const steps = await runFlows(cluster.url, await createAccount(store));
      assert.equal(steps.filter(({ problem }) => problem !== undefined), []);
      assert.ok(steps.length >= 35, `${steps.length} steps`);
      const instances = steps.map(({ instance }) => instance);
      assert.equal(new Set(instances), new Set(["0", "1", "2"]));
      assert.ok(
        instances.every((instance, i) => i === 0 || instance !== instances[i - 1]),
        instances.join(""),
      );
      assert.equal(
        cluster.instances.map((each) => each.problems().replace(/trivet: warning: Redis.*\n/, "")),
        [
          "",
          "",
          "",
        ],
      );
    } finally {
      await store.close();
      await cluster.stop();
      await dropStore(address + query);
    }
  });
}

test.run();
