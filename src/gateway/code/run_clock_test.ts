import { suite } from "uvu";
import * as assert from "uvu/assert";
import { RunClock } from "./run_clock.ts";

const test = suite("gateway/run_clock");
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("time passes only while nothing pauses it", async () => {
  const ended = Promise.withResolvers<void>();
  let isEnded = false;
  const clock = new RunClock(1, () => {
    isEnded = true;
    ended.resolve();
  });
  const wasEnded = await clock.pause(async () => {
    await clock.pause(() => wait(10));
    await wait(10);
    return isEnded;
  });
  assert.is(wasEnded, false);
  await ended.promise;
});

test("a failure of what pauses it starts it again; a stopped clock never ends", async () => {
  const ended = Promise.withResolvers<void>();
  const clock = new RunClock(1, ended.resolve);
  await clock.pause(() => Promise.reject(new Error("no"))).catch(() => {});
  await ended.promise;
  let isEnded = false;
  new RunClock(1, () => isEnded = true).stop();
  const asking = new RunClock(1, () => isEnded = true);
  const answered = asking.pause(() => wait(1));
  asking.stop();
  await answered;
  await wait(10);
  assert.is(isEnded, false);
});

test.run();
