import { suite } from "uvu";
import * as assert from "uvu/assert";
import { EngineClock } from "./engine_clock.ts";

const test = suite("store/engine_clock");

test("clocks that are minutes apart agree once they have asked the engine", async () => {
  const engine = () => Promise.resolve(Date.now());
  for (const skew of [-300_000, 300_000]) {
    const clock = new EngineClock(() => Date.now() + skew);
    assert.ok(Math.abs(clock.now() - Date.now() - skew) < 50);
    assert.ok(clock.isDue());
    await clock.measure(engine);
    assert.ok(Math.abs(clock.now() - Date.now()) < 50);
    assert.not.ok(clock.isDue());
  }
});

test("a difference that the way to the engine explains is none: the local clock stays as it is", async () => {
  const clock = new EngineClock(() => 1_000_000);
  await clock.measure(() => Promise.resolve(1_000_001));
  assert.is(clock.now(), 1_000_000);
});

test("an engine that does not answer changes nothing", async () => {
  const clock = new EngineClock(() => 5);
  await clock.measure(() => Promise.reject(new Error("down"))).catch(() => {});
  assert.is(clock.now(), 5);
  assert.ok(clock.isDue());
});

test.run();
