import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PeriodicTasks } from "./periodic_tasks.ts";
import { withinTimeout } from "./drivers/engine_timeout.ts";

const test = suite("store: delays beyond the range of timers");
const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

for (const long of [3e9, Infinity, NaN]) {
  test(`a timeout of ${long} ms does not expire at once`, async () => {
    const timeout = { engine: "Engine", milliseconds: long, reasonOf: () => undefined };
    assert.is(await withinTimeout(timeout, pause().then(() => "answer")), "answer");
  });

  test(`a task with an interval of ${long} ms does not run at once`, async () => {
    let runs = 0;
    const tasks = new PeriodicTasks();
    tasks.every(long, () => Promise.resolve(runs++));
    await pause();
    tasks.stop();
    assert.is(runs, 0);
  });
}

test.run();
