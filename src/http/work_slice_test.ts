import { suite } from "uvu";
import * as assert from "uvu/assert";
import { assertLoopIsFree, LoopWatchdog, MAX_LOOP_HOLD_MS } from "./test_loop_watchdog.ts";
import { MAX_SLICE_MS, WorkSlice } from "./work_slice.ts";

const test = suite("http/work_slice");
const isMeasured = globalThis.navigator?.userAgent !== "Cloudflare-Workers";

/** Blocks the event loop for this wall time. On a busy machine the processor time may be less. */
function work(milliseconds: number): void {
  for (const until = performance.now() + milliseconds; performance.now() < until;);
}

test("yield() lets other tasks run and begins a new slice", async () => {
  const slice = new WorkSlice();
  assert.not(slice.isOver);
  work(2 * MAX_SLICE_MS);
  assert.ok(slice.isOver);
  let ran = false;
  setTimeout(() => ran = true, 0);
  await slice.yield();
  assert.ok(ran);
  assert.not(slice.isOver);
});

test("the watchdog fails work that blocks the event loop, and passes work in slices", async () => {
  if (isMeasured) {
    const message = await assertLoopIsFree(() => work(20 * MAX_LOOP_HOLD_MS)).then(
      () => "free",
      (error: Error) => error.message,
    );
    assert.match(message, /\d+, \d+, \d+ ms/);
  }
  await assertLoopIsFree(async () => {
    const slice = new WorkSlice();
    for (let step = 0; step < 100; step++) {
      work(1);
      if (slice.isOver) await slice.yield();
    }
  });
  await assertLoopIsFree(() => new Promise((resolve) => setTimeout(resolve, 2 * MAX_LOOP_HOLD_MS)));
});

test("work in many slices at once blocks the event loop no longer than work in one", async () => {
  await assertLoopIsFree(() =>
    Promise.all(Array.from({ length: 20 }, async () => {
      const slice = new WorkSlice();
      for (let step = 0; step < 20; step++) {
        work(1);
        if (slice.isOver) await slice.yield();
      }
    }))
  );
});

test("work in slices takes turns: long work does not delay short work until it ends", async () => {
  let left = 3;
  const run = async (steps: number): Promise<number> => {
    const slice = new WorkSlice();
    for (let step = 0; step < steps; step++) {
      work(MAX_SLICE_MS + 1);
      await slice.yield();
    }
    return --left;
  };
  assert.equal(await Promise.all([run(12), run(2), run(2)]), [0, 2, 1]);
});

test("a request that ended early, whose timers never run, does not stop the others", async () => {
  const original = globalThis.setTimeout;
  globalThis.setTimeout = (() => 0) as unknown as typeof setTimeout;
  void new WorkSlice().yield();
  globalThis.setTimeout = original;
  const slice = new WorkSlice();
  await slice.yield();
  assert.not(slice.isOver);
});

test("take() returns the longest block since the last take()", async () => {
  const watchdog = new LoopWatchdog();
  await watchdog.take();
  work(20 * MAX_LOOP_HOLD_MS);
  const first = await watchdog.take();
  const second = await watchdog.take();
  watchdog.stop();
  if (isMeasured) assert.ok(first > MAX_LOOP_HOLD_MS);
  assert.ok(second <= MAX_LOOP_HOLD_MS);
});

test.run();
