/**
 * Limits how many streams a caller may hold open at one instance.
 *
 * @module
 */
import { networkOf } from "../../http/network/network.ts";
import { LimitError } from "../session/limit_error.ts";
import { principalKey } from "../session/principal_key.ts";
import type { Caller } from "../session/storage_limits.ts";

/** The maximum of streams that are open at the same time. */
export interface StreamLimits {
  /** In one session. */
  readonly session: number;
  /** Of one caller with a token. */
  readonly caller: number;
  /** Of the anonymous callers of one network. */
  readonly network: number;
  /** Of all anonymous callers together. */
  readonly anonymous: number;
}

export const STREAM_LIMITS: StreamLimits = { session: 32, caller: 256, network: 128, anonymous: 1000 };

/** The key under which all streams are counted. */
const ALL = "all";
/** For `Retry-After`. */
const RETRY_AFTER_SECONDS = 10;

export class OpenStreams {
  readonly #limits: StreamLimits;
  readonly #counts = new Map<string, number>();

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  /** How many are open. */
  count(): number {
    return this.#counts.get(ALL) ?? 0;
  }

  /**
   * Counts a stream. Returns the function that releases it, which may be called twice.
   * @throws {LimitError} 429 at the limit of the session, caller or network, 503 at the limit of all anonymous callers
   */
  open({ principal, runtime }: Caller, session: { readonly id: string } | undefined): () => void {
    const { session: perSession, caller, network: perNetwork, anonymous } = this.#limits;
    const counted: Counted[] = [[ALL, Infinity, ""]];
    if (session) {
      counted.push([`session ${session.id}`, perSession, "Too many open streams in this session"]);
    }
    if (principal) {
      counted.push([`caller ${principalKey(principal)}`, caller, "Too many open streams for this caller"]);
    } else {
      const network = networkOf(runtime ?? {});
      if (network !== undefined) {
        counted.push([`network ${network}`, perNetwork, "Too many open streams for this network"]);
      }
      counted.push(["anonymous", anonymous, "Too many open streams of anonymous callers"]);
    }
    for (const [key, limit, reason] of counted) {
      if ((this.#counts.get(key) ?? 0) < limit) continue;
      throw new LimitError(reason, RETRY_AFTER_SECONDS, key === "anonymous" ? 503 : 429);
    }
    // A list of its own size, without the reasons, as a stream holds it while it is open.
    const keys = counted.map(([key]) => key);
    for (const key of keys) this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    let isOpen = true;
    return () => {
      if (isOpen) this.#release(keys);
      isOpen = false;
    };
  }

  #release(keys: readonly string[]): void {
    for (const key of keys) {
      const left = this.#counts.get(key)! - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    }
  }
}

/** What one stream counts for, its limit, and the error at the limit. */
type Counted = readonly [key: string, limit: number, reason: string];
