import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../store/drivers/memory.ts";
import { type Store, StoreUnavailableError } from "../store/store.ts";
import { parseLimit } from "./limit.ts";
import { createSharedCount, rateLimitKey } from "./shared_count.ts";
import { secretDigest } from "../crypto/secret.ts";

const test = suite("rate_limits/shared_count");
const LIMIT = parseLimit("address", "200/1m")!;
const PORTION = 10;
const START = Date.UTC(2026, 0, 1);

/** Instances on one store, and how many calls of the store they made. */
function setUp(instances: number, limit = LIMIT) {
  let at = START;
  let calls = 0;
  let isDown = false;
  const failures: unknown[] = [];
  const now = () => at;
  const inner = memoryStore({ now });
  const call = <Result>(run: () => Promise<Result>): Promise<Result> => {
    calls++;
    return isDown ? Promise.reject(new StoreUnavailableError("down")) : run();
  };
  const store: Store = {
    ...inner,
    get: (key, options) => call(() => inner.get(key, options)),
    commit: (commit) => call(() => inner.commit(commit)),
  };
  const onFailure = (error: unknown) => failures.push(error);
  const counts = Array.from({ length: instances }, () => createSharedCount(limit, { store, now, onFailure }));
  /** Whether the request was allowed. */
  const send = async (instance: number, name = "192.0.2.1"): Promise<boolean> => {
    const count = counts[instance]!;
    const caller = count.find(name);
    if (count.countRemaining(caller) === 0) return false;
    await count.add(caller);
    return true;
  };
  return {
    counts,
    failures,
    store: inner,
    send,
    /** Requests that are allowed of so many, spread over the instances. */
    async sendMany(requests: number): Promise<number> {
      let allowed = 0;
      for (let i = 0; i < requests; i++) if (await send(i % instances)) allowed++;
      return allowed;
    },
    advance: (seconds: number) => void (at += seconds * 1000),
    takeCalls() {
      const taken = calls;
      calls = 0;
      return taken;
    },
    setDown: (value: boolean) => void (isDown = value),
  };
}

test("one instance allows exactly the limit in a window, and the rest later", async () => {
  const { sendMany, advance, counts } = setUp(1);
  assert.is(await sendMany(500), 200);
  const wait = counts[0]!.findReset(counts[0]!.find("192.0.2.1"));
  advance(wait - 1);
  assert.is(await sendMany(1), 0);
  advance(1);
  assert.is(await sendMany(500), 200);
});

test("three instances allow at most one portion each beyond the limit, in any window", async () => {
  const { sendMany, advance } = setUp(3);
  const allowed: number[] = [];
  // 80 requests every two seconds: twelve times the limit.
  for (let step = 0; step < 120; step++) {
    allowed.push(await sendMany(80));
    advance(2);
  }
  for (let from = 0; from + 30 <= allowed.length; from++) {
    const sum = allowed.slice(from, from + 30).reduce((all, each) => all + each, 0);
    assert.ok(sum <= 200 + 3 * PORTION, `${sum} from step ${from}`);
  }
  const all = allowed.reduce((sum, each) => sum + each, 0);
  assert.ok(all >= 3 * 200, `${all} in four windows`);
});

test("an instance that knows nothing yet allows at most one portion", async () => {
  const { send, sendMany } = setUp(2);
  for (let i = 0; i < 300; i++) await send(0);
  let allowed = 0;
  for (let i = 0; i < 300; i++) if (await send(1)) allowed++;
  assert.is(allowed, PORTION);
  assert.is(await sendMany(10), 0);
});

test("instances share a limit of less than one", async () => {
  const { counts } = setUp(2, { ...LIMIT, requests: 0.5 });
  const [one, two] = counts;
  for (let i = 0; i < 5; i++) await one!.add(one!.find("192.0.2.1"), 0.1);
  await two!.add(two!.find("192.0.2.1"), 0.025);
  assert.is(two!.countRemaining(two!.find("192.0.2.1")), 0);
});

test("a portion costs two calls of the store; less than a portion and refused requests cost none", async () => {
  const { send, sendMany, takeCalls } = setUp(1);
  for (let address = 0; address < 100; address++) {
    for (let i = 0; i < PORTION - 1; i++) await send(0, `192.0.2.${address}`);
  }
  assert.is(takeCalls(), 0);
  await sendMany(300);
  assert.ok(takeCalls() <= 2 * (200 / PORTION), "one report for each portion");
  await sendMany(1000);
  assert.is(takeCalls(), 0);
});

test("concurrent requests wait for a report under way, so the bound holds", async () => {
  const { counts, store } = setUp(1);
  const count = counts[0]!;
  const caller = count.find("192.0.2.1");
  const pending = Array.from({ length: PORTION }, () => count.add(caller));
  assert.ok(pending.at(-1) instanceof Promise);
  assert.ok(caller.reporting instanceof Promise);
  await pending.at(-1);
  assert.is(caller.reporting, undefined);
  const entry = await store.get<[number, number][]>(
    rateLimitKey("address=200/60s", secretDigest("192.0.2.1")),
  );
  assert.is(entry!.value.reduce((sum, [, amount]) => sum + amount, 0), PORTION);
  assert.is(entry!.expires, START + 60_000 + 3750);
});

test("while the store is unavailable each instance counts by itself, and reports later", async () => {
  const { sendMany, setDown, failures, advance, send } = setUp(2);
  setDown(true);
  assert.is(await sendMany(1000), 400, "the limit for each of two instances");
  assert.is(failures.length, 2, "one failed report for each instance, then a pause");
  assert.is(await send(0), false);
  setDown(false);
  advance(70);
  assert.ok(await sendMany(1000) >= 200);
});

test("after the clock was set back a caller waits for two windows at most", async () => {
  const { sendMany, advance } = setUp(2);
  advance(86_400);
  await sendMany(500);
  advance(-86_400);
  assert.is(await sendMany(100), 0, "still counted");
  advance(64);
  assert.ok(await sendMany(500) > 0, "then what others counted before is found once more");
  advance(64);
  assert.ok(await sendMany(500) >= 200);
});

test("a clock that jumps ahead forgets what was counted, once", async () => {
  const { sendMany, advance } = setUp(2);
  await sendMany(500);
  advance(86_400);
  const allowed = await sendMany(1000);
  assert.ok(allowed >= 200 && allowed <= 200 + 2 * PORTION, String(allowed));
});

test("what the store holds is neither the caller's address nor their name", async () => {
  const { send, store } = setUp(1);
  for (let i = 0; i < 20; i++) await send(0, "192.0.2.77");
  const [entry] = await store.list(["rate_limit"]);
  assert.not.match(JSON.stringify(entry), "192.0.2.77");
});

test("callers with different limits of one name are not mixed up", async () => {
  const { counts, send, store } = setUp(1);
  assert.is(counts.length, 1);
  for (let i = 0; i < 20; i++) await send(0);
  const other = createSharedCount(parseLimit("address", "200/1h")!, {
    store,
    now: () => START,
    onFailure: () => {},
  });
  assert.is(other.countRemaining(other.find("192.0.2.1")), 200);
});

test.run();
