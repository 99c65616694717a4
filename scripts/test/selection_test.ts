import { suite } from "uvu";
import * as assert from "uvu/assert";
import { findNodeOnlyReason, isSelected, runsAlone } from "./selection.ts";

const test = suite("scripts/test/selection");

test("files that measure time or memory run alone, others do not", () => {
  for (
    const file of [
      "scripts/fuzz/heavy_budget_test.ts",
      "scripts/faults/faults_redis_node_test.ts",
      "src/store/drivers/redis_node_test.ts",
      "src/http/work_slice_test.ts",
      "src/mcp/http/listen_memory_node_test.ts",
      "src/oauth/request_budget_test.ts",
      "src/skills/loop_hold_test.ts",
    ]
  ) {
    assert.ok(runsAlone(file), file);
  }
  for (
    const file of [
      "conformance/targets/trivet_memory_node_test.ts",
      "src/oauth/consent/consent_memory_test.ts",
      "scripts/fuzz/fuzz_test.ts",
      "src/skills/api/upload_fuzz_test.ts",
      "src/skills/messages/messages_fuzz_test.ts",
      "src/store/drivers/memory_test.ts",
    ]
  ) {
    assert.not(runsAlone(file), file);
  }
});

test("process tests run in the short part only on Node and only up to 4 seconds", () => {
  const times = { "src/b_node_test.ts": 5 };
  assert.ok(isSelected("src/a_test.ts", "workerd", "short", times));
  assert.ok(isSelected("src/a_node_test.ts", "node", "short", times));
  assert.not(isSelected("src/a_node_test.ts", "deno", "short", times));
  assert.not(isSelected("src/a_node_test.ts", "workerd", "all", times));
  assert.not(isSelected("src/b_node_test.ts", "node", "short", times));
  assert.ok(isSelected("src/b_node_test.ts", "node", "rest", times));
});

test("a portable test that takes over a second, or runs alone, is short on Node only, and runs on all runtimes", () => {
  const budget = "src/oauth/request_budget_test.ts";
  for (const file of ["src/slow_test.ts", budget]) {
    for (const runtime of ["node", "deno", "bun", "workerd"] as const) {
      const part = runtime === "node" ? "short" : "rest";
      const other = runtime === "node" ? "rest" : "short";
      assert.ok(isSelected(file, runtime, part, { "src/slow_test.ts": 2 }), `${runtime} ${file}`);
      assert.not(isSelected(file, runtime, other, { "src/slow_test.ts": 2 }), `${runtime} ${file}`);
      assert.ok(isSelected(file, runtime, "all", { "src/slow_test.ts": 2 }), `${runtime} ${file}`);
    }
  }
});

test("a process test whose subject is the same on every runtime runs on Node only, with a reason", () => {
  const browser = "src/end_to_end/oauth/browser_node_test.ts";
  assert.ok(isSelected(browser, "node", "rest", {}));
  for (const runtime of ["deno", "bun"] as const) {
    assert.not(isSelected(browser, runtime, "rest", {}));
    assert.not(isSelected(browser, runtime, "all", {}));
  }
  assert.type(findNodeOnlyReason(browser), "string");
  for (
    const file of [
      "scripts/faults/faults_redis_node_test.ts",
      "src/end_to_end/cli/cli_node_test.ts",
      "src/end_to_end/oauth/clients_node_test.ts",
      "src/end_to_end/serving/serve_node_test.ts",
      "src/store/drivers/postgres_node_test.ts",
      "src/store/drivers/sqlite_node_test.ts",
    ]
  ) {
    assert.is(findNodeOnlyReason(file), undefined, file);
    assert.ok(isSelected(file, "bun", "rest", {}), file);
  }
});

test.run();
