/**
 * A model of a botnet that guesses passwords while the account's owner signs in: the real `login_attempt.ts` on a
 * simulated clock, with hashes that only take time. Only tests and `scripts/simulate_botnet.ts` import this.
 *
 * @module
 */
import { createPasswordMemory, type PasswordMemory } from "../../crypto/password_memory.ts";
import { soleSecret } from "../../crypto/server_secrets.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { createDeviceCookie } from "../users/device_cookie.ts";
import { attemptLogin } from "../users/login_attempt.ts";
import { createLoginThrottle } from "../users/throttle/login_throttle.ts";
import { createPasswordQueue, MAX_CONCURRENT_HASHES } from "../users/password_queue.ts";
import { createRecentCounts } from "../users/throttle/recent_counts.ts";
import { type User, userKey, usernameKey } from "../records/user_record.ts";
import { createThrottle } from "../users/throttle/throttle.ts";

export interface Botnet {
  /** Number of addresses that send guesses. */
  readonly bots: number;
  /** Guesses per second, each from an address drawn at random. */
  readonly rate: number;
  /** What the server knows of an address; `unknown` behind a proxy that hides it. */
  readonly addresses: "v4" | "v6" | "unknown";
  /** Number of attacked accounts, equally likely. The owner has the first. */
  readonly accounts: number;
  readonly hours: number;
  /** The server starts under the attack, so it remembers no password until the owner signs in. */
  readonly cold?: boolean;
  /** Milliseconds that one hash takes on one of the two processors. @default 150 */
  readonly hashMs?: number;
}

/** How the owner signs in. Each login comes from an address that the server has not seen before. */
export const OWNERS = ["device cookie", "fresh browser", "a wrong try before"] as const;
export type Owner = (typeof OWNERS)[number];

export interface Outcome {
  /** Guesses that the botnet sent. */
  readonly sent: number;
  /** Guesses that the server compared with the owner's password. */
  readonly checked: number;
  /** The owner's longest wait in milliseconds, from the first try with the right password to the session. */
  readonly longest: Readonly<Record<Owner, number>>;
  /** The same for the last nine tenths of the run, when each bot has used its free guesses. */
  readonly longestLater: Readonly<Record<Owner, number>>;
  readonly logins: number;
  /** The share of both processors that hashes use. */
  readonly load: number;
  /** Records in the store at the end. */
  readonly records: number;
}

const SECRETS = soleSecret(new Uint8Array(32).fill(7));
const RIGHT = "right";
/** Seconds between two logins of the owner. */
const LOGIN_INTERVAL_S = 5;
const MAX_OWNER_TRIES = 20;

/** Runs the model; the result is the same each time. */
export async function simulate(botnet: Botnet): Promise<Outcome> {
  const { bots, rate, addresses, accounts, hours, cold = false, hashMs = 150 } = botnet;
  const world = createWorld(hashMs, cold);
  for (let i = 0; i < accounts; i++) await world.addUser(`user-${i}`);
  const random = createRandom();
  const end = hours * 3_600_000;
  const longest = { "device cookie": 0, "fresh browser": 0, "a wrong try before": 0 };
  const longestLater = { ...longest };
  /** The end of each bot's `Retry-After` for each account. A guess before that would be refused without being compared. */
  const until = new Map<number, number>();
  let sent = 0;
  let logins = 0;
  let stranger = 0;
  let nextLogin = LOGIN_INTERVAL_S * 1000;
  const owners: Promise<void>[] = [];
  const cookie = await world.deviceCookie("user-0");
  // The owner signs in once before the attack, so that the server remembers the password unless it is cold.
  owners.push(world.attempt("user-0", RIGHT, undefined).then(() => {}));
  await world.advanceTo(1000);

  async function ownerSignsIn(kind: Owner): Promise<void> {
    const ip = addresses === "unknown" ? undefined : addressOf(addresses, 1_000_000 + stranger++);
    const headers = kind === "device cookie" ? { cookie } : undefined;
    if (kind === "a wrong try before") await world.attempt("user-0", "typo", ip, headers);
    const started = world.now();
    for (let tries = 0; tries < MAX_OWNER_TRIES; tries++) {
      const { user, wait } = await world.attempt("user-0", RIGHT, ip, headers);
      if (user) break;
      await world.sleep(wait * 1000);
    }
    const waited = world.now() - started;
    logins++;
    longest[kind] = Math.max(longest[kind], waited);
    if (started > end / 10) longestLater[kind] = Math.max(longestLater[kind], waited);
  }

  for (let at = 1000; at < end; at += 1000 / rate) {
    await world.advanceTo(at);
    if (at >= nextLogin) {
      nextLogin += LOGIN_INTERVAL_S * 1000;
      owners.push(ownerSignsIn(OWNERS[owners.length % OWNERS.length]!));
      await world.settle();
    }
    sent++;
    const bot = Math.floor(random() * bots);
    const account = Math.floor(random() * accounts);
    const series = bot * accounts + account;
    if ((until.get(series) ?? 0) > at) continue;
    const ip = addresses === "unknown" ? undefined : addressOf(addresses, bot);
    void world.attempt(`user-${account}`, "guess", ip).then(({ wait }) => {
      if (wait > 2) until.set(series, world.now() + wait * 1000);
    });
    await world.settle();
  }
  // Lets the owners wait as long as Retry-After says.
  await world.advanceTo(Infinity);
  await Promise.all(owners);
  const load = world.hashes() * hashMs / (end * MAX_CONCURRENT_HASHES);
  return {
    sent,
    checked: world.checked(),
    longest,
    longestLater,
    logins,
    load,
    records: await world.records(),
  };
}

/** Public addresses; each IPv6 address is in its own /48, like a botnet of households. */
function addressOf(kind: "v4" | "v6", i: number): string {
  // Multiplying by an odd number avoids neighbouring addresses.
  const spread = Math.imul(i, 0x9e3779b1) >>> 8;
  return kind === "v4"
    ? `20.${spread >> 16}.${(spread >> 8) & 255}.${spread & 255}`
    : `2a00:${(i >> 12).toString(16)}:${(i & 4095).toString(16)}:1::1`;
}

function createWorld(hashMs: number, cold: boolean) {
  let at = 0;
  let hashes = 0;
  let checked = 0;
  let ownerHash = "";
  const now = () => at;
  const store = memoryStore({ now });
  /** Pending timers, soonest first. */
  const timers: { readonly at: number; readonly happen: () => void }[] = [];
  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      const due = at + ms;
      const place = timers.findIndex((timer) => timer.at > due);
      timers.splice(place < 0 ? timers.length : place, 0, { at: due, happen: resolve });
    });
  const memory = createPasswordMemory(now);
  const passwordMemory: PasswordMemory = {
    ...memory,
    knows(password, hash) {
      if (hash === ownerHash && password !== RIGHT) checked++;
      return !cold && memory.knows(password, hash);
    },
  };
  // Only the members that an attempt reads.
  const as = {
    store,
    now,
    secure: true,
    base: "",
    secret: () => SECRETS,
    observe: () => {},
    throttle: createThrottle(store, now),
    loginThrottle: createLoginThrottle(store, now),
    passwordIterations: 1,
    passwords: {
      hash: (password: string) => Promise.resolve(`hash of ${password}`),
      async verify(password: string) {
        hashes++;
        await sleep(hashMs);
        return { valid: password === RIGHT, outdated: false, unsupported: false };
      },
    },
    passwordMemory,
    passwordQueue: createPasswordQueue(now),
    wrongGuesses: createRecentCounts(now),
    authenticateUser: undefined,
  } as unknown as AuthorizationServer;
  const anonymous = new Request("https://as.example/login");

  /** Runs everything that is ready at the current time. */
  async function settle(): Promise<void> {
    for (let i = 0; i < 60; i++) await undefined;
  }

  return {
    now,
    sleep,
    settle,
    hashes: () => hashes,
    checked: () => checked,
    records: async () => (await store.list(["attempts"], { limit: 10_000_000 })).length,
    async addUser(username: string): Promise<void> {
      const password = `hash of ${username}`;
      ownerHash ||= password;
      const user: User = { id: username, username, name: username, email: "", password, created: 0 };
      await store.commit({
        set: [{ key: usernameKey(username), value: username }, { key: userKey(username), value: user }],
      });
    },
    async deviceCookie(account: string): Promise<string> {
      return (await createDeviceCookie(as, anonymous, account)).split(";")[0]!;
    },
    attempt(username: string, password: string, ip: string | undefined, headers?: Record<string, string>) {
      const request = headers ? new Request(anonymous.url, { headers }) : anonymous;
      return attemptLogin(as, new Map([["username", username], ["password", password]]), request, { ip });
    },
    async advanceTo(time: number): Promise<void> {
      while (timers.length > 0 && timers[0]!.at <= time) {
        const { at: due, happen } = timers.shift()!;
        at = due;
        happen();
        await settle();
      }
      if (time < Infinity) at = time;
    },
  };
}

/** Pseudo-random numbers from 0 to 1, the same in each run (mulberry32). */
function createRandom(): () => number {
  let state = 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
