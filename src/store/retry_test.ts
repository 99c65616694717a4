import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "./drivers/memory.ts";
import { LOST_RACE, MAX_COMMIT_TRIES, retryLostRaces, retryWhileUnavailable } from "./retry.ts";
import { compareAndSet, putIfAbsent, StoreUnavailableError } from "./store.ts";

const test = suite("store/retry");

test("retryLostRaces() stops at the first attempt that does not lose", async () => {
  let tries = 0;
  const result = await retryLostRaces(() => Promise.resolve(++tries < 4 ? LOST_RACE : "done"));
  assert.equal([result, tries], ["done", 4]);
});

test("after MAX_COMMIT_TRIES attempts the error is StoreUnavailableError with retryAfter", async () => {
  let tries = 0;
  try {
    await retryLostRaces(() => Promise.resolve((tries++, LOST_RACE)));
    assert.unreachable();
  } catch (error) {
    assert.instance(error, StoreUnavailableError);
    assert.is((error as StoreUnavailableError).retryAfter, 1);
  }
  assert.is(tries, MAX_COMMIT_TRIES);
});

test("twenty concurrent changes of one record all take effect", async () => {
  const store = memoryStore();
  const add = () =>
    retryLostRaces(async () => {
      const entry = await store.get<number>(["count"]);
      const done = entry
        ? await compareAndSet(store, ["count"], entry.version, entry.value + 1)
        : await putIfAbsent(store, ["count"], 1);
      return done || LOST_RACE;
    });
  await Promise.all(Array.from({ length: 20 }, add));
  assert.is((await store.get<number>(["count"]))?.value, 20);
  await store.close();
});

test("work is retried until the store is available", async () => {
  let tries = 0;
  let attempts = 0;
  const work = async () => {
    if (++tries < 3) throw new StoreUnavailableError("down");
    return "done";
  };
  assert.is(await retryWhileUnavailable(work, () => attempts++), "done");
  assert.is(tries, 3);
  assert.is(attempts, 3);
});

test("any other error is thrown at once", async () => {
  let tries = 0;
  const work = async () => {
    tries++;
    throw new TypeError("wrong");
  };
  assert.instance(await retryWhileUnavailable(work).catch((error) => error), TypeError);
  assert.is(tries, 1);
});

test.run();
