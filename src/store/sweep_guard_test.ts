import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "./drivers/memory.ts";
import { SweepGuard, WAIT_AFTER_JUMP_MS } from "./sweep_guard.ts";

const test = suite("store/sweep_guard");

function newClocks() {
  const at = { now: Date.UTC(2026, 0, 1), monotonic: 1000 };
  const pass = (milliseconds: number) => {
    at.now += milliseconds;
    at.monotonic += milliseconds;
  };
  return { at, pass, clocks: { now: () => at.now, monotonic: () => at.monotonic } };
}

test("elapsed time is not a jump, however long it is", () => {
  const { pass, clocks } = newClocks();
  const guard = new SweepGuard(clocks);
  for (const milliseconds of [0, 1, 60_000, 30 * 86_400_000]) {
    pass(milliseconds);
    assert.ok(guard.maySweep());
  }
});

test("after a jump, and after its correction, nothing is swept for an hour", () => {
  for (const jump of [3 * 3600_000, -3 * 3600_000, 6000]) {
    const { at, pass, clocks } = newClocks();
    const guard = new SweepGuard(clocks);
    assert.ok(guard.maySweep());
    at.now += jump;
    assert.not.ok(guard.maySweep());
    pass(60_000);
    assert.not.ok(guard.maySweep());
    at.now -= jump;
    assert.not.ok(guard.maySweep());
    pass(WAIT_AFTER_JUMP_MS - 1);
    assert.not.ok(guard.maySweep());
    pass(1);
    assert.ok(guard.maySweep());
  }
});

test("a clock jump during a sweep removes no record of the memory store, which is readable after the correction", async () => {
  const { at, pass, clocks } = newClocks();
  const store = memoryStore(clocks);
  await store.commit({ set: [{ key: ["session", 1], value: 1, expires: at.now + 7_200_000 }] });
  at.now += 3 * 3600_000;
  assert.is(await store.get(["session", 1]), undefined);
  // A commit sweeps too.
  await store.commit({ set: [{ key: ["other"], value: 1 }] });
  assert.is(await store.sweep(), 0);
  at.now -= 3 * 3600_000;
  assert.is((await store.get(["session", 1]))?.value, 1);
  assert.is(await store.sweep(), 0);
  pass(7_200_000 + 60_000);
  assert.is(await store.sweep(), 1);
});

test.run();
