import { suite } from "uvu";
import * as assert from "uvu/assert";
import { SlidingSum, SLOTS } from "./sliding_sum.ts";

const test = suite("http/sliding_sum");

test("an amount counts for one window", () => {
  const sum = new SlidingSum();
  sum.add(100, 5);
  sum.add(101, 1);
  assert.is(sum.at(100 + SLOTS), 6);
  assert.is(sum.at(101 + SLOTS), 1);
  assert.is(sum.at(102 + SLOTS), 0);
});

test("sums are merged slot by slot, in any order, and taken back", () => {
  const sum = new SlidingSum([[102, 1], [100, 2]]);
  sum.merge([[101, 4], [100, 8]]);
  assert.equal(sum.slots, [[100, 10], [101, 4], [102, 1]]);
  sum.merge([[101, 4]], -1);
  assert.is(sum.at(102), 11);
  assert.is(sum.slotWhenFree(11, 102), 102 + SLOTS + 1);
  assert.is(sum.slotWhenFree(10, 102), 100 + SLOTS + 1);
});

test("after the clock was set back, amounts count for one window from then", () => {
  const sum = new SlidingSum();
  sum.add(1000, 3);
  sum.add(1001, 4);
  assert.is(sum.at(10), 7);
  sum.add(10, 1);
  assert.equal(sum.slots, [[10, 8]]);
  assert.is(sum.at(10 + SLOTS), 8);
  assert.is(sum.at(11 + SLOTS), 0);
});

test("taking back an amount that has expired leaves no trace", () => {
  const sum = new SlidingSum([[10, 3]]);
  assert.is(sum.at(100), 0);
  sum.merge([[10, 3]], -1);
  assert.is(sum.at(100), 0);
  sum.add(100, 1);
  assert.is(sum.at(100), 1);
});

test.run();
