/**
 * Keeps answers that are too large for a result, for a while and within a limit of bytes, so that the caller can read them
 * as resources. Another caller cannot, even with the address.
 *
 * @module
 */
import type { Principal } from "../http/principal.ts";

/** An answer of the API, as it came. */
export interface KeptAnswer {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly mimeType: string;
}

/** Where large answers are kept. With several instances, one that all of them share: a client may read at another one. */
export interface AnswerStore {
  /** @param key who may read it, and its random id */
  set(key: readonly [owner: string, id: string], answer: KeptAnswer): void | Promise<void>;
  get(key: readonly [owner: string, id: string]): KeptAnswer | undefined | Promise<KeptAnswer | undefined>;
}

/** Options of {@linkcode keepAnswers}. */
export interface KeptAnswersOptions {
  /** Bytes of all answers; the oldest ones are dropped. @default 67108864 */
  readonly maxBytes?: number;
  /** Milliseconds. @default 600000 */
  readonly lifetime?: number;
  readonly now?: () => number;
}

/** Bytes of all answers of one caller: one cannot drop all those of the others. */
const OWNER_SHARE = 4;

/** Keeps answers in the memory of this instance. */
export function keepAnswers(options: KeptAnswersOptions = {}): AnswerStore {
  const { maxBytes = 64 * 1024 * 1024, lifetime = 600_000, now = Date.now } = options;
  const kept = new Map<string, { owner: string; answer: KeptAnswer; until: number }>();
  const sizeOf = (owner?: string) =>
    [...kept.values()].reduce(
      (sum, each) => owner === undefined || each.owner === owner ? sum + each.answer.bytes.length : sum,
      0,
    );
  function dropOldest(limit: number, owner?: string): void {
    for (const [key, each] of kept) {
      if (each.until > now() && sizeOf(owner) <= limit) continue;
      if (each.until <= now() || owner === undefined || each.owner === owner) kept.delete(key);
    }
  }
  return {
    set(key, answer) {
      const [owner] = key;
      kept.set(JSON.stringify(key), { owner, answer, until: now() + lifetime });
      dropOldest(maxBytes / OWNER_SHARE, owner);
      dropOldest(maxBytes);
    },
    get(key) {
      const found = kept.get(JSON.stringify(key));
      return found && found.until > now() ? found.answer : undefined;
    },
  };
}

/** Who may read an answer: the caller that got it. Anonymous callers need the random id only. */
export function ownerOf(caller: Principal | undefined): string {
  if (!caller) return "";
  const { workspace, client = "", subject = "", issuer = "" } = caller;
  return JSON.stringify([workspace, client, subject, issuer]);
}
