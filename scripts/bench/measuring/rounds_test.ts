import { test } from "uvu";
import * as assert from "uvu/assert";
import { runRounds } from "./rounds.ts";

const sample = (perSecond: number) => Promise.resolve({ perSecond, times: [] });

test("each subject is warmed until it is steady, and then measured once in each round", async () => {
  const log: string[] = [];
  const counts = { fast: 0, slow: 0 };
  const [fast, slow] = await runRounds([
    { name: "fast", run: () => (log.push("fast"), counts.fast++, sample(100)) },
    { name: "slow", run: () => (log.push("slow"), sample(Math.min(8, ++counts.slow) * 10)) },
  ], 5);
  assert.equal(fast!.samples.map(({ perSecond }) => perSecond), [100, 100, 100, 100, 100]);
  assert.equal(slow!.samples.map(({ perSecond }) => perSecond), [80, 80, 80, 80, 80]);
  assert.ok(fast!.isSteady && slow!.isSteady);
  assert.is(counts.fast, 4 + 5);
  assert.is(counts.slow, 11 + 5);
  for (let at = log.length - 10; at < log.length; at += 2) {
    assert.equal(log.slice(at, at + 2).sort(), ["fast", "slow"]);
  }
});

test("a subject that never becomes steady is measured after a bounded warm-up, and marked", async () => {
  let slices = 0;
  const [series] = await runRounds([{ name: "a", run: () => sample(2 ** ++slices) }], 3);
  assert.is(series!.isSteady, false);
  assert.is(series!.samples.length, 3);
  assert.is(slices, 12 + 3);
});

test("a subject that cannot go on is left out", async () => {
  let slices = 0;
  const series = await runRounds([
    { name: "never", run: () => Promise.resolve(undefined) },
    { name: "fails later", run: () => ++slices > 5 ? Promise.resolve(undefined) : sample(1) },
    { name: "works", run: () => sample(1) },
  ], 3);
  assert.equal(series.map(({ name }) => name), ["works"]);
});

test("the order of a round is random", async () => {
  const orders = new Set<string>();
  let order: string[] = [];
  const run = (name: string) => () => (order.push(name), sample(1));
  const names = ["a", "b", "c", "d"];
  for (let i = 0; i < 20; i++) {
    order = [];
    await runRounds(names.map((name) => ({ name, run: run(name) })), 1);
    orders.add(order.slice(-names.length).join(""));
  }
  assert.ok(orders.size > 1);
});

test.run();
