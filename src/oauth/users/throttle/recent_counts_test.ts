import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createRecentCounts, HALF_LIFE_MS, MAX_NAMES } from "./recent_counts.ts";

const test = suite("oauth/recent_counts");

test("add() counts per name, and counts halve after HALF_LIFE_MS", () => {
  let at = 0;
  const counts = createRecentCounts(() => at);
  assert.equal([counts.add("a"), counts.add("a"), counts.add("b"), counts.add("a")], [0, 1, 0, 2]);
  for (let i = 0; i < 5; i++) counts.add("a");
  at += HALF_LIFE_MS;
  assert.is(counts.add("a"), 4);
  at += 20 * HALF_LIFE_MS;
  assert.is(counts.add("a"), 0);
  assert.equal([counts.has("a"), counts.has("c"), counts.size], [true, false, 2]);
  counts.forget("a");
  assert.is(counts.add("a"), 0);
});

test("a clock that was ahead and is set back makes no count grow", () => {
  let at = 0;
  const counts = createRecentCounts(() => at);
  at = 10 * 86_400_000;
  counts.add("a");
  at = 0;
  assert.equal([counts.add("a"), counts.add("a")], [1, 2]);
  at += 20 * HALF_LIFE_MS;
  assert.is(counts.add("a"), 0);
});

test("only the MAX_NAMES latest names are kept", () => {
  const counts = createRecentCounts(() => 0);
  for (let i = 0; i < MAX_NAMES; i++) counts.add(`${i}`);
  counts.add("0");
  counts.add("one more");
  assert.equal([counts.size, counts.has("0"), counts.has("1")], [MAX_NAMES, true, false]);
});

test.run();
