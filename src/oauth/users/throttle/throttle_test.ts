import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../../store/drivers/memory.ts";
import { type AttemptSeries, createThrottle } from "./throttle.ts";

const test = suite("oauth/throttle");

function newThrottle() {
  let at = Date.UTC(2026, 0, 1);
  const now = () => at;
  const store = memoryStore({ now });
  return {
    throttle: createThrottle(store, now),
    store,
    advance: (seconds: number) => void (at += seconds * 1000),
  };
}
const OWN: AttemptSeries = { kind: "password", subject: "alice", freeAttempts: 3, maxWaitSeconds: 60 };
const SHARED: AttemptSeries = {
  kind: "address",
  subject: "192.0.2.1",
  freeAttempts: 5,
  maxWaitSeconds: 60,
  isShared: true,
};

test("after the free attempts each wait is twice as long as the previous one, up to maxWaitSeconds", async () => {
  const { throttle, advance } = newThrottle();
  const waits: number[] = [];
  for (let i = 0; i < 12; i++) {
    assert.is(await throttle.begin([OWN]), 0);
    const wait = await throttle.begin([OWN]);
    // Among the free attempts the second call is also an attempt.
    waits.push(wait);
    advance(wait);
  }
  assert.equal(waits, [0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60]);
});

test("a clock that was ahead and is set back leaves no wait, and the count goes on", async () => {
  const { throttle, advance } = newThrottle();
  advance(86_400);
  for (let i = 0; i < 10; i++) advance(await throttle.begin([OWN]));
  advance(-86_400);
  assert.is(await throttle.begin([OWN]), 0);
  assert.ok(await throttle.begin([OWN]) > 4);
});

test("attempts during a wait are not counted, so they do not prolong it", async () => {
  const { throttle, advance } = newThrottle();
  for (let i = 0; i < 3; i++) assert.is(await throttle.begin([OWN]), 0);
  for (let i = 0; i < 50; i++) assert.is(await throttle.begin([OWN]), 1);
  advance(1);
  assert.is(await throttle.begin([OWN]), 0);
  assert.is(await throttle.begin([OWN]), 2);
});

test("when one series must wait, no series is counted", async () => {
  const { throttle } = newThrottle();
  for (let i = 0; i < 3; i++) await throttle.begin([OWN]);
  for (let i = 0; i < 20; i++) assert.is(await throttle.begin([OWN, SHARED]), 1);
  for (let i = 0; i < 5; i++) assert.is(await throttle.begin([SHARED]), 0, String(i));
  assert.is(await throttle.begin([SHARED]), 1);
});

test("a successful attempt resets its series, and in a shared series removes only its own count", async () => {
  const { throttle, advance } = newThrottle();
  for (let i = 0; i < 4; i++) assert.is(await throttle.begin([SHARED]), 0);
  for (let i = 0; i < 20; i++) {
    assert.is(await throttle.begin([OWN, SHARED]), 0, `good attempt ${i}`);
    await throttle.succeeded([OWN, SHARED]);
  }
  for (let i = 0; i < 3; i++) {
    assert.is(await throttle.begin([SHARED]), 0);
    advance(await throttle.begin([SHARED]));
  }
  assert.is(await throttle.begin([SHARED]), 0);
  const waiting = await throttle.begin([SHARED]);
  await throttle.succeeded([SHARED]);
  assert.is(await throttle.begin([SHARED]), waiting, "failed attempts still count");
});

test("a series expires an hour after the last attempt", async () => {
  const { throttle, store, advance } = newThrottle();
  for (let i = 0; i < 3; i++) await throttle.begin([OWN]);
  advance(3601);
  assert.equal(await store.list(["attempts"]), []);
  assert.is(await throttle.begin([OWN]), 0);
});

test("of concurrent attempts only the free ones are allowed", async () => {
  const { throttle } = newThrottle();
  const waits = await Promise.all(Array.from({ length: 50 }, () => throttle.begin([OWN])));
  assert.is(waits.filter((wait) => wait === 0).length, 3);
});

test("a success without a counted attempt changes nothing", async () => {
  const { throttle, store } = newThrottle();
  await throttle.succeeded([SHARED]);
  assert.equal(await store.list(["attempts"]), []);
});

test("attack: many series of one kind do not switch the limits of this and of other kinds off", async () => {
  const { throttle, store } = newThrottle();
  for (let i = 0; i < 66_000; i++) await throttle.begin([{ ...OWN, kind: "mail", subject: `a${i}` }]);
  const bytes = (await store.list(["attempts"], { limit: 100_000 })).length * 256;
  assert.ok(bytes <= 16 * 1024 * 1024, String(bytes));
  let made = 0;
  for (let i = 0; i < 20; i++) {
    if (await throttle.begin([{ ...OWN, kind: "mail", subject: "new" }]) === 0) made++;
  }
  assert.ok(made <= OWN.freeAttempts, String(made));
  const waits = await Promise.all(Array.from({ length: 20 }, () => throttle.begin([OWN])));
  assert.is(waits.filter((wait) => wait === 0).length, OWN.freeAttempts);
});

test("a series that shares its record is counted, and a success takes back only its own attempt", async () => {
  const { throttle } = newThrottle();
  const networkOf = (i: number): AttemptSeries => ({ ...OWN, subject: `20.${i >> 8}.${i & 255}.1` });
  for (let i = 0; i < 13_000; i++) {
    const series = networkOf(i);
    if (await throttle.begin([series]) === 0 && i % 2) await throttle.succeeded([series]);
  }
  for (let i = 13_000; i < 25_600; i++) await throttle.begin([networkOf(i)]);
  const fresh = { ...OWN, subject: "198.51.100.1" };
  const neighbour = { ...OWN, subject: "198.51.7.7" };
  assert.is(await throttle.begin([neighbour]), 0);
  for (let i = 0; i < 20; i++) {
    assert.is(await throttle.begin([fresh]), 0, `good attempt ${i}`);
    await throttle.succeeded([fresh]);
  }
  for (let i = 0; i < 2; i++) assert.is(await throttle.begin([fresh]), 0);
  assert.ok(await throttle.begin([neighbour]) > 0, "a network of the same block");
});

test.run();
