import { suite } from "uvu";
import * as assert from "uvu/assert";
import { secretDigest } from "../crypto/secret.ts";
import { memoryStore } from "../store/drivers/memory.ts";
import { type Store, StoreUnavailableError } from "../store/store.ts";
import { createAudit } from "./audit.ts";
import { listAudit, readAuditGroups } from "./read_audit.ts";
import { DAY_MS, filled, given, groupsOf, newTrail, START, type TestTrail } from "./test_audit.ts";

const test = suite("observability/audit");
test("events become records in their order, in groups that are linked to the one before", async () => {
  const trail = await filled(2400);
  const records = await trail.all();
  assert.equal(records.map(({ number }) => number), Array.from({ length: 2400 }, (_, i) => i + 1));
  assert.equal(records[1]!.fields, { user: "user_2", client: "app", scope: "read" });
  assert.is(records[1]!.request, "r-2");
  const groups = await groupsOf(trail);
  assert.is(groups.length, 3);
  assert.is(JSON.parse(groups[1]!.split("\n")[0]!).previous, secretDigest(groups[0]!));
  const result = await trail.verify();
  assert.ok(result.valid);
  assert.is(result.records, 2400);
  assert.is(result.last?.number, 2400);
});

test("events that arrive during a commit wait for the next flush instead of each causing a commit", async () => {
  const inner = memoryStore();
  let commits = 0;
  const store: Store = {
    ...inner,
    get: (key) => inner.get(key),
    list: (prefix, options) => inner.list(prefix, options),
    commit(commit) {
      commits++;
      if (commits < 5) audit.add(given("during"));
      return inner.commit(commit);
    },
  };
  const audit = createAudit({ store });
  audit.add(given("before"));
  await audit.flush();
  assert.is(commits, 1);
  await audit.close();
  assert.is((await Array.fromAsync(listAudit(store))).length, 5);
});

/** A store that counts its commits, and takes a while for each. */
function slowStore(milliseconds: number) {
  const inner = memoryStore();
  const counted = { commits: 0 };
  const store: Store = {
    ...inner,
    get: (key) => inner.get(key),
    list: (prefix, options) => inner.list(prefix, options),
    async commit(commit) {
      counted.commits++;
      if (milliseconds > 0) await new Promise((resolve) => setTimeout(resolve, milliseconds));
      return await inner.commit(commit);
    },
  };
  return { store, counted };
}

test("all records that wait are written in one commit, in groups of 1000", async () => {
  const { store, counted } = slowStore(0);
  const audit = createAudit({ store });
  for (let i = 0; i < 5000; i++) audit.add(given("user"));
  await audit.close();
  assert.is(counted.commits, 1);
  assert.is((await Array.fromAsync(readAuditGroups(store))).length, 5);
});

test("after a write that took long the next one waits, unless it is asked for", async () => {
  const { store, counted } = slowStore(25);
  const audit = createAudit({ store });
  audit.add(given("user"));
  await audit.flush();
  const ends = performance.now() + 400;
  while (performance.now() < ends) {
    audit.add(given("user"));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  // Without a pause there would be a write every 75 ms.
  assert.is(counted.commits, 1);
  await audit.close();
  assert.is(counted.commits, 2);
});

test("two instances write one trail", async () => {
  const trail = newTrail();
  const other = createAudit({ store: trail.store, now: trail.now });
  for (let i = 0; i < 50; i++) {
    trail.audit.add(given("a"));
    other.add(given("b"));
    if (i % 10 === 0) await Promise.all([trail.audit.flush(), other.flush()]);
  }
  await Promise.all([trail.audit.close(), other.close()]);
  const result = await trail.verify();
  assert.ok(result.valid);
  assert.is(result.records, 100);
});

test("the records of one commit are one record of the store", async () => {
  const trail = await filled(400);
  assert.is((await trail.store.list(["audit"], { limit: 1000 })).length, 1);
});

test("expired records are gone, the rest stays valid, and numbers go on", async () => {
  const trail = await filled(3);
  trail.pass(200 * DAY_MS);
  trail.audit.add(given("user_4"));
  await trail.audit.flush();
  trail.pass(201 * DAY_MS);
  await trail.store.sweep();
  assert.equal((await trail.all()).map(({ number }) => number), [4]);
  assert.ok((await trail.verify()).valid);
  trail.pass(400 * DAY_MS);
  assert.ok((await trail.verify()).valid, "a trail whose records all expired");
  trail.audit.add(given("user_5"));
  await trail.audit.close();
  assert.equal((await trail.all()).map(({ number }) => number), [5]);
  assert.ok((await trail.verify()).valid);
});

test("a writer without a retention of its own keeps its records as long as the trail does", async () => {
  const { store, now, pass, verify } = newTrail();
  const server = createAudit({ store, now, retentionDays: 30 });
  server.add(given("a"));
  await server.flush();
  const command = createAudit({ store, now });
  command.add(given("b"));
  await command.close();
  server.add(given("c"));
  await server.flush();
  pass(31 * DAY_MS);
  server.add(given("d"));
  await server.close();
  const result = await verify();
  assert.ok(result.valid);
  assert.equal([result.records, result.last?.number], [1, 4]);
});

/** Writes a record with this retention each day. */
async function writeDaily(trail: TestTrail, retentionDays: number, days: number) {
  for (let day = 0; day < days; day++) {
    const audit = createAudit({ store: trail.store, now: trail.now, retentionDays });
    audit.add(given("user"));
    await audit.close();
    trail.pass(DAY_MS);
    await trail.store.sweep();
  }
}

for (const [before, after] of [[20, 50], [50, 20]] as const) {
  test(`verification accepts a retention that is changed from ${before} to ${after} days, at each later day`, async () => {
    const trail = newTrail();
    await writeDaily(trail, before, 30);
    for (let day = 0; day < 120; day++) {
      await writeDaily(trail, after, 1);
      const result = await trail.verify();
      assert.ok(result.valid, `day ${day}: ${JSON.stringify(result)}`);
    }
    const groups = await trail.store.list(["audit"], { limit: 1000 });
    assert.ok(groups.length >= after - 1 && groups.length <= after + 1, "the later retention holds");
    // Live records that were removed are still found.
    const [first, ...others] = groups;
    await trail.store.commit({ remove: [first!.key] });
    assert.not.ok((await trail.verify()).valid);
    await trail.store.commit({ remove: others.map(({ key }) => key) });
    assert.not.ok((await trail.verify()).valid);
    trail.pass(51 * DAY_MS);
    assert.ok((await trail.verify()).valid, "a trail whose records all expired");
  });
}

test("records never expire before older ones, also when the clock was set back", async () => {
  const trail = newTrail();
  await writeDaily(trail, 30, 1);
  trail.pass(-5 * DAY_MS);
  await writeDaily(trail, 10, 3);
  const expiries = (await trail.store.list(["audit"])).map(({ expires }) => expires!);
  assert.equal(expiries, expiries.toSorted((a, b) => a - b));
  assert.equal(expiries.length, 4);
});

test("a trail that an earlier version wrote is verified by its retention, and goes on", async () => {
  const trail = newTrail();
  let digest = "";
  const times = [1, 2, 3].map((day) => START + day * DAY_MS);
  for (const [i, time] of times.entries()) {
    const header = { previous: digest, previousTime: times[i - 1] ?? 0 };
    const record = { number: i + 1, time, type: "logged_out", fields: { user: "a" } };
    const text = `${JSON.stringify(header)}\n${JSON.stringify(record)}`;
    digest = secretDigest(text);
    const head = { number: i + 1, digest, time, retentionDays: 30 };
    const value = new TextEncoder().encode(text);
    const expires = time + 30 * DAY_MS;
    await trail.store.commit({
      set: [{ key: ["audit", i + 1], value, expires }, { key: ["audit_head"], value: head }],
    });
  }
  trail.pass(4 * DAY_MS);
  assert.ok((await trail.verify()).valid);
  await writeDaily(trail, 10, 1);
  const expiries = (await trail.store.list(["audit"])).map(({ expires }) => expires!);
  assert.is(expiries.at(-1), times[2]! + 30 * DAY_MS, "not before the records of the earlier version");
  for (let day = 0; day < 40; day++) {
    assert.ok((await trail.verify()).valid, `day ${day}`);
    trail.pass(DAY_MS);
    await trail.store.sweep();
  }
  assert.equal(await trail.all(), []);
});

test("records wait while the store is down", async () => {
  const trail = newTrail();
  const { audit, store } = trail;
  const { get } = Object.getPrototypeOf(store) as typeof store;
  store.get = () => Promise.reject(new StoreUnavailableError("down"));
  audit.add(given("a"));
  await audit.flush().then(
    () => assert.unreachable(),
    (error) => assert.instance(error, StoreUnavailableError),
  );
  store.get = get;
  audit.add(given("b"));
  await audit.close();
  assert.equal((await trail.all()).map(({ fields }) => fields["user"]), ["a", "b"]);
});

test("while the store is down the records that wait are bounded, and the others are counted in one", async () => {
  const trail = newTrail();
  const { audit, store } = trail;
  const { get } = Object.getPrototypeOf(store) as typeof store;
  store.get = () => Promise.reject(new StoreUnavailableError("down"));
  for (let i = 0; i < 20_000; i++) audit.add(given("a"));
  for (let i = 0; i < 50; i++) {
    audit.add(given("b"));
    await audit.flush().catch(() => {});
  }
  store.get = get;
  await audit.close();
  const dropped = (await trail.all()).slice(20_000);
  assert.equal(dropped.map(({ type }) => type), ["audit_dropped", "audit_dropped"]);
  assert.is(dropped.reduce((sum, { fields }) => sum + Number(fields["count"]), 0), 50);
});

test("while the store does not answer, one write waits for the one that runs, not one for each flush", async () => {
  const trail = newTrail();
  const { audit, store } = trail;
  let calls = 0;
  let fail = () => {};
  store.get = () => {
    calls++;
    return new Promise((_, reject) => fail = () => reject(new StoreUnavailableError("no answer")));
  };
  audit.add(given("a"));
  const flushes = Array.from({ length: 20 }, () => audit.flush().catch(() => {}));
  await new Promise((resolve) => setTimeout(resolve, 0));
  for (let i = 0; i < 20; i++) flushes.push(audit.flush().catch(() => {}));
  const closing = audit.close().catch(() => {});
  for (let i = 0; i < 50; i++) {
    fail();
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  await Promise.all([...flushes, closing]);
  assert.is(calls, 2);
});

test("failures of a minute are summed up after it, although other records were written and nothing else happens", async () => {
  const timers = new Set<() => void>();
  const { setTimeout, clearTimeout } = globalThis;
  globalThis.setTimeout =
    ((run: () => void, ms: number) =>
      ms < 60_000 ? setTimeout(run, ms) : (timers.add(run), run)) as typeof setTimeout;
  globalThis.clearTimeout = ((timer: never) => {
    if (!timers.delete(timer)) clearTimeout(timer);
  }) as typeof clearTimeout;
  try {
    const trail = newTrail();
    for (let i = 0; i < 8; i++) trail.audit.add({ type: "login_failed", username: "u", ip: "192.0.2.1" });
    trail.audit.add(given("a"));
    await trail.audit.flush();
    assert.is((await trail.all()).length, 6);
    trail.pass(61_000);
    for (const run of [...timers]) run();
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal((await trail.all()).map(({ fields }) => fields["count"]).slice(6), [3]);
  } finally {
    Object.assign(globalThis, { setTimeout, clearTimeout });
  }
});

test("records can be found by type, by what they are about, and by time", async () => {
  const trail = newTrail();
  trail.audit.add(given("a"));
  trail.pass(1000);
  trail.audit.add({ type: "logged_out", user: "a" });
  trail.audit.add(given("b"));
  await trail.audit.close();
  const numbers = async (query: Parameters<typeof listAudit>[1]) =>
    (await Array.fromAsync(listAudit(trail.store, query))).map(({ number }) => number);
  assert.equal(await numbers({ types: ["consent_given"] }), [1, 3]);
  assert.equal(await numbers({ about: "a" }), [1, 2]);
  assert.equal(await numbers({ since: START + 1 }), [2, 3]);
  assert.equal(await numbers({ after: 2 }), [3]);
});

test.run();
