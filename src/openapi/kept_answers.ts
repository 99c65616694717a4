/**
 * Keeps answers that are too large for a result, for a while and within a limit of bytes, so that the caller can read them
 * as resources. Another caller cannot, even with the address.
 *
 * @module
 */
import type { Principal } from "../http/principal.ts";
import { checkNames, checkWhole, type Names } from "../options/option_check.ts";

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

const NAMES: Names<KeptAnswersOptions> = { maxBytes: "number", lifetime: "number", now: "function" };

/** Bytes of all answers of one caller: one cannot drop all those of the others. */
const OWNER_SHARE = 4;
/** What an answer takes besides its content. */
const ENTRY_BYTES = 512;

interface Kept {
  readonly owner: string;
  readonly answer: KeptAnswer;
  /** Its share of the limit, in bytes. */
  readonly size: number;
  readonly until: number;
}

/** The keys of one owner's answers, oldest first. */
interface OwnedAnswers {
  readonly keys: Set<string>;
  size: number;
}

/**
 * Keeps answers in the memory of this instance.
 * @throws {TypeError} for an option that does not exist
 * @throws {RangeError} for one that is not a positive whole number
 */
export function keepAnswers(options: KeptAnswersOptions = {}): AnswerStore {
  checkNames("keepAnswers", options, NAMES);
  const { maxBytes = 64 * 1024 * 1024, lifetime = 600_000, now = Date.now } = options;
  checkWhole("keepAnswers.maxBytes", maxBytes, 1);
  checkWhole("keepAnswers.lifetime", lifetime, 1);
  // Oldest first: all have the same lifetime.
  const kept = new Map<string, Kept>();
  const owners = new Map<string, OwnedAnswers>();
  let total = 0;

  function drop(key: string): void {
    const { owner, size } = kept.get(key)!;
    const owned = owners.get(owner)!;
    kept.delete(key);
    owned.keys.delete(key);
    owned.size -= size;
    total -= size;
    if (owned.keys.size === 0) owners.delete(owner);
  }

  return {
    set(key, answer) {
      const [owner] = key;
      const id = JSON.stringify(key);
      if (kept.has(id)) drop(id);
      const size = answer.bytes.length + ENTRY_BYTES;
      kept.set(id, { owner, answer, size, until: now() + lifetime });
      const owned = owners.get(owner) ?? { keys: new Set(), size: 0 };
      owners.set(owner, owned);
      owned.keys.add(id);
      owned.size += size;
      total += size;
      for (const oldest of owned.keys) {
        if (owned.size <= maxBytes / OWNER_SHARE) break;
        drop(oldest);
      }
      for (const [oldest, { until }] of kept) {
        if (total <= maxBytes && until > now()) break;
        drop(oldest);
      }
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
