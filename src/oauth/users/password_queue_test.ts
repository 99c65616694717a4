import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  createPasswordQueue,
  MAX_ATTEMPT_WAIT_MS,
  MAX_CONCURRENT_HASHES,
  MAX_TRUSTED_ATTEMPTS,
  MAX_WAITING_ATTEMPTS,
  NOT_VERIFIED,
  type PasswordAttempt,
} from "./password_queue.ts";

const test = suite("oauth/password_queue");

function newQueue() {
  let at = 0;
  const queue = createPasswordQueue(() => at);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const outcomes = new Map<string, unknown>();
  return {
    begun,
    outcomes,
    advance: (ms: number) => void (at += ms),
    ask(name: string, attempt: Partial<PasswordAttempt> = {}) {
      queue.run({ account: name, network: "203.0.113.1", trusted: false, ...attempt }, () => {
        begun.push(name);
        return new Promise<string>((resolve) => ends.push(() => resolve(name)));
      }).then((outcome) => outcomes.set(name, outcome));
    },
    running: () => ends.length,
    /** Ends the first running hash, so that the next one begins. */
    async endOne() {
      ends.shift()!();
      for (let i = 0; i < 10; i++) await undefined;
    },
  };
}

/** A queue that runs MAX_CONCURRENT_HASHES hashes. */
function newBusyQueue() {
  const queue = newQueue();
  for (let i = 0; i < MAX_CONCURRENT_HASHES; i++) queue.ask(`busy ${i}`, { network: `198.51.100.${i}` });
  assert.is(queue.begun.length, MAX_CONCURRENT_HASHES);
  queue.begun.length = 0;
  return queue;
}

async function orderOf(queue: ReturnType<typeof newQueue>): Promise<string[]> {
  const { length } = queue.begun;
  for (let ended = 0; ended < length + 40 && queue.running() > 0; ended++) await queue.endOne();
  return queue.begun;
}

test("the queue runs at most MAX_CONCURRENT_HASHES hashes at once, and each caller gets its own result", async () => {
  const queue = newQueue();
  for (let i = 0; i < 6; i++) queue.ask(`a${i}`, { network: `20.0.${i}.1` });
  assert.equal(queue.begun, ["a0", "a1"]);
  await queue.endOne();
  assert.equal(queue.begun, ["a0", "a1", "a2"]);
  await queue.endOne();
  await queue.endOne();
  assert.equal([...queue.outcomes], [["a0", "a0"], ["a1", "a1"], ["a2", "a2"]]);
});

test("a browser that signed in before goes first, then the network with the fewest attempts", async () => {
  const queue = newBusyQueue();
  for (let i = 0; i < 3; i++) queue.ask(`guesser ${i}`, { network: "20.0.0.1", account: "alice" });
  queue.ask("newcomer", { network: "21.0.0.1", account: "alice" });
  queue.ask("owner", { network: "20.0.0.1", account: "alice", trusted: true });
  // Guesser 0 and the newcomer had no attempts before; guesser 0 arrived earlier.
  assert.equal(await orderOf(queue), ["owner", "guesser 0", "newcomer", "guesser 1", "guesser 2"]);
});

test("attack: a user whose browser signed in before does not keep all others waiting", async () => {
  for (const network of ["20.0.0.1", undefined]) {
    const queue = newBusyQueue();
    const attempt = { network, account: "mallory", trusted: true };
    for (let i = 0; i < MAX_WAITING_ATTEMPTS; i++) queue.ask(`mallory ${i}`, attempt);
    queue.ask("alice", { network: "21.0.0.1" });
    queue.ask("bob", { network: "20.0.0.1", trusted: true });
    const order = await orderOf(queue);
    assert.ok(order.indexOf("bob") >= 0 && order.indexOf("bob") <= MAX_TRUSTED_ATTEMPTS + 1, order.join());
    const place = order.indexOf("alice");
    assert.ok(place > 0 && place <= MAX_TRUSTED_ATTEMPTS + 2, `${place} ${network}`);
  }
});

test("between networks with equal counts the account with fewer attempts goes first", async () => {
  const queue = newBusyQueue();
  for (let i = 0; i < 3; i++) queue.ask(`at alice ${i}`, { network: `20.0.${i}.1`, account: "alice" });
  queue.ask("at bob", { network: "21.0.0.1", account: "bob" });
  assert.equal(await orderOf(queue), ["at alice 0", "at bob", "at alice 1", "at alice 2"]);
});

test("IPv6 networks of one /48 are counted together", async () => {
  const queue = newBusyQueue();
  for (let i = 0; i < 16; i++) {
    queue.ask(`site ${i}`, {
      network: `2a0000010002${i.toString(16).padStart(4, "0")}::/64`,
      account: `${i}`,
    });
  }
  queue.ask("elsewhere", { network: "2a00000200020001::/64", account: "0" });
  const order = await orderOf(queue);
  assert.ok(order.indexOf("elsewhere") < order.indexOf("site 12"), order.join());
});

test("unknown and known networks alternate", async () => {
  const queue = newBusyQueue();
  for (let i = 0; i < 3; i++) queue.ask(`known ${i}`, { network: `20.0.${i}.1`, account: `k${i}` });
  for (let i = 0; i < 3; i++) queue.ask(`unknown ${i}`, { network: undefined, account: `u${i}` });
  const order = await orderOf(queue);
  assert.ok(order.slice(0, 2).some((name) => name.startsWith("known")), order.join());
  assert.ok(order.slice(0, 2).some((name) => name.startsWith("unknown")), order.join());
});

test("an attempt that waits too long ends, and a full queue ends an attempt of the network with the most attempts", async () => {
  const queue = newBusyQueue();
  queue.ask("late");
  queue.advance(MAX_ATTEMPT_WAIT_MS);
  await queue.endOne();
  assert.is(queue.outcomes.get("late"), NOT_VERIFIED);
  for (let i = 0; i <= MAX_WAITING_ATTEMPTS; i++) {
    queue.ask(`many ${i}`, { network: "20.0.0.1", account: "a" });
  }
  queue.ask("owner", { network: "21.0.0.1", account: "a" });
  await queue.endOne();
  assert.ok(
    [...queue.outcomes].some(([name, outcome]) => name.startsWith("many") && outcome === NOT_VERIFIED),
  );
  assert.ok(queue.begun.includes("owner"));
});

test("a failing hash rejects its attempt, and the next attempt begins", async () => {
  const queue = createPasswordQueue(() => 0);
  const attempt = { account: "a", network: undefined, trusted: false };
  for (let i = 0; i < 5; i++) {
    const failed = await queue.run(attempt, () => Promise.reject(new Error("no store"))).catch((error) =>
      error
    );
    assert.instance(failed, Error);
  }
  assert.is(await queue.run(attempt, () => Promise.resolve("done")), "done");
});

test.run();
