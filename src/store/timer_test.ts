import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PeriodicTasks } from "./periodic_tasks.ts";
import { withinTimeout } from "./drivers/engine_timeout.ts";

const test = suite("store/timer");
const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

for (const long of [3e9, Infinity, NaN]) {
  test(`an engine may take ${long} ms`, async () => {
    const patience = { engine: "Engine", milliseconds: long, reasonOf: () => undefined };
    assert.is(await withinTimeout(patience, pause().then(() => "answer")), "answer");
  });

  test(`work of every ${long} ms is not done all the time`, async () => {
    let times = 0;
    const chores = new PeriodicTasks();
    chores.every(long, () => Promise.resolve(times++));
    await pause();
    chores.stop();
    assert.is(times, 0);
  });
}

test.run();
