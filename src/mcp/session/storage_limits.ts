/**
 * How much callers may have stored through the tool server: subscriptions, tasks, what streams carried, and the ends of
 * sessions. Counted in memory of this instance, without a store call, as bytes for as long as they are kept.
 *
 * @module
 */
import { type Allowance, createAllowance } from "../../http/network/allowance.ts";
import type { Principal } from "../../http/principal.ts";
import { networkOf } from "../../http/network/network.ts";
import type { RequestContext } from "../../http/service.ts";
import { LimitError } from "../error.ts";
import { principalKey } from "./principal_key.ts";

/** Bytes. */
export interface StorageLimits {
  /** Of the subscriptions of one session of a caller with a token. */
  readonly session: number;
  /** Of the subscriptions of one anonymous session. */
  readonly anonymousSession: number;
  /** Of everything that one caller with a token has stored. */
  readonly caller: number;
  /** Of everything that anonymous callers of one network have stored. */
  readonly network: number;
  /** Of everything that all anonymous callers together have stored. */
  readonly anonymous: number;
}

export const STORAGE_LIMITS: StorageLimits = {
  session: 256 * 1024,
  anonymousSession: 64 * 1024,
  caller: 256 * 1024 * 1024,
  network: 16 * 1024 * 1024,
  anonymous: 256 * 1024 * 1024,
};

/** Bytes that a record has beside what is counted: its key, and the engine's own. */
export const RECORD_BYTES = 200;

/** Bytes of a record that holds a JSON value. */
export function recordBytes(value: unknown): number {
  return RECORD_BYTES + (JSON.stringify(value)?.length ?? 0);
}

/** Who has something stored: a call, or a request that is none. */
export interface Storing {
  readonly principal: Principal | undefined;
  readonly runtime: RequestContext | undefined;
}

const HOUR_MS = 3_600_000;

export class StorageAllowance {
  readonly limits: StorageLimits;
  readonly #anonymous: Allowance;
  readonly #callers: Allowance;

  constructor(limits: StorageLimits, now: () => number) {
    this.limits = limits;
    const windowMs = HOUR_MS;
    this.#anonymous = createAllowance({
      perNetwork: limits.network,
      overall: limits.anonymous,
      windowMs,
      now,
    });
    this.#callers = createAllowance({ perNetwork: limits.caller, overall: Infinity, windowMs, now });
  }

  /**
   * Takes room for bytes that are kept for so many milliseconds.
   * @throws {LimitError} when the caller has none left
   */
  take(storing: Storing, bytes: number, lifetimeMs: number): void {
    const retryAfter = this.#take(storing, bytes, lifetimeMs);
    if (retryAfter === 0) return;
    const isOwn = storing.principal !== undefined || networkOf(storing.runtime ?? {}) !== undefined;
    throw new LimitError("Storage limit reached for this caller", retryAfter, isOwn ? 429 : 503);
  }

  /** The same, for what can be left out: `false` when there is no room. */
  has(storing: Storing, bytes: number, lifetimeMs: number): boolean {
    return this.#take(storing, bytes, lifetimeMs) === 0;
  }

  /** Gives back what is stored no longer. */
  giveBack({ principal, runtime }: Storing, bytes: number, lifetimeMs: number): void {
    const amount = amountOf(bytes, lifetimeMs);
    if (principal) this.#callers.giveBack(principalKey(principal), amount);
    else this.#anonymous.giveBack(networkOf(runtime ?? {}), amount);
  }

  #take({ principal, runtime }: Storing, bytes: number, lifetimeMs: number): number {
    const amount = amountOf(bytes, lifetimeMs);
    return principal
      ? this.#callers.take(principalKey(principal), amount)
      : this.#anonymous.take(networkOf(runtime ?? {}), amount);
  }
}

/** What is kept for two hours takes the room of two windows. */
function amountOf(bytes: number, lifetimeMs: number): number {
  return Math.ceil(bytes * Math.max(1, lifetimeMs / HOUR_MS));
}
