import process from "node:process";
import { createClient } from "redis";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createEngine, hasEngine } from "../../../../scripts/faults/engine.ts";
import { skipBecause } from "../../../../scripts/test/run_files.ts";
import { redisStore } from "../redis.ts";

const test = suite("redis durability");

if (!hasEngine("redis")) {
  if (process.env.CI === "true") throw new Error("redis-server must be installed where CI is true");
  skipBecause(test, "no redis-server is on this machine: durability is not tested");
} else {
  test("guarantees.durable follows the settings of the server, and a server without persistence causes a warning", async () => {
    const engine = await createEngine("redis");
    await engine.start();
    const admin = await createClient({ url: engine.address() }).on("error", () => {}).connect();
    const seen: unknown[] = [];
    for (
      const [appendonly, appendfsync] of [["yes", "always"], ["yes", "everysec"], ["no", "always"]] as const
    ) {
      await admin.configSet({ appendonly, appendfsync });
      const warnings: string[] = [];
      const store = redisStore(engine.address(), { onWarning: (message) => warnings.push(message) });
      assert.is(store.guarantees.durable, "none");
      await store.get(["k"]);
      seen.push([store.guarantees.durable, warnings.length]);
      await store.close();
    }
    assert.equal(seen, [["power", 0], ["process", 0], ["none", 1]]);
    admin.destroy();
    await engine.remove();
  });
}

test.run();
