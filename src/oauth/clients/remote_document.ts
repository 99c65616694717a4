/**
 * Documents and keys at URLs of clients, cached in memory with limits on number and bytes. After repeated failures a URL is
 * not fetched for a while, and fetches that unknown clients cause have a budget.
 *
 * Error responses are not cached (draft-ietf-oauth-client-id-metadata-document-02 section 5.2): after a failure the answer
 * is "try again later", never an old error as if it were fresh.
 *
 * @module
 */
import { createFetchBudget } from "../../http/network/fetch_budget.ts";
import { type PublicDocument, type PublicFetch, PublicFetchError } from "../../http/network/public_fetch.ts";
import { OAuthError, plain } from "../error.ts";

/** Limits of the cache, for all hosts and for one. */
const MAX_KEPT = 2000;
const MAX_KEPT_BYTES = 4 * 1024 * 1024;
const MAX_KEPT_OF_HOST = 100;
const MAX_KEPT_BYTES_OF_HOST = 256 * 1024;
/** Consecutive failures without a wait; each further one doubles the wait. */
const FREE_FAILURES = 3;
const FIRST_WAIT_MS = 5000;
const MAX_WAIT_MS = 5 * 60 * 1000;
const MAX_FAILURES_KEPT = 10_000;
/** How often, and how many times, a request polls while another one fetches the same URL. */
const POLL_INTERVAL_MS = 25;
const MAX_POLLS = 240;
/** By how much clocks of instances may differ. */
const CLOCK_SKEW_MS = 60_000;

/** What is fetched: one URL may serve both. */
export type RemoteKind = "client" | "keys" | "issuer" | "sector" | "request" | "provider";

export interface RemoteRequest<T> {
  readonly kind: RemoteKind;
  readonly url: string;
  /** The network of the caller whose request causes the fetch, when it is known. */
  readonly network: string | undefined;
  /** The operator registered the URL, or a user consented to its client: such fetches have no budget. */
  readonly isKnown: boolean;
  /** The greatest age of a copy, in milliseconds. @default its lifetime */
  readonly maxAge?: number;
  /** The `Accept` field. @default "application/json" */
  readonly accept?: string;
  /** Parses the document. `lifetime` is in milliseconds. Throws for an invalid document. */
  read(document: PublicDocument): ReadDocument<T> | Promise<ReadDocument<T>>;
}

interface ReadDocument<T> {
  readonly value: T;
  readonly lifetime: number;
}

/** A cached document. Times are milliseconds since the epoch. */
export interface RemoteCopy<T> {
  readonly value: T;
  readonly fetched: number;
  readonly expires: number;
}

export interface RemoteDocuments {
  /**
   * The document, from the cache or from its URL.
   * @throws {PublicFetchError} when it cannot be fetched, and what `read` throws
   * @throws {OAuthError} temporarily_unavailable (429) when it must not be fetched now
   */
  get<T>(request: RemoteRequest<T>): Promise<RemoteCopy<T>>;
  /** Caches a copy that was fetched before, such as one from the store. */
  keep<T>(kind: RemoteKind, url: string, copy: RemoteCopy<T>): void;
  /** A copy that has not expired. */
  find<T>(kind: RemoteKind, url: string, maxAge?: number): RemoteCopy<T> | undefined;
}

interface Kept extends RemoteCopy<unknown> {
  readonly host: string;
  readonly size: number;
}

interface Failure {
  readonly count: number;
  readonly until: number;
  readonly message: string;
}

/** @param maxWaitMs the longest wait after failures: short for the operator's own URLs, whose recovery users wait for */
export function createRemoteDocuments(
  fetchPublic: PublicFetch,
  now: () => number,
  maxWaitMs: number = MAX_WAIT_MS,
): RemoteDocuments {
  /** Least recently used first. */
  const kept = new Map<string, Kept>();
  const failures = new Map<string, Failure>();
  const fetching = new Map<string, symbol>();
  const budget = createFetchBudget(now);
  const nameOf = (kind: RemoteKind, url: string) => `${kind} ${url}`;

  function find<T>(kind: RemoteKind, url: string, maxAge = Infinity): RemoteCopy<T> | undefined {
    const name = nameOf(kind, url);
    const copy = kept.get(name);
    const age = now() - (copy?.fetched ?? 0);
    // One that is fetched later than now has its times from a clock that was set back.
    if (!copy || copy.expires <= now() || age >= maxAge || age < -CLOCK_SKEW_MS) return undefined;
    kept.delete(name);
    kept.set(name, copy);
    return copy as RemoteCopy<T>;
  }

  function keep(kind: RemoteKind, url: string, copy: RemoteCopy<unknown>): void {
    const name = nameOf(kind, url);
    const host = new URL(url).hostname;
    kept.delete(name);
    kept.set(name, { ...copy, host, size: name.length + JSON.stringify(copy.value).length });
    evict((each) => each.host === host, MAX_KEPT_OF_HOST, MAX_KEPT_BYTES_OF_HOST);
    evict(() => true, MAX_KEPT, MAX_KEPT_BYTES);
  }

  /** Removes the least recently used copies of those that `counts` selects, until the rest is within the limits. */
  function evict(counts: (each: Kept) => boolean, max: number, maxBytes: number): void {
    const counted = [...kept].filter(([, each]) => counts(each));
    let bytes = counted.reduce((sum, [, { size }]) => sum + size, 0);
    let number = counted.length;
    for (const [name, { size }] of counted) {
      if (number <= max && bytes <= maxBytes) return;
      kept.delete(name);
      number--;
      bytes -= size;
    }
  }

  function rememberFailure(name: string, error: Error): void {
    const count = (failures.get(name)?.count ?? 0) + 1;
    const wait = count < FREE_FAILURES ? 0 : FIRST_WAIT_MS * 2 ** Math.min(count - FREE_FAILURES, 10);
    failures.delete(name);
    failures.set(name, { count, until: now() + Math.min(wait, maxWaitMs), message: plain(error.message) });
    if (failures.size > MAX_FAILURES_KEPT) failures.delete(failures.keys().next().value!);
  }

  /** @throws {OAuthError} while the URL is not fetched because of failures */
  function checkFailures(name: string): void {
    const failure = failures.get(name);
    const wait = (failure?.until ?? 0) - now();
    // A longer wait than the maximum comes from a clock that was set back.
    if (!failure || wait <= 0 || wait > maxWaitMs) return;
    throw busy(`Fetching this URL failed ${failure.count} times: ${failure.message}`, Math.ceil(wait / 1000));
  }

  /** Resolves when no other request is fetching it. @throws {OAuthError} when that takes too long */
  async function waitForOthers(name: string): Promise<void> {
    // Polling, because on workerd a request must not wait for a promise of another request.
    for (let looks = 0; fetching.has(name); looks++) {
      if (looks === MAX_POLLS) throw busy("Another request is still fetching this URL", 1);
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
    }
  }

  async function get<T>(request: RemoteRequest<T>): Promise<RemoteCopy<T>> {
    const { kind, url, network, isKnown, maxAge, accept, read } = request;
    const name = nameOf(kind, url);
    // First the cache: a request whose copy is good does not wait for one that needs a newer copy.
    let copy = find<T>(kind, url, maxAge);
    if (!copy && fetching.has(name)) {
      await waitForOthers(name);
      copy = find<T>(kind, url, maxAge);
    }
    if (copy) return copy;
    checkFailures(name);
    const end = isKnown ? () => {} : budget.begin({ host: new URL(url).hostname, network });
    if (typeof end === "number") {
      throw busy("Too many documents were requested from this host or by your network", end);
    }
    const own = Symbol();
    fetching.set(name, own);
    let good = false;
    try {
      const { value, lifetime } = await read(
        await fetchPublic(url, accept === undefined ? undefined : { headers: { accept } }),
      );
      const fresh = { value, fetched: now(), expires: now() + lifetime };
      keep(kind, url, fresh);
      failures.delete(name);
      good = true;
      return fresh;
    } catch (error) {
      if (error instanceof PublicFetchError || error instanceof OAuthError) rememberFailure(name, error);
      throw error;
    } finally {
      end(good);
      if (fetching.get(name) === own) fetching.delete(name);
    }
  }

  return { get, keep, find };
}

function busy(problem: string, seconds: number): OAuthError {
  return new OAuthError(
    "temporarily_unavailable",
    `${problem.replace(/\.$/, "")}. Try again in ${seconds} second${seconds === 1 ? "" : "s"}`,
    { status: 429, fields: [["retry-after", String(seconds)]] },
  );
}
