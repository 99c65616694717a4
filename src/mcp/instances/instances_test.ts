import { suite } from "uvu";
import { memoryStore } from "../../store/drivers/memory.ts";
import { createPair, testAll } from "./test_instances_suite.ts";

const test = suite("mcp/instances");

testAll(test, "memory", async () => {
  const store = memoryStore();
  return createPair([store, store]);
});

test.run();
