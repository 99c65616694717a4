import { suite } from "uvu";
import * as assert from "uvu/assert";
import { SkillError } from "../error.ts";
import { createMemoryGate, type Reservation } from "./memory_gate.ts";

const test = suite("skills/api/memory_gate");
const LONG = 60_000;
const pause = (time = 0) => new Promise<void>((resolve) => setTimeout(resolve, time));

/** Whether a promise stays pending. */
async function waits(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  promise.then(() => settled = true, () => settled = true);
  await pause(30);
  return !settled;
}

test("reservations up to the limit are granted, and others wait in order", async () => {
  const gate = createMemoryGate({ memory: 130, kept: 30, wait: LONG, life: LONG });
  const reservations: Reservation[] = [];
  const order: number[] = [];
  const all = Array.from({ length: 20 }, async (_, i) => {
    reservations.push(await gate.reserve(i === 5 ? 100 : 25));
    order.push(i);
  });
  await pause(30);
  assert.equal(order, [0, 1, 2, 3], "four quarters");
  reservations[0]!.release();
  assert.ok(await waits(all[5]!), "the next is small, and the one after it needs all memory");
  assert.equal(order, [0, 1, 2, 3, 4]);
  for (let left = 1; order.length < 20; left++) {
    reservations[left]!.release();
    await pause(1);
  }
  assert.equal(order, Array.from({ length: 20 }, (_, i) => i));
});

test("with a limit of the queue, excess reservations are refused at once with 529", async () => {
  const gate = createMemoryGate({ memory: 130, kept: 30, wait: LONG, life: LONG });
  const first = await gate.reserve(100, 50);
  const waiting = [gate.reserve(20, 50), gate.reserve(30, 50)];
  const error = await gate.reserve(1, 50).then(() => undefined, (error) => error);
  assert.instance(error, SkillError);
  assert.equal([error.status, error.fields], [529, [["retry-after", "5"]]]);
  assert.ok(await waits(Promise.race(waiting)));
  first.release();
  for (const reservation of await Promise.all(waiting)) reservation.release();
  (await gate.reserve(60, 50)).release();
});

test("reserved memory never exceeds the limit", async () => {
  const gate = createMemoryGate({ memory: 1000, kept: 200, wait: LONG, life: LONG });
  let held = 0;
  let maxHeld = 0;
  const take = (bytes: number) => maxHeld = Math.max(maxHeld, held += bytes);
  await Promise.all(Array.from({ length: 300 }, async (_, i) => {
    const bytes = 1 + i * 37 % 400;
    const more = i % 3 === 0 ? 200 : 0;
    const reservation = await gate.reserve(bytes);
    take(bytes);
    await pause(i % 4);
    if (more > 0) {
      await reservation.extend(more);
      take(more);
    }
    await pause(i % 3);
    held -= bytes + more;
    reservation.release();
  }));
  assert.is(held, 0);
  assert.ok(maxHeld > 500 && maxHeld <= 1000, `${maxHeld}`);
});

test("concurrent extensions are granted one after the other, without deadlock", async () => {
  const gate = createMemoryGate({ memory: 150, kept: 50, wait: LONG, life: LONG });
  const reservations = await Promise.all([gate.reserve(50), gate.reserve(50)]);
  const newcomer = gate.reserve(10);
  const extended = reservations.map((reservation) => reservation.extend(50));
  await extended[0];
  assert.ok(await waits(extended[1]!));
  reservations[0]!.release();
  await extended[1];
  assert.ok(await waits(newcomer), "memory kept for extensions is not for new reservations");
  reservations[1]!.release();
  (await newcomer).release();
});

test("extensions precede new reservations", async () => {
  const gate = createMemoryGate({ memory: 200, kept: 100, wait: LONG, life: LONG });
  const [first, second] = [await gate.reserve(10), await gate.reserve(10)];
  await first.extend(100);
  const extended = second.extend(100);
  const newcomer = gate.reserve(10);
  assert.ok(await waits(Promise.race([extended, newcomer])), "it would fit, but others precede it");
  first.release();
  await extended;
  second.release();
  (await newcomer).release();
});

test("a reservation that waits too long is refused with 529 and retry-after", async () => {
  const gate = createMemoryGate({ memory: 20, kept: 10, wait: 40, life: LONG });
  const reservation = await gate.reserve(10);
  const error = await gate.reserve(1).then(() => undefined, (error) => error);
  assert.instance(error, SkillError);
  assert.equal([error.type, error.status, error.fields], ["overloaded_error", 529, [["retry-after", "5"]]]);
  reservation.release();
  (await gate.reserve(10)).release();
});

test("a refused reservation holds no memory and does not block the queue", async () => {
  const gate = createMemoryGate({ memory: 20, kept: 10, wait: 40, life: LONG });
  const reservation = await gate.reserve(5);
  const large = gate.reserve(10).then(() => "in", (error) => error.status);
  await pause(20);
  const small = gate.reserve(5);
  assert.is(await large, 529);
  (await small).release();
  reservation.release();
});

test("one caller gets at most half of the memory, and only that caller waits", async () => {
  const gate = createMemoryGate({ memory: 130, kept: 30, wait: LONG, life: LONG });
  const reservations = [await gate.reserve(30, undefined, "a")];
  const second = gate.reserve(30, undefined, "a");
  assert.ok(await waits(second), "two of them are more than half");
  const small = await gate.reserve(20, undefined, "a");
  (await gate.reserve(50, undefined, "b")).release();
  reservations[0]!.release();
  (await second).release();
  small.release();
  (await gate.reserve(100, undefined, "a")).release();
});

test("the next reservation is of the caller that holds the least", async () => {
  const gate = createMemoryGate({ memory: 130, kept: 30, wait: LONG, life: LONG });
  const all = await gate.reserve(100, undefined, "a");
  const order: string[] = [];
  const reservations: Reservation[] = [];
  const enter = async (caller: string): Promise<void> => {
    reservations.push(await gate.reserve(25, undefined, caller));
    order.push(caller);
  };
  const waiting = [..."aaaaabc"].map(enter);
  all.release();
  await pause(30);
  assert.equal(order.join(""), "abca", "the first of each caller, then again the first caller");
  while (order.length < waiting.length) {
    reservations.shift()!.release();
    await pause(5);
  }
  assert.equal(order.slice(4).join(""), "aaa");
  for (const reservation of reservations) reservation.release();
});

test("with a limit of the queue, one caller gets at most half of it", async () => {
  const gate = createMemoryGate({ memory: 130, kept: 30, wait: LONG, life: LONG });
  const all = await gate.reserve(100, 50, "a");
  const mine = gate.reserve(25, 50, "a");
  const error = await gate.reserve(10, 50, "a").then(() => undefined, (error) => error);
  assert.is(error.status, 529);
  const other = gate.reserve(25, 50, "b");
  all.release();
  for (const reservation of await Promise.all([mine, other])) reservation.release();
});

test("a caller with half of the memory waits within its half of the queue, even if memory is free", async () => {
  const gate = createMemoryGate({ memory: 130, kept: 30, wait: LONG, life: LONG });
  const reservation = await gate.reserve(40, 50, "a");
  const waiting = gate.reserve(25, 50, "a");
  assert.ok(await waits(waiting));
  const error = await gate.reserve(25, 50, "a").then(() => undefined, (error) => error);
  assert.is(error?.status, 529);
  reservation.release();
  (await waiting).release();
});

test("a second release has no effect", async () => {
  const gate = createMemoryGate({ memory: 20, kept: 10, wait: LONG, life: LONG });
  const reservation = await gate.reserve(5);
  reservation.release();
  reservation.release();
  const full = await gate.reserve(10);
  assert.ok(await waits(gate.reserve(1).then((reservation) => reservation.release())));
  full.release();
});

test("a reservation without release expires", async () => {
  const gate = createMemoryGate({ memory: 20, kept: 10, wait: LONG, life: 50 });
  const lost = await gate.reserve(10);
  const reservation = await gate.reserve(10);
  lost.release();
  assert.ok(
    await waits(gate.reserve(10).then((reservation) => reservation.release())),
    "a release after the expiry has no effect",
  );
  reservation.release();
});

test("a reservation above the limit gets all of the memory", async () => {
  const gate = createMemoryGate({ memory: 20, kept: 10, wait: LONG, life: LONG });
  const reservation = await gate.reserve(1000);
  await reservation.extend(1000);
  assert.ok(await waits(gate.reserve(1).then((reservation) => reservation.release())));
  reservation.release();
});

test.run();
