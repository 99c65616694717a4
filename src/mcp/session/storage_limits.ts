/**
 * Limits how much a caller may store through the MCP server: subscriptions, tasks, event logs, and ends of sessions. Counted
 * in the memory of the instance, without a store call, in bytes times lifetime.
 *
 * @module
 */
import { type Allowance, createAllowance } from "../../http/network/allowance.ts";
import type { Principal } from "../../http/principal.ts";
import { networkOf } from "../../http/network/network.ts";
import type { RequestContext } from "../../http/service.ts";
import { LimitError } from "./limit_error.ts";
import { principalKey } from "./principal_key.ts";

/** Maximum bytes stored, for an hour. */
export interface StorageLimits {
  /** Subscriptions of one session with a token. */
  readonly session: number;
  /** Subscriptions of one anonymous session. */
  readonly anonymousSession: number;
  /** Everything of one caller with a token. */
  readonly caller: number;
  /** Everything of the anonymous callers of one network. */
  readonly network: number;
  /** Everything of all anonymous callers. */
  readonly anonymous: number;
}

export const STORAGE_LIMITS: StorageLimits = {
  session: 256 * 1024,
  anonymousSession: 64 * 1024,
  caller: 256 * 1024 * 1024,
  network: 16 * 1024 * 1024,
  anonymous: 256 * 1024 * 1024,
};

/** Bytes of the key and overhead of a record. */
export const RECORD_BYTES = 200;

/** Bytes of a record that holds a JSON value. */
export function recordBytes(value: unknown): number {
  return RECORD_BYTES + (JSON.stringify(value)?.length ?? 0);
}

/** On whose behalf something is stored: a call, or an HTTP request. */
export interface Caller {
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
   * Counts bytes that are stored for so many milliseconds.
   * @throws {LimitError} at the caller's limit
   */
  take(caller: Caller, bytes: number, lifetimeMs: number): void {
    const retryAfter = this.#take(caller, bytes, lifetimeMs);
    if (retryAfter === 0) return;
    const isOwn = caller.principal !== undefined || networkOf(caller.runtime ?? {}) !== undefined;
    throw new LimitError("Storage limit reached for this caller", retryAfter, isOwn ? 429 : 503);
  }

  /** As {@linkcode take}, for optional records: `false` at the caller's limit. */
  tryTake(caller: Caller, bytes: number, lifetimeMs: number): boolean {
    return this.#take(caller, bytes, lifetimeMs) === 0;
  }

  /** Subtracts bytes that are not stored any more. */
  giveBack({ principal, runtime }: Caller, bytes: number, lifetimeMs: number): void {
    const amount = amountOf(bytes, lifetimeMs);
    if (principal) this.#callers.giveBack(principalKey(principal), amount);
    else this.#anonymous.giveBack(networkOf(runtime ?? {}), amount);
  }

  #take({ principal, runtime }: Caller, bytes: number, lifetimeMs: number): number {
    const amount = amountOf(bytes, lifetimeMs);
    return principal
      ? this.#callers.take(principalKey(principal), amount)
      : this.#anonymous.take(networkOf(runtime ?? {}), amount);
  }
}

/** A record that is kept for two hours counts twice. */
function amountOf(bytes: number, lifetimeMs: number): number {
  return Math.ceil(bytes * Math.max(1, lifetimeMs / HOUR_MS));
}
