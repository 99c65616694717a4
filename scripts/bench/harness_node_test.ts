import { test } from "uvu";
import * as assert from "uvu/assert";
import { formatResult, type Result } from "./harness.ts";

const result: Result = {
  name: "list",
  explanation: undefined,
  perSecond: 1234.4,
  p50: 800,
  p99: 900,
  cpu: 750,
  costs: [],
  ratio: 0.7,
  interval: undefined,
  processor: undefined,
  noise: ["the interval is wide"],
  baseline: "floor",
  target: 2 / 3,
};

/** Splits a line at the spaces between columns. */
const toCells = (line: string) => line.split(/ {2,}/);

test("a line shows the target with two digits and whether the ratio meets it", () => {
  assert.equal(toCells(formatResult(result)), [
    "list",
    "1234",
    "800.0",
    "900.0",
    "0.70",
    "750.0",
    "noisy, target 0.67: met",
  ]);
  assert.is(
    toCells(formatResult({ ...result, ratio: 0.66 })).at(-1),
    "noisy, target 0.67: MISSED",
  );
});

test("a cell that is longer than its column is separated from its neighbours", () => {
  const line = formatResult({
    ...result,
    name: "n".repeat(60),
    perSecond: 123456789012,
    p50: 1e10,
  });
  assert.equal(line.split(/ +/).slice(0, 4), [
    "n".repeat(60),
    "123456789012",
    "10000000000.0",
    "900.0",
  ]);
});

test.run();
