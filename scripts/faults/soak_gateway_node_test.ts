import { suite } from "uvu";
import * as assert from "uvu/assert";
import { soak } from "./soak_gateway.ts";

const test = suite("scripts/faults/soak_gateway");

test("processes that are killed at random leave nothing behind", async () => {
  const result = await soak({ upstreams: 4, kills: 100, duration: 12_000, concurrency: 8 });
  assert.equal([result.leftProcesses, result.leftHandles], [[], []]);
  assert.ok(result.kills > 5 && result.answered > 5, JSON.stringify(result));
});

test.run();
