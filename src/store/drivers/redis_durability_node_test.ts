import process from "node:process";
import { createClient } from "redis";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { hasEngine, newEngine } from "../../../scripts/faults/engine.ts";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { redisStore } from "./redis.ts";

const test = suite("what Redis keeps");

if (!hasEngine("redis")) {
  if (process.env.CI === "true") throw new Error("The program of Redis must be there where CI is true");
  skipBecause(test, "no program of Redis is on this machine");
} else {
  test("guarantees tell the server's own setting, and one that keeps nothing is warned of", async () => {
    const engine = await newEngine("redis");
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
