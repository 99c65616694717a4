import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CircuitBreaker, MAX_FAILURES } from "./circuit_breaker.ts";
import { putClockAhead } from "../../test_clock.ts";

const test = suite("gateway/upstream/circuit_breaker");

function newBreaker() {
  let time = 0;
  const breaker = new CircuitBreaker({ now: () => time, random: () => 1 });
  const wait = (milliseconds: number) => time += milliseconds;
  const failAgain = () => {
    wait(breaker.pause);
    breaker.fail();
  };
  return { breaker, wait, failAgain };
}

test("opens after failures in a row, and a trial closes it", () => {
  const { breaker, wait, failAgain } = newBreaker();
  for (let i = 1; i < MAX_FAILURES; i++) failAgain();
  assert.is(breaker.tryEnter(), true);
  failAgain();
  assert.is(breaker.isOpen, true);
  assert.is(breaker.tryEnter(), false);
  wait(breaker.pause);
  // One trial in each pause.
  assert.equal([breaker.tryEnter(), breaker.tryEnter()], [true, false]);
  breaker.succeed();
  assert.equal([breaker.isOpen, breaker.tryEnter(), breaker.pause], [
    false,
    true,
    0,
  ]);
});

test("after a clock that was ahead is corrected, the pause is as long as before", () => {
  const correct = putClockAhead();
  const breaker = new CircuitBreaker({ random: () => 1 });
  try {
    breaker.fail();
  } finally {
    correct();
  }
  assert.ok(breaker.pause > 0 && breaker.pause <= 250);
});

test("the pause doubles up to a minute", () => {
  const { breaker, failAgain } = newBreaker();
  const pauses = [];
  for (let i = 0; i < 12; i++) {
    failAgain();
    pauses.push(breaker.pause);
  }
  assert.equal(pauses.slice(0, 4), [250, 500, 1000, 2000]);
  assert.is(pauses.at(-1), 60_000);
});

test("failures at the same time count once", () => {
  const { breaker } = newBreaker();
  for (let i = 0; i < 10; i++) breaker.fail();
  assert.is(breaker.failures, 1);
});

test("a connection that lasted makes earlier failures irrelevant", () => {
  const { breaker, wait, failAgain } = newBreaker();
  for (let i = 1; i < MAX_FAILURES; i++) failAgain();
  wait(100_000);
  breaker.fail(100_000);
  assert.is(breaker.failures, 1);
});

test.run();
