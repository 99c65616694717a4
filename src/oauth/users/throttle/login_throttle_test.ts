import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../../store/drivers/memory.ts";
import { BLOCK_LIMIT, createLoginThrottle, NETWORK_LIMIT } from "./login_throttle.ts";

const test = suite("oauth/login_throttle");

const DAY_MS = 86_400_000;

/** How many passwords of one account a network can try each day, if it also tries other accounts in between. */
async function guessesPerDay(days: number, decoys: number): Promise<number[]> {
  const start = 1_700_000_000_000;
  let now = start;
  const throttle = createLoginThrottle(memoryStore({ now: () => now }), () => now);
  const guesses: number[] = new Array(days).fill(0);
  for (let decoy = 0; now < start + days * DAY_MS;) {
    const wait = await throttle.begin("victim", "198.51.100.7");
    if (wait === 0) {
      guesses[Math.floor((now - start) / DAY_MS)]!++;
      for (let i = 0; i < decoys; i++) await throttle.begin(`decoy ${decoy++}`, "198.51.100.7");
    } else now += wait * 1000;
  }
  return guesses;
}

test("attempts at other accounts do not shorten the memory of one account", async () => {
  const alone = await guessesPerDay(6, 0);
  assert.ok(alone[0]! < 20);
  assert.ok(alone.slice(1).every((guesses) => guesses === 1), String(alone));
  assert.equal(await guessesPerDay(6, 1), alone);
});

test("a clock that was ahead and is set back leaves no wait beyond the longest", async () => {
  let now = 1_700_000_000_000;
  const throttle = createLoginThrottle(memoryStore({ now: () => now }), () => now);
  now += 365 * DAY_MS;
  for (let i = 0; i < 10; i++) now += 1000 * await throttle.begin("alice", "198.51.100.7");
  now -= 365 * DAY_MS;
  assert.is(await throttle.begin("alice", "198.51.100.7"), 0);
  assert.ok(await throttle.begin("alice", "198.51.100.7") > 15);
});

test("attempts at many accounts do not displace what is known of one", async () => {
  let now = 1_700_000_000_000;
  const throttle = createLoginThrottle(memoryStore({ now: () => now }), () => now);
  const begin = (account: string) => throttle.begin(account, "198.51.100.7");
  const tryOnce = async (account: string): Promise<void> => {
    for (let wait = await begin(account); wait > 0; wait = await begin(account)) now += wait * 1000;
  };
  for (let decoy = 0; decoy < 31; decoy++) for (let i = 0; i < 5; i++) await tryOnce(`decoy ${decoy}`);
  const start = now;
  let guesses = 0;
  for (let name = 0; now < start + 86_400_000; name++) {
    for (let i = 0; i < 4; i++) if (await begin("victim") === 0) guesses++;
    await tryOnce(`new ${name}`);
    // The limit of all accounts is forgotten meanwhile.
    if (name % 19 === 18) now += 4_000_000;
  }
  assert.ok(guesses < 20, String(guesses));
});

test("attack: attempts of one IPv6 network during its wait do not lock its neighbours out of the account", async () => {
  let now = 1_700_000_000_000;
  const throttle = createLoginThrottle(memoryStore({ now: () => now }), () => now);
  let made = 0;
  for (let i = 0; i < 500; i++) {
    const all = await Promise.all([1, 2].map(() => throttle.begin("alice", "20010db800010001::/64")));
    made += all.filter((wait) => wait === 0).length;
    now += 10_000;
  }
  assert.ok(made < 20, String(made));
  assert.is(await throttle.begin("alice", "20010db800010002::/64"), 0);
});

test("attack: one who has all networks of an IPv6 /48 gets no more than its limit", async () => {
  const now = () => 1_700_000_000_000;
  const throttle = createLoginThrottle(memoryStore({ now }), now);
  const networkOf = (i: number) => `20010db80001${i.toString(16).padStart(4, "0")}::/64`;
  assert.is(await countMade(200, (i) => throttle.begin("alice", networkOf(i))), 50);
  // What waits for the site counts for no network.
  const waits = await Promise.all(Array.from({ length: 10 }, () => throttle.begin("alice", networkOf(999))));
  assert.ok(waits.every((wait) => wait > 0 && wait <= 15), String(waits));
});

test("what waits for a /48 counts for no network, also for an account that finds its record full", async () => {
  let now = 1_700_000_000_000;
  const throttle = createLoginThrottle(memoryStore({ now: () => now }), () => now);
  const networkOf = (i: number) => `20010db80001${i.toString(16).padStart(4, "0")}::/64`;
  for (let account = 0; account < 32; account++) {
    await countMade(50, (i) => throttle.begin(`x${account}`, networkOf(account * 50 + i)));
  }
  const begin = () => throttle.begin("alice", networkOf(9999));
  assert.is(await countMade(4, begin), 0);
  now += 14_000;
  assert.is(await countMade(4, begin), 0);
  now += 2000;
  assert.is(await begin(), 0);
});

/** A throttle after wrong logins from so many networks that no new record may be stored. */
async function floodedThrottle() {
  const store = memoryStore({ now: () => 1_700_000_000_000 });
  const throttle = createLoginThrottle(store, () => 1_700_000_000_000);
  assert.is(await throttle.begin("alice", KNOWN), 0);
  await throttle.succeeded("alice", KNOWN);
  for (let i = 0; i < 33_000; i++) {
    await throttle.begin(`x${i}`, `20.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
  }
  return { throttle, store };
}
const KNOWN = "203.0.113.1";
/** How many of these attempts may be made. */
async function countMade(attempts: number, begin: (i: number) => Promise<number>): Promise<number> {
  let made = 0;
  for (let i = 0; i < attempts; i++) if (await begin(i) === 0) made++;
  return made;
}

test("attack: wrong logins from many networks do not switch the limits off", async () => {
  const { throttle, store } = await floodedThrottle();
  const { freeAttempts } = NETWORK_LIMIT;
  for (const network of ["198.51.100.77", "20010db800010002::/64"]) {
    assert.is(await countMade(100, () => throttle.begin("alice", network)), freeAttempts, network);
  }
  assert.is(
    await countMade(100, () => throttle.begin("alice", "198.51.7.7")),
    0,
    "another of the same block",
  );
  const perNetwork = await countMade(2000, (i) => throttle.begin(`u${i}`, "192.0.2.1"));
  assert.ok(perNetwork <= BLOCK_LIMIT.freeAttempts, String(perNetwork));
  const bytes = (await store.list(["attempts"], { limit: 100_000 })).length * 2048;
  assert.ok(bytes <= 64 * 1024 * 1024, String(bytes));
});

test("during such a flood a known network, another block and a right password are not stopped", async () => {
  const { throttle } = await floodedThrottle();
  await countMade(100, () => throttle.begin("alice", "203.0.1.1"));
  assert.is(await throttle.begin("alice", KNOWN), 0, "it has a record of its own");
  assert.is(await throttle.begin("alice", "192.0.2.1"), 0, "another block");
  await throttle.succeeded("alice", "192.0.2.1");
  for (let i = 0; i < 50; i++) {
    assert.is(await throttle.begin("alice", "192.0.2.2"), 0, `good attempt ${i}`);
    await throttle.succeeded("alice", "192.0.2.2");
  }
});

test("attack: such a flood does not switch off the limit of what strangers cannot choose", async () => {
  const { throttle } = await floodedThrottle();
  for (let user = 0; user < 50; user++) {
    const made = await countMade(20, () => throttle.begin("second factor", `user ${user}`, true));
    assert.is(made, NETWORK_LIMIT.freeAttempts, "each has a record of its own");
  }
});

test.run();
