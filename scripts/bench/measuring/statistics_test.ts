import { test } from "uvu";
import * as assert from "uvu/assert";
import { findLoad, findNoise, isSteady, median, medianInterval, quantile } from "./statistics.ts";

test("the median is between the middle values", () => {
  assert.is(median([3, 1, 2]), 2);
  assert.is(median([4, 1, 2, 3]), 2.5);
  assert.is(quantile([10, 20, 30, 40, 50], 0.25), 20);
  assert.is(median([]), 0);
});

test("the interval of a median leaves out as many rounds as the binomial distribution allows", () => {
  const rounds = (count: number) => Array.from({ length: count }, (_, i) => count - i);
  // Tables of the sign test for a two-sided level of 5 %.
  assert.is(medianInterval(rounds(5)), undefined);
  assert.equal(medianInterval(rounds(6)), { low: 1, high: 6 });
  assert.equal(medianInterval(rounds(9)), { low: 2, high: 8 });
  assert.equal(medianInterval(rounds(15)), { low: 4, high: 12 });
  assert.equal(medianInterval(rounds(16)), { low: 4, high: 13 });
  assert.equal(medianInterval(rounds(25)), { low: 8, high: 18 });
});

test("a rate is steady when the line through the last four slices is flat", () => {
  assert.not(isSteady([100, 100, 100]));
  assert.ok(isSteady([10, 20, 40, 100, 101, 99, 100]));
  assert.not(isSteady([40, 60, 80, 100]));
  assert.not(isSteady([100, 98, 95, 92]));
});

test("a row is noisy for a wide interval, without one, and on a machine under load", () => {
  const quiet = { ratio: 1, interval: { low: 0.91, high: 1.09 }, isSteady: true, machine: undefined };
  assert.equal(findNoise(quiet), []);
  assert.is(findNoise({ ...quiet, interval: { low: 0.89, high: 1.09 } }).length, 1);
  assert.is(findNoise({ ...quiet, interval: { low: 0.91, high: 1.11 } }).length, 1);
  assert.is(findNoise({ ...quiet, interval: undefined }).length, 1);
  assert.is(findNoise({ ...quiet, isSteady: false }).length, 1);
  assert.is(findNoise({ ...quiet, machine: "under load" }).length, 1);
  // A baseline has no ratio, so nothing is wrong with its interval.
  assert.equal(findNoise({ ...quiet, ratio: undefined, interval: undefined }), []);
});

test("load counts before the bench, and during it beyond its own processes", () => {
  assert.is(findLoad(1.9, 3.9, 2), undefined);
  assert.match(findLoad(2.1, 2, 2)!, "2.1 on 2 cores");
  assert.match(findLoad(0.1, 4.1, 2)!, "4.1 on 2 cores");
});

test.run();
