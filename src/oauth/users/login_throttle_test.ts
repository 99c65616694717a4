import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { createLoginThrottle } from "./login_throttle.ts";

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

test.run();
