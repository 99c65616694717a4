import { suite } from "uvu";
import * as assert from "uvu/assert";
import { EngineClock } from "./engine_clock.ts";

const test = suite("store/engine_clock");

/** Settable clocks: the engine's, the local one, and the monotonic one. */
function newClocks(skew: number) {
  const at = { engine: 1_000_000_000, local: 1_000_000_000 + skew, monotonic: 7 };
  const drifts = { count: 0 };
  const clock = new EngineClock(
    { now: () => at.local, monotonic: () => at.monotonic },
    () => void drifts.count++,
  );
  const pass = (milliseconds: number) => {
    at.engine += milliseconds;
    at.local += milliseconds;
    at.monotonic += milliseconds;
  };
  return { at, clock, pass, drifts, measure: () => clock.measure(() => Promise.resolve(at.engine)) };
}

test("a measurement removes the difference between the local clock and the engine's", async () => {
  for (const skew of [-300_000, 300_000]) {
    const { at, clock, pass, measure } = newClocks(skew);
    assert.is(clock.now(), at.local);
    assert.ok(clock.isDue());
    await measure();
    assert.is(clock.now(), at.engine);
    assert.not.ok(clock.isDue());
    pass(59_000);
    assert.is(clock.now(), at.engine);
    pass(2000);
    assert.ok(clock.isDue());
  }
});

test("a jump of the local clock changes nothing, and a measurement is requested until one is made", async () => {
  for (const jump of [3 * 3600_000, -3 * 3600_000]) {
    const { at, clock, pass, drifts, measure } = newClocks(40);
    await measure();
    pass(1000);
    assert.is(clock.now(), at.engine);
    assert.is(drifts.count, 0);
    at.local += jump;
    assert.is(clock.now(), at.engine);
    assert.is(drifts.count, 1);
    pass(1000);
    assert.is(clock.now(), at.engine);
    assert.is(drifts.count, 2);
    await measure();
    assert.is(clock.now(), at.engine);
    assert.is(drifts.count, 2);
  }
});

test("after a suspension of the machine the next measurement restores the engine's time", async () => {
  const { at, clock, drifts, measure } = newClocks(0);
  await measure();
  at.engine += 8 * 3600_000;
  at.local += 8 * 3600_000;
  clock.now();
  assert.is(drifts.count, 1);
  await measure();
  assert.is(clock.now(), at.engine);
});

test("a difference within the round-trip time does not change the local clock", async () => {
  const { at, clock } = newClocks(0);
  await clock.measure(() => Promise.resolve(at.engine + 1));
  assert.is(clock.now(), at.local);
});

test("a failed measurement changes nothing", async () => {
  const { at, clock } = newClocks(5);
  await clock.measure(() => Promise.reject(new Error("down"))).catch(() => {});
  assert.is(clock.now(), at.local);
  assert.ok(clock.isDue());
});

test.run();
