import { suite } from "uvu";
import * as assert from "uvu/assert";
import { MAX_LOOP_HOLD_MS } from "../../src/http/test_loop_watchdog.ts";
import { findExcess } from "./budgets.ts";
import { fuzzHeavy } from "./heavy.ts";

const test = suite("budgets of large requests");

for (const kind of ["oauth", "mcp", "skills"]) {
  test(`large requests (${kind}) keep to the budgets of time, bytes and store calls`, async () => {
    const { problems, answers } = await fuzzHeavy(kind, kind === "skills" ? 12 : 40, 1);
    assert.equal(problems, []);
    assert.ok(answers.size > 2);
  });
}

test("a request that exceeds its budget is found", () => {
  const cost = { storeCalls: 1, storedBytes: 100, loopMs: MAX_LOOP_HOLD_MS };
  const request = { endpoint: "/oauth/par", bytes: 10 };
  assert.is(findExcess(request, cost), undefined);
  for (
    const excess of [{ storeCalls: 2000 }, { storedBytes: 1_000_000 }, { loopMs: 100 * MAX_LOOP_HOLD_MS }]
  ) {
    assert.ok(findExcess(request, { ...cost, ...excess }), JSON.stringify(excess));
  }
});

test.run();
