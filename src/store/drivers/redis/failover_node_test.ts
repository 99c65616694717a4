import process from "node:process";
import { createClient } from "redis";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CutProxy } from "../../../../scripts/faults/cut_proxy.ts";
import { createEngine, hasEngine } from "../../../../scripts/faults/engine.ts";
import { skipBecause } from "../../../../scripts/test/run_files.ts";
import { StoreUnavailableError } from "../../store.ts";
import { redisStore } from "../redis.ts";

const test = suite("redis failover");

if (!hasEngine("redis")) {
  if (process.env.CI === "true") throw new Error("redis-server must be installed where CI is true");
  skipBecause(test, "no redis-server is on this machine: failover is not tested");
} else {
  test("after a failover that closes no connection, an instance connects to the new primary", async () => {
    const [before, after] = [await createEngine("redis"), await createEngine("redis")];
    await Promise.all([before.start(), after.start()]);
    const proxy = new CutProxy(before.port);
    await proxy.start();
    const store = redisStore(before.address(proxy.port));
    const demoted = await createClient({ url: before.address() }).on("error", () => {}).connect();
    try {
      const commit = () =>
        store.commit({ set: [{ key: ["k"], value: 1 }] }).catch((error) => {
          assert.instance(error, StoreUnavailableError);
          return false;
        });
      assert.is(await commit(), true);
      await demoted.sendCommand(["REPLICAOF", "127.0.0.1", String(after.port)]);
      proxy.target = after.port;
      assert.is(await commit(), false);
      let isDone = false;
      for (let tries = 0; !isDone && tries < 30; tries++) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        isDone = await commit();
      }
      assert.is(isDone, true);
      assert.is((await store.get(["k"]))?.value, 1);
    } finally {
      await store.close();
      demoted.destroy();
      await proxy.stop();
      await Promise.all([before.remove(), after.remove()]);
    }
  });
}

test.run();
