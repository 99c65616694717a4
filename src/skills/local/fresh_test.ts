import { suite } from "uvu";
import * as assert from "uvu/assert";
import { keepFresh } from "./fresh.ts";

const test = suite("skills/local/fresh");

test("a call makes a new value after the lifetime, or when the clock was set back", async () => {
  let time = 5000;
  let made = 0;
  const get = keepFresh(1000, () => time, () => Promise.resolve(++made));
  const at = async (now: number) => (time = now, await get());
  assert.equal([await at(5000), await at(5999), await at(6000), await at(6500), await at(100)], [
    1,
    1,
    2,
    2,
    3,
  ]);
});

test("calls share a value that is being made", async () => {
  let time = 0;
  const made: PromiseWithResolvers<string>[] = [];
  const get = keepFresh(1000, () => time, () => (made.push(Promise.withResolvers()), made.at(-1)!.promise));
  const first = get();
  time = 5000;
  const second = get();
  assert.is(made.length, 1);
  made[0]!.resolve("slow");
  assert.equal([await first, await second], ["slow", "slow"]);
  time = 10_000;
  const third = get();
  made[1]!.resolve("next");
  assert.is(await third, "next");
});

test("a value that takes long to make is kept ten times as long, at most ten lifetimes", async () => {
  for (const [takes, kept] of [[50, 1000], [100, 1000], [300, 3000], [2000, 10_000]] as const) {
    let time = 0;
    let made = 0;
    const get = keepFresh(1000, () => time, () => Promise.resolve().then(() => (time += takes, ++made)));
    await get();
    const at = (now: number) => (time = now, get());
    assert.equal([await at(kept - 1), await at(kept)], [1, 2], `${takes} ms`);
  }
});

test("a failure is not cached", async () => {
  let tries = 0;
  const get = keepFresh(
    1000,
    () => 0,
    () => ++tries === 1 ? Promise.reject(new Error("no disk")) : Promise.resolve(tries),
  );
  assert.is(await get().catch((error) => error.message), "no disk");
  assert.is(await get(), 2);
});

test.run();
