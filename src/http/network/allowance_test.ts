import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createAllowance } from "./allowance.ts";

const test = suite("http/allowance");

function newAllowance(perNetwork = 100, overall = 250, unknown = 150) {
  let at = Date.UTC(2026, 0, 1);
  const allowance = createAllowance({ perNetwork, overall, unknown, windowMs: 160_000, now: () => at });
  return { ...allowance, advance: (seconds: number) => void (at += seconds * 1000) };
}

test("each network can take up to its limit", () => {
  const { take } = newAllowance();
  assert.is(take("a", 60), 0);
  assert.is(take("a", 40), 0);
  assert.ok(take("a", 1) > 0);
  assert.is(take("b", 100), 0);
});

test("all networks together have a limit, and unknown networks have their own", () => {
  const { take } = newAllowance();
  assert.equal([take("a", 100), take("b", 100), take("c", 50)], [0, 0, 0]);
  assert.ok(take("d", 1) > 0);
  assert.is(take(undefined, 150), 0);
  assert.ok(take(undefined, 1) > 0);
});

test("a retry succeeds after the seconds that a refusal returns, and not before", () => {
  const { take, advance } = newAllowance();
  take("a", 50);
  advance(80);
  take("a", 50);
  const wait = take("a", 50);
  assert.ok(wait > 70 && wait <= 90, String(wait));
  advance(wait - 1);
  assert.ok(take("a", 50) > 0);
  advance(1);
  assert.is(take("a", 50), 0);
  assert.ok(take("a", 1) > 0, "the second half has not expired");
});

test("an amount above the limit is always refused", () => {
  const { take, advance } = newAllowance();
  assert.ok(take("a", 101) > 0);
  advance(1000);
  assert.ok(take("a", 101) > 0);
  assert.is(take("a", 100), 0, "a refusal does not count");
});

test("an amount that is given back can be taken again, and no more", () => {
  const { take, giveBack } = newAllowance();
  take("a", 100);
  giveBack("a", 30);
  giveBack("unused", 500);
  assert.ok(take("a", 31) > 0);
  assert.is(take("a", 30), 0);
  assert.is(take("b", 100), 0);
  assert.ok(take("c", 51) > 0, "an amount that was not taken is not given back to the total");
  giveBack(undefined, 1000);
  assert.is(take(undefined, 150), 0);
  assert.ok(take(undefined, 1) > 0);
});

test("the amounts within a window never exceed the limits", () => {
  const { take, advance } = newAllowance(100, 250, 150);
  const taken: { readonly at: number; readonly amount: number }[] = [];
  let second = 0;
  for (let i = 0; i < 20_000; i++) {
    if (take(`2001:db8::${i % 977}`, 7) === 0) taken.push({ at: second, amount: 7 });
    if (i % 9 === 0) advance(1), second++;
    const live = taken.filter(({ at }) => at > second - 160).reduce((sum, { amount }) => sum + amount, 0);
    assert.ok(live <= 250, `${live} at ${second}`);
    while (taken.length > 0 && taken[0]!.at <= second - 160) taken.shift();
  }
});

test.run();
