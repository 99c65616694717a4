import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createFetchBudget } from "./fetch_budget.ts";

const test = suite("http/fetch_budget");

function newBudget() {
  let time = 1_000_000;
  const budget = createFetchBudget(() => time);
  /** Whether a fetch was let through; it ends at once. */
  const ask = (host: string, caller: string | undefined, good: boolean): boolean => {
    const end = budget.begin({ host, network: caller });
    if (typeof end === "number") return false;
    end(good);
    return true;
  };
  const count = (times: number, host: (i: number) => string, caller: string | undefined, good: boolean) =>
    Array.from({ length: times }, (_, i) => ask(host(i), caller, good)).filter(Boolean).length;
  return { budget, ask, count, advance: (seconds: number) => void (time += seconds * 1000) };
}

test("failures cost more than good answers, by caller whatever the host", () => {
  assert.is(newBudget().count(200, (i) => `h${i}.example`, "203.0.113.1", false), 10);
  assert.is(newBudget().count(200, (i) => `h${i}.example`, "203.0.113.1", true), 46);
});

test("one host is not asked without end, whoever wants it", () => {
  assert.is(newBudget().count(200, () => "h.example", undefined, false), 20);
  const { ask } = newBudget();
  let asked = 0;
  for (let i = 0; i < 1000; i++) if (ask("h.example", `203.0.${i >> 8}.${i & 255}`, false)) asked++;
  assert.ok(asked <= 40, `${asked}`);
});

test("who asks for the first time is let through beside one who asks again and again", () => {
  const { ask, count, advance } = newBudget();
  count(200, () => "h.example", "203.0.113.1", false);
  for (let minute = 0; minute < 10; minute++) {
    advance(60);
    count(200, () => "h.example", "203.0.113.1", false);
    assert.ok(ask("h.example", `198.51.100.${minute}`, true));
  }
});

test("the wait that is named is long enough, and a clock that goes back does no harm", () => {
  const { budget, ask, count, advance } = newBudget();
  count(200, () => "h.example", "203.0.113.1", false);
  const wait = budget.begin({ host: "h.example", network: "203.0.113.1" }) as number;
  assert.type(wait, "number");
  advance(-3600);
  assert.not(ask("h.example", "203.0.113.1", false));
  advance(wait);
  assert.ok(ask("h.example", "203.0.113.1", false));
});

test("so many at once: for one caller, to one host, and in all", () => {
  const open = (host: (i: number) => string, caller: (i: number) => string | undefined) => {
    const { budget } = newBudget();
    let running = 0;
    for (let i = 0; i < 200; i++) {
      if (typeof budget.begin({ host: host(i), network: caller(i) }) === "function") running++;
    }
    return running;
  };
  assert.is(open((i) => `h${i}.example`, () => "203.0.113.1"), 8);
  assert.is(open(() => "h.example", (i) => `203.0.113.${i}`), 16);
  assert.is(open((i) => `h${i}.example`, (i) => `203.0.113.${i}`), 64);
  assert.is(open((i) => `h${i}.example`, () => undefined), 64, "an unknown caller is not one caller");
});

test("an end that is told twice frees one place", () => {
  const { budget } = newBudget();
  const caller = "203.0.113.1";
  const ends = Array.from({ length: 8 }, (_, i) => budget.begin({ host: `h${i}.example`, network: caller }));
  const [end] = ends as [(good: boolean) => void];
  end(true);
  end(true);
  assert.type(budget.begin({ host: "x.example", network: caller }), "function");
  assert.type(budget.begin({ host: "y.example", network: caller }), "number");
});

test.run();
