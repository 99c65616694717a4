import { suite } from "uvu";
import { memoryStore } from "../../store/drivers/memory.ts";
import { both, testAll } from "./test_instances_suite.ts";

const test = suite("two instances of the tool server in one process");

testAll(test, "memory", async () => {
  const store = memoryStore();
  return both([store, store]);
});

test.run();
