import { suite } from "uvu";
import * as assert from "uvu/assert";
import { SkillError } from "../error.ts";
import { createUploadGate, type GatePlace } from "./upload_gate.ts";

const test = suite("skills/upload_gate");
const LONG = 60_000;
const pause = (time = 0) => new Promise<void>((resolve) => setTimeout(resolve, time));

/** Whether a promise settles without anybody leaving. */
async function waits(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  promise.then(() => settled = true, () => settled = true);
  await pause(30);
  return !settled;
}

test("as many are inside as there is room for, the others come in their order", async () => {
  const gate = createUploadGate({ memory: 130, kept: 30, wait: LONG, life: LONG });
  const places: GatePlace[] = [];
  const order: number[] = [];
  const all = Array.from({ length: 20 }, async (_, i) => {
    places.push(await gate.enter(i === 5 ? 100 : 25));
    order.push(i);
  });
  await pause(30);
  assert.equal(order, [0, 1, 2, 3], "four quarters");
  places[0]!.leave();
  assert.ok(await waits(all[5]!), "the next is small, the one behind it needs everything");
  assert.equal(order, [0, 1, 2, 3, 4]);
  for (let left = 1; order.length < 20; left++) {
    places[left]!.leave();
    await pause(1);
  }
  assert.equal(order, Array.from({ length: 20 }, (_, i) => i));
});

test("where waiting has its cost, those who would be too many are turned away at once, and come in later", async () => {
  const gate = createUploadGate({ memory: 130, kept: 30, wait: LONG, life: LONG });
  const first = await gate.enter(100, 50);
  const waiting = [gate.enter(20, 50), gate.enter(30, 50)];
  const error = await gate.enter(1, 50).then(() => undefined, (error) => error);
  assert.instance(error, SkillError);
  assert.equal([error.status, error.fields], [529, [["retry-after", "5"]]]);
  assert.ok(await waits(Promise.race(waiting)));
  first.leave();
  for (const place of await Promise.all(waiting)) place.leave();
  (await gate.enter(60, 50)).leave();
});

test("never more than the room is taken, however they come and go", async () => {
  const gate = createUploadGate({ memory: 1000, kept: 200, wait: LONG, life: LONG });
  let held = 0;
  let most = 0;
  const take = (bytes: number) => most = Math.max(most, held += bytes);
  await Promise.all(Array.from({ length: 300 }, async (_, i) => {
    const bytes = 1 + i * 37 % 400;
    const more = i % 3 === 0 ? 200 : 0;
    const place = await gate.enter(bytes);
    take(bytes);
    await pause(i % 4);
    if (more > 0) {
      await place.extend(more);
      take(more);
    }
    await pause(i % 3);
    held -= bytes + more;
    place.leave();
  }));
  assert.is(held, 0);
  assert.ok(most > 500 && most <= 1000, `${most}`);
});

test("those inside who all need more get it one after the other: nobody waits for ever", async () => {
  const gate = createUploadGate({ memory: 150, kept: 50, wait: LONG, life: LONG });
  const places = await Promise.all([gate.enter(50), gate.enter(50)]);
  const newcomer = gate.enter(10);
  const extended = places.map((place) => place.extend(50));
  await extended[0];
  assert.ok(await waits(extended[1]!));
  places[0]!.leave();
  await extended[1];
  assert.ok(await waits(newcomer), "what is kept for those inside is not for newcomers");
  places[1]!.leave();
  (await newcomer).leave();
});

test("whoever needs more goes before newcomers", async () => {
  const gate = createUploadGate({ memory: 200, kept: 100, wait: LONG, life: LONG });
  const [first, second] = [await gate.enter(10), await gate.enter(10)];
  await first.extend(100);
  const extended = second.extend(100);
  const newcomer = gate.enter(10);
  assert.ok(await waits(Promise.race([extended, newcomer])), "it would fit, but others are before it");
  first.leave();
  await extended;
  second.leave();
  (await newcomer).leave();
});

test("who waits for too long is told to come back", async () => {
  const gate = createUploadGate({ memory: 20, kept: 10, wait: 40, life: LONG });
  const place = await gate.enter(10);
  const error = await gate.enter(1).then(() => undefined, (error) => error);
  assert.instance(error, SkillError);
  assert.equal([error.type, error.status, error.fields], ["overloaded_error", 529, [["retry-after", "5"]]]);
  place.leave();
  (await gate.enter(10)).leave();
});

test("who was turned away holds nothing, and does not stand in the way", async () => {
  const gate = createUploadGate({ memory: 20, kept: 10, wait: 40, life: LONG });
  const place = await gate.enter(5);
  const large = gate.enter(10).then(() => "in", (error) => error.status);
  await pause(20);
  const small = gate.enter(5);
  assert.is(await large, 529);
  (await small).leave();
  place.leave();
});

test("one caller has half of the room, and makes only himself wait", async () => {
  const gate = createUploadGate({ memory: 130, kept: 30, wait: LONG, life: LONG });
  const places = [await gate.enter(30, undefined, "a")];
  const second = gate.enter(30, undefined, "a");
  assert.ok(await waits(second), "two of them are more than half");
  const small = await gate.enter(20, undefined, "a");
  (await gate.enter(50, undefined, "b")).leave();
  places[0]!.leave();
  (await second).leave();
  small.leave();
  (await gate.enter(100, undefined, "a")).leave();
});

test("the next one in is of the caller who holds the least", async () => {
  const gate = createUploadGate({ memory: 130, kept: 30, wait: LONG, life: LONG });
  const all = await gate.enter(100, undefined, "a");
  const order: string[] = [];
  const places: GatePlace[] = [];
  const enter = async (caller: string): Promise<void> => {
    places.push(await gate.enter(25, undefined, caller));
    order.push(caller);
  };
  const waiting = [..."aaaaabc"].map(enter);
  all.leave();
  await pause(30);
  assert.equal(order.join(""), "abca", "the first of each, then another of the one who came first");
  while (order.length < waiting.length) {
    places.shift()!.leave();
    await pause(5);
  }
  assert.equal(order.slice(4).join(""), "aaa");
  for (const place of places) place.leave();
});

test("one caller has half of the queue, where waiting has its cost", async () => {
  const gate = createUploadGate({ memory: 130, kept: 30, wait: LONG, life: LONG });
  const all = await gate.enter(100, 50, "a");
  const mine = gate.enter(25, 50, "a");
  const error = await gate.enter(10, 50, "a").then(() => undefined, (error) => error);
  assert.is(error.status, 529);
  const other = gate.enter(25, 50, "b");
  all.leave();
  for (const place of await Promise.all([mine, other])) place.leave();
});

test("who has half of the room waits, and only so much of it, though there is room", async () => {
  const gate = createUploadGate({ memory: 130, kept: 30, wait: LONG, life: LONG });
  const place = await gate.enter(40, 50, "a");
  const waiting = gate.enter(25, 50, "a");
  assert.ok(await waits(waiting));
  const error = await gate.enter(25, 50, "a").then(() => undefined, (error) => error);
  assert.is(error?.status, 529);
  place.leave();
  (await waiting).leave();
});

test("leaving twice is leaving once", async () => {
  const gate = createUploadGate({ memory: 20, kept: 10, wait: LONG, life: LONG });
  const place = await gate.enter(5);
  place.leave();
  place.leave();
  const full = await gate.enter(10);
  assert.ok(await waits(gate.enter(1).then((place) => place.leave())));
  full.leave();
});

test("what somebody never gave back is free after a while", async () => {
  const gate = createUploadGate({ memory: 20, kept: 10, wait: LONG, life: 50 });
  const lost = await gate.enter(10);
  const place = await gate.enter(10);
  lost.leave();
  assert.ok(await waits(gate.enter(10).then((place) => place.leave())), "it is not given back a second time");
  place.leave();
});

test("who asks for more than there is gets all of it", async () => {
  const gate = createUploadGate({ memory: 20, kept: 10, wait: LONG, life: LONG });
  const place = await gate.enter(1000);
  await place.extend(1000);
  assert.ok(await waits(gate.enter(1).then((place) => place.leave())));
  place.leave();
});

test.run();
