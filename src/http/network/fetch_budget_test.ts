import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createFetchBudget } from "./fetch_budget.ts";

const test = suite("http/fetch_budget");

function newBudget() {
  let time = 1_000_000;
  const budget = createFetchBudget(() => time);
  /** Whether a fetch is allowed; it ends immediately. */
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

test("a caller may make 10 failing or 46 successful fetches in a row, of any hosts", () => {
  assert.is(newBudget().count(200, (i) => `h${i}.example`, "203.0.113.1", false), 10);
  assert.is(newBudget().count(200, (i) => `h${i}.example`, "203.0.113.1", true), 46);
});

test("failing fetches of one host are limited, for all callers together", () => {
  assert.is(newBudget().count(200, () => "h.example", undefined, false), 20);
  const { ask } = newBudget();
  let allowed = 0;
  for (let i = 0; i < 1000; i++) if (ask("h.example", `203.0.${i >> 8}.${i & 255}`, false)) allowed++;
  assert.ok(allowed <= 40, `${allowed}`);
});

test("a caller that fetches for the first time is allowed although another caller has used up the budget of the host", () => {
  const { ask, count, advance } = newBudget();
  count(200, () => "h.example", "203.0.113.1", false);
  for (let minute = 0; minute < 10; minute++) {
    advance(60);
    count(200, () => "h.example", "203.0.113.1", false);
    assert.ok(ask("h.example", `198.51.100.${minute}`, true));
  }
});

test("a fetch is allowed after the returned wait, also when the clock was set back", () => {
  const { budget, ask, count, advance } = newBudget();
  count(200, () => "h.example", "203.0.113.1", false);
  const wait = budget.begin({ host: "h.example", network: "203.0.113.1" }) as number;
  assert.type(wait, "number");
  advance(-3600);
  assert.not(ask("h.example", "203.0.113.1", false));
  advance(wait);
  assert.ok(ask("h.example", "203.0.113.1", false));
});

test("concurrent fetches are limited per caller, per host and in all", () => {
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
  assert.is(open((i) => `h${i}.example`, () => undefined), 64, "unknown callers do not share a limit");
});

test("ending a fetch twice counts once", () => {
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
