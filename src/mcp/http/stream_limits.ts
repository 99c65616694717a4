/**
 * Limits how many streams a caller may hold open at one instance. A call that goes on after its connection counts as well.
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
  /** By stream id. */
  readonly #kept = new Map<string, KeptSlot>();

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

  /**
   * Keeps counting a stream whose call goes on after its connection. Returns the function that releases it when the call
   * ends.
   * @param stream the id by which {@linkcode resume} finds it
   */
  keep(stream: string, release: () => void): () => void {
    const slot: KeptSlot = { release, isResumed: false, isOver: false };
    this.#kept.set(stream, slot);
    return () => {
      this.#kept.delete(stream);
      slot.isOver = true;
      if (!slot.isResumed) release();
    };
  }

  /** As {@linkcode open}, for a stream that resumes another one: one at a time counts in its place. */
  resume(stream: string, caller: Caller, session: { readonly id: string }): () => void {
    const slot = this.#kept.get(stream);
    if (!slot || slot.isResumed) return this.open(caller, session);
    slot.isResumed = true;
    return () => {
      slot.isResumed = false;
      if (slot.isOver) slot.release();
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

/** What a running call without a connection counts for. */
interface KeptSlot {
  readonly release: () => void;
  /** Whether an open stream resumes it. */
  isResumed: boolean;
  /** Whether the call has ended. */
  isOver: boolean;
}
