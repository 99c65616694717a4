/**
 * Counts failed logins by network: one record for each network, with the accounts that it tried, so that guessing at many
 * accounts does not store more. Counted in the store, for all instances together. When storage for new
 * records is used up, further networks share records: none is uncounted.
 *
 * @module
 */
import { encodeBase64url } from "../../../crypto/base64url.ts";
import { secretDigest } from "../../../crypto/secret.ts";
import { sha256 } from "../../../crypto/sha256.ts";
import { createAllowance } from "../../../http/network/allowance.ts";
import { compareAndSet, putIfAbsent, type Store } from "../../../store/store.ts";
import { type Attempt, type LoginAttempts, loginAttemptsKey } from "../../records/session_record.ts";
import { blockOf, sharedName } from "./shared_attempts.ts";
import { secondsUntil } from "./throttle.ts";

/** Each wait is twice as long as the one before. */
export interface Limit {
  /** Attempts before the first wait. */
  readonly freeAttempts: number;
  readonly firstWaitSeconds: number;
  readonly maxWaitSeconds: number;
  /** After the last wait. */
  readonly retentionSeconds: number;
}

const DAY_SECONDS = 86_400;
/** For one account from one IPv4 address or IPv6 /64: 17 attempts on the first day, then one a day. */
export const NETWORK_LIMIT: Limit = {
  freeAttempts: 5,
  firstWaitSeconds: 15,
  maxWaitSeconds: DAY_SECONDS,
  retentionSeconds: DAY_SECONDS,
};
/** For all accounts from one IPv4 address or IPv6 /64. */
export const ALL_ACCOUNTS_LIMIT: Limit = {
  freeAttempts: 100,
  firstWaitSeconds: 1,
  maxWaitSeconds: 300,
  retentionSeconds: 3600,
};
/** For one account from one IPv6 /48: one subscriber may have all of its 65,536 networks. */
const SITE_LIMIT: Limit = {
  freeAttempts: 50,
  firstWaitSeconds: 15,
  maxWaitSeconds: DAY_SECONDS,
  retentionSeconds: DAY_SECONDS,
};
/** For all accounts from one block of networks that share records. */
export const BLOCK_LIMIT: Limit = {
  freeAttempts: 1000,
  firstWaitSeconds: 1,
  maxWaitSeconds: 1,
  retentionSeconds: 3600,
};
const NO_LIMIT: Limit = {
  freeAttempts: Infinity,
  firstWaitSeconds: 0,
  maxWaitSeconds: 0,
  retentionSeconds: 0,
};
/** Accounts in the record of a network. A further one replaces the one with the fewest attempts. */
export const MAX_ACCOUNTS_OF_NETWORK = 32;
export const MAX_RECORD_BYTES = 2048;
/** Storage of the records that begin within a window. Beyond it new networks share 16,384 records of at most 18 MiB. */
const MAX_NEW_RECORDS_BYTES = 46 * 1024 * 1024;
/** For one account in a block of networks, and as many for all accounts in it. */
const SHARED_RECORDS = 8192;
/** Lost races after which an attempt has to wait: so many others of this network are concurrent. */
const MAX_TRIES = 20;

export interface LoginThrottle {
  /**
   * Counts an attempt before it is made.
   * @param isBounded whether strangers cannot choose the network: it then always has a record of its own
   * @returns 0 when it may be made; else the seconds to wait, and nothing is counted
   */
  begin(account: string, network: string, isBounded?: boolean): Promise<number>;
  /** The login succeeded: resets the attempts of this network for the account. */
  succeeded(account: string, network: string): Promise<void>;
}

export function createLoginThrottle(store: Store, now: () => number): LoginThrottle {
  const allowance = createAllowance({
    perNetwork: MAX_NEW_RECORDS_BYTES,
    overall: MAX_NEW_RECORDS_BYTES,
    windowMs: 2 * DAY_SECONDS * 1000,
    now,
  });

  const waitOf = (attempt: Attempt | undefined, { maxWaitSeconds }: Limit) =>
    secondsUntil(attempt?.[1] ?? 0, now(), maxWaitSeconds);
  const isForgotten = ([, until]: Attempt, { retentionSeconds }: Limit) =>
    until + retentionSeconds * 1000 < now();
  /** The count with one more attempt, and the end of its wait. */
  const addAttempt = (attempt: Attempt | undefined, limit: Limit): Attempt => {
    const made = (attempt && !isForgotten(attempt, limit) ? attempt[0] : 0) + 1;
    const wait = made < limit.freeAttempts
      ? 0
      : Math.min(limit.maxWaitSeconds, limit.firstWaitSeconds * 2 ** Math.min(made - limit.freeAttempts, 30));
    return [made, now() + wait * 1000];
  };

  /** What the record has of the account, and of the others: those with the most attempts first. */
  const findAttempts = (accounts: LoginAttempts["accounts"], account: string, each: Limit) => {
    const { [digestOf(account)]: own, ...others } = accounts;
    const kept = Object.entries(others).filter(([, attempt]) => !isForgotten(attempt, each));
    kept.sort(([, a], [, b]) => b[0] - a[0] || b[1] - a[1]);
    // One that comes to a full record counts on from the one that it displaces: it may have been displaced itself.
    return { found: own ?? kept[MAX_ACCOUNTS_OF_NETWORK - 1]?.[1], kept };
  };

  /** The seconds to wait for the account. Counts nothing. */
  async function findWait(record: string, account: string, each: Limit): Promise<number> {
    const entry = await store.get<LoginAttempts>(loginAttemptsKey(record));
    return entry ? waitOf(findAttempts(entry.value.accounts, account, each).found, each) : 0;
  }

  /** @returns the seconds to wait, or 0; `undefined` when nothing was counted, because no new record may be stored */
  async function count(
    record: string,
    account: string,
    each: Limit,
    overall: Limit,
    isBounded: boolean,
  ): Promise<number | undefined> {
    const key = loginAttemptsKey(record);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const entry = await store.get<LoginAttempts>(key);
      const { all, accounts = {} } = entry?.value ?? {};
      const { found, kept } = findAttempts(accounts, account, each);
      const wait = Math.max(waitOf(found, each), waitOf(all, overall));
      if (wait > 0) return wait;
      const counted = addAttempt(found, each);
      const value: LoginAttempts = {
        all: addAttempt(all, overall),
        accounts: Object.fromEntries([
          ...kept.slice(0, MAX_ACCOUNTS_OF_NETWORK - 1),
          [digestOf(account), counted],
        ]),
      };
      // As long as for the account with the longest wait, whichever was tried last.
      const ends = Object.values(value.accounts).map(([, until]) => until);
      const retentionSeconds = Math.max(each.retentionSeconds, overall.retentionSeconds);
      const expires = Math.max(value.all[1], ...ends) + retentionSeconds * 1000;
      if (!entry && !isBounded && allowance.take(undefined, MAX_RECORD_BYTES) > 0) return undefined;
      const done = entry
        ? await compareAndSet(store, key, entry.version, value, expires)
        : await putIfAbsent(store, key, value, expires);
      if (done) return 0;
    }
    return 1;
  }

  /** @returns whether there is such a record */
  async function reset(record: string, account: string): Promise<boolean> {
    const entry = await store.get<LoginAttempts>(loginAttemptsKey(record));
    if (!entry) return false;
    const { [digestOf(account)]: _, ...accounts } = entry.value.accounts;
    const [made, until] = entry.value.all;
    // Losing this race leaves one count too many, which is harmless.
    await compareAndSet(store, entry.key, entry.version, { all: [made - 1, until], accounts }, entry.expires);
    return true;
  }

  /** The shared records: of the account in the block of the network, and of all accounts in it. */
  const sharedBy = (account: string, network: string) => {
    const block = blockOf(network);
    const pair = `${block} ${account}`;
    return [[sharedName(pair, SHARED_RECORDS), pair], [
      `block ${sharedName(block, SHARED_RECORDS)}`,
      "",
    ]] as const;
  };

  async function countShared(account: string, network: string): Promise<number> {
    const [[record, pair], [ofBlock, all]] = sharedBy(account, network);
    return await count(ofBlock, all, NO_LIMIT, BLOCK_LIMIT, true) ||
      await count(record, pair, NETWORK_LIMIT, NO_LIMIT, true) || 0;
  }

  return {
    async begin(account, network, isBounded = false) {
      const address = siteOf(network);
      const site = address === undefined ? undefined : secretDigest(address);
      // First: an attempt that must wait for the site counts for no network.
      const waits = site === undefined ? 0 : await findWait(site, account, SITE_LIMIT);
      if (waits) return waits;
      const own = await count(secretDigest(network), account, NETWORK_LIMIT, ALL_ACCOUNTS_LIMIT, isBounded);
      if (own) return own;
      // Last: one that must wait for its network would lock out its neighbours.
      const bySite = site === undefined ? 0 : await count(site, account, SITE_LIMIT, NO_LIMIT, isBounded);
      if (bySite) return bySite;
      return bySite === undefined || own === undefined ? await countShared(account, network) : 0;
    },
    async succeeded(account, network) {
      const site = siteOf(network);
      let isKnown = await reset(secretDigest(network), account);
      if (site !== undefined) isKnown = await reset(secretDigest(site), account) && isKnown;
      if (!isKnown) { for (const [record, name] of sharedBy(account, network)) await reset(record, name); }
    },
  };
}

/** The /48 of an IPv6 network as `networkOf` writes it: twelve hexadecimal digits. */
function siteOf(network: string): string | undefined {
  return network.endsWith("::/64") ? network.slice(0, 12) : undefined;
}

/** Short, because it only distinguishes the accounts of one network. */
function digestOf(account: string): string {
  return encodeBase64url(sha256(account).subarray(0, 8));
}
