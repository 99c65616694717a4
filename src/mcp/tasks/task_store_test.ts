import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { type TaskRecord, TaskStore } from "./task_store.ts";
import { Wakeups } from "../session/wakeups.ts";

const test = suite("mcp/task_store");

/** Instances on one store, with one clock. */
function instances(count: number) {
  const store = memoryStore();
  const clock = { now: Date.now() };
  const made = Array.from({ length: count }, () => new TaskStore(store, new Wakeups(store), () => clock.now));
  return { clock, store, made };
}

function newTask(clock: { now: number }, id: string = "t"): TaskRecord {
  return {
    id,
    owner: "",
    principal: undefined,
    capabilities: {},
    tool: "tool",
    arguments: {},
    restart: true,
    status: "working",
    statusMessage: undefined,
    createdAt: clock.now,
    updatedAt: clock.now,
    ttl: 3_600_000,
    pollInterval: 1000,
    answers: {},
    kept: {},
  };
}

test("a task is abandoned only if its lease is not renewed after it was found expired", async () => {
  const { clock, made: [a, b, c] } = instances(3);
  await a!.create(newTask(clock));
  assert.is(await b!.isAbandoned("t"), false);
  clock.now += 15_001;
  assert.is(await b!.isAbandoned("t"), false, "the renewal may be pending");
  assert.is(await c!.isAbandoned("t"), false);
  clock.now += 6_000;
  assert.is(await c!.isAbandoned("t"), true, "also if another instance found it");
});

test("a lease that is renewed in the grace period is valid", async () => {
  const { clock, made: [a, b] } = instances(2);
  const task = newTask(clock);
  await a!.create(task);
  clock.now += 20_000;
  assert.is(await b!.isAbandoned("t"), false);
  await a!.change("t", (now) => ({ ...now, statusMessage: "here" }), true);
  clock.now += 7_000;
  assert.is(await b!.isAbandoned("t"), false);
});

test("a task that runs on this instance is not abandoned", async () => {
  const { clock, made: [a] } = instances(1);
  const task = newTask(clock);
  await a!.create(task);
  const release = a!.holdLease(task, () => {});
  clock.now += 100_000;
  assert.is(await a!.isAbandoned("t"), false);
  release();
  assert.is(await a!.isAbandoned("t"), true);
});

test("the store does not contain the id of a task", async () => {
  const { clock, store, made: [a, b] } = instances(2);
  const id = "the-id-of-a-task";
  await a!.create(newTask(clock, id));
  await b!.change(id, (now) => ({ ...now, status: "completed" }));
  assert.is((await b!.get(id))!.id, id);
  const kept = await store.list([]);
  assert.ok(kept.length > 0);
  assert.not.ok(JSON.stringify(kept).includes(id));
});

test("one instance takes over an expired lease, and none a valid lease or a finished task", async () => {
  const { clock, made } = instances(5);
  const [a, ...others] = made;
  await a!.create(newTask(clock));
  assert.equal(await Promise.all(others.map((each) => each.takeOver("t"))), Array(4).fill(undefined));
  clock.now += 100_000;
  const taken = await Promise.all(others.map((each) => each.takeOver("t")));
  assert.is(taken.filter((each) => each).length, 1);
  clock.now += 100_000;
  await a!.change("t", (now) => ({ ...now, status: "completed" }));
  assert.is(await others[0]!.takeOver("t"), undefined);
  assert.is(await others[0]!.takeOver("unknown"), undefined);
});

test("the holder of a lease receives cancellations of other instances until release", async () => {
  const { clock, made: [a, b] } = instances(2);
  const task = newTask(clock);
  await a!.create(task);
  let stops = 0;
  const stopped = Promise.withResolvers<void>();
  const release = a!.holdLease(task, () => {
    stops++;
    stopped.resolve();
  });
  await b!.change("t", (now) => ({ ...now, statusMessage: "so far" }));
  await b!.change("t", (now) => ({ ...now, status: "cancelled" }));
  await stopped.promise;
  release();
  const before = stops;
  await b!.change("t", (now) => ({ ...now, statusMessage: "again" }));
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.is(stops, before);
});

test.run();
