/**
 * Wrong passwords, counted by where they came from: one record for each network, with the accounts that it tried, so that
 * what guessing stores is bounded by the networks that guess. Counted in the store, for all instances together.
 *
 * @module
 */
import { encodeBase64url } from "../../crypto/base64url.ts";
import { secretDigest } from "../../crypto/secret.ts";
import { sha256 } from "../../crypto/sha256.ts";
import { createAllowance } from "../../http/network/allowance.ts";
import { compareAndSet, putIfAbsent, type Store } from "../../store/store.ts";
import { type Attempt, type LoginAttempts, loginAttemptsKey } from "../records.ts";

/** How many attempts go before the first wait, and how waits grow: each is twice the one before. All in seconds. */
export interface Limit {
  readonly free: number;
  readonly first: number;
  readonly longest: number;
  /** For so long after the last wait the attempts are remembered. */
  readonly remembered: number;
}

const DAY = 86_400;
/** Of an IPv4 address or an IPv6 /64 for one account: 17 in a first day, then one a day. */
export const NETWORK_LIMIT: Limit = { free: 5, first: 15, longest: DAY, remembered: DAY };
/** Of the same for all accounts. */
export const ALL_ACCOUNTS_LIMIT: Limit = { free: 100, first: 1, longest: 300, remembered: 3600 };
/** Of an IPv6 /48 for one account: one subscriber may have all of its 65,536 networks. */
export const SITE_LIMIT: Limit = { free: 50, first: 15, longest: DAY, remembered: DAY };
const NO_LIMIT: Limit = { free: Infinity, first: 0, longest: 0, remembered: 0 };
/** Accounts of one network that are counted; one more takes the place of the one with the fewest attempts. */
export const MAX_ACCOUNTS_OF_NETWORK = 32;
/** Of a record; and of all records of a day, past which new networks are not counted. */
export const MAX_LEDGER_BYTES = 2048;
export const MAX_LEDGERS_BYTES: number = 64 * 1024 * 1024;
/** Lost races after which the answer is to wait: there are that many others of this network at this very moment. */
const MAX_TRIES = 20;

export interface LoginLedger {
  /** Counts an attempt before it is made. @returns the seconds to wait, and then counts nothing; 0 when it may be made */
  begin(account: string, network: string): Promise<number>;
  /** The password was right: what this network tried for the account is forgotten. */
  succeeded(account: string, network: string): Promise<void>;
}

export function createLoginLedger(store: Store, now: () => number): LoginLedger {
  const room = createAllowance({
    perNetwork: MAX_LEDGERS_BYTES,
    overall: MAX_LEDGERS_BYTES,
    windowMs: 2 * DAY * 1000,
    now,
  });

  const waitOf = (attempt: Attempt | undefined) =>
    Math.max(0, Math.ceil(((attempt?.[1] ?? 0) - now()) / 1000));
  const isForgotten = ([, until]: Attempt, { remembered }: Limit) => until + remembered * 1000 < now();
  /** One attempt more, and until when there may be no other. */
  const after = (attempt: Attempt | undefined, limit: Limit): Attempt => {
    const made = (attempt && !isForgotten(attempt, limit) ? attempt[0] : 0) + 1;
    const wait = made < limit.free
      ? 0
      : Math.min(limit.longest, limit.first * 2 ** Math.min(made - limit.free, 30));
    return [made, now() + wait * 1000];
  };

  async function count(place: string, account: string, each: Limit, overall: Limit): Promise<number> {
    const key = loginAttemptsKey(secretDigest(place));
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const entry = await store.get<LoginAttempts>(key);
      const { all, accounts = {} } = entry?.value ?? {};
      const name = digestOf(account);
      const { [name]: found, ...others } = accounts;
      const wait = Math.max(waitOf(found), waitOf(all));
      if (wait > 0) return wait;
      const kept = Object.entries(others).filter(([, attempt]) => !isForgotten(attempt, each));
      kept.sort(([, a], [, b]) => b[0] - a[0] || b[1] - a[1]);
      const counted = after(found, each);
      const value: LoginAttempts = {
        all: after(all, overall),
        accounts: Object.fromEntries([...kept.slice(0, MAX_ACCOUNTS_OF_NETWORK - 1), [name, counted]]),
      };
      const expires = Math.max(value.all[1], counted[1]) + each.remembered * 1000;
      if (!entry && room.take(undefined, MAX_LEDGER_BYTES) > 0) return 0;
      const done = entry
        ? await compareAndSet(store, key, entry.version, value, expires)
        : await putIfAbsent(store, key, value, expires);
      if (done) return 0;
    }
    return 1;
  }

  async function forget(place: string, account: string): Promise<void> {
    const entry = await store.get<LoginAttempts>(loginAttemptsKey(secretDigest(place)));
    if (!entry) return;
    const { [digestOf(account)]: _, ...accounts } = entry.value.accounts;
    const [made, until] = entry.value.all;
    // Losing this race leaves one count too many.
    await compareAndSet(store, entry.key, entry.version, { all: [made - 1, until], accounts }, entry.expires);
  }

  return {
    async begin(account, network) {
      const site = siteOf(network);
      const wait = site === undefined ? 0 : await count(site, account, SITE_LIMIT, NO_LIMIT);
      return wait > 0 ? wait : await count(network, account, NETWORK_LIMIT, ALL_ACCOUNTS_LIMIT);
    },
    async succeeded(account, network) {
      const site = siteOf(network);
      await forget(network, account);
      if (site !== undefined) await forget(site, account);
    },
  };
}

/** The /48 of an IPv6 network, as `networkOf` writes it: twelve digits are 48 bits. */
function siteOf(network: string): string | undefined {
  return network.endsWith("::/64") ? network.slice(0, 12) : undefined;
}

/** Short, since it only tells the accounts of one network apart. */
function digestOf(account: string): string {
  return encodeBase64url(sha256(account).subarray(0, 8));
}
