/**
 * Limits concurrent password hashes and orders the waiting attempts: browsers that signed in before come first, some times,
 * then the networks and accounts with the fewest recent attempts.
 *
 * @module
 */
import { createRecentCounts } from "./throttle/recent_counts.ts";

/** More would take the processor from other requests. */
export const MAX_CONCURRENT_HASHES = 2;
/** Beyond it the last attempt in the order ends with {@linkcode NOT_VERIFIED}. */
export const MAX_WAITING_ATTEMPTS = 256;
/**
 * Recent attempts of an account, from browsers that signed in to it before, that go first. A login resets the limit of the
 * browser, so without this one user could keep all others waiting.
 */
export const MAX_TRUSTED_ATTEMPTS = 10;
/** An attempt that waited so long ends with {@linkcode NOT_VERIFIED}. */
export const MAX_ATTEMPT_WAIT_MS = 4000;

/** An attempt to sign in whose password needs a hash. */
export interface PasswordAttempt {
  /** The canonical user name, also of an unknown user. */
  readonly account: string;
  /** `undefined` while the client address is unknown. */
  readonly network: string | undefined;
  /** Whether it comes from a browser that signed in to this account before. */
  readonly trusted: boolean;
}

/** The result of `run` when the queue is full or the wait was too long. */
export const NOT_VERIFIED: unique symbol = Symbol("not verified");

export interface PasswordQueue {
  /** Does the work when it is the attempt's turn, or resolves to {@linkcode NOT_VERIFIED}. Rejects as the work does. */
  run<Result>(attempt: PasswordAttempt, work: () => Promise<Result>): Promise<Result | typeof NOT_VERIFIED>;
}

interface Waiting {
  /** Attempts from known and from unknown networks take turns, so that neither blocks the other. */
  readonly lane: "trusted" | "known" | "unknown";
  /** Recent attempts of its network, then for its account: the fewest go first. */
  readonly networkCount: number;
  readonly accountCount: number;
  readonly arrived: number;
  readonly begin: () => void;
  readonly refuse: () => void;
}

export function createPasswordQueue(now: () => number): PasswordQueue {
  const networks = createRecentCounts(now);
  const accounts = createRecentCounts(now);
  const trustedAccounts = createRecentCounts(now);
  let waiting: Waiting[] = [];
  let running = 0;
  let turn: Waiting["lane"] = "known";

  function beginNext(): void {
    const oldest = now() - MAX_ATTEMPT_WAIT_MS;
    if (waiting.some(({ arrived }) => arrived <= oldest)) {
      for (const each of waiting) if (each.arrived <= oldest) each.refuse();
      waiting = waiting.filter(({ arrived }) => arrived > oldest);
    }
    while (running < MAX_CONCURRENT_HASHES && waiting.length > 0) {
      turn = turn === "known" ? "unknown" : "known";
      const next = waiting.reduce((best, each) => isBefore(each, best, turn) ? each : best);
      waiting.splice(waiting.indexOf(next), 1);
      next.begin();
    }
  }

  return {
    run({ account, network, trusted }, work) {
      const networkCount = network === undefined
        ? 0
        : networks.add(network) + networks.add(siteOf(network)) / 8;
      const accountCount = accounts.add(account);
      const goesFirst = trusted && trustedAccounts.add(account) < MAX_TRUSTED_ATTEMPTS;
      return new Promise((resolve, reject) => {
        waiting.push({
          lane: goesFirst ? "trusted" : network === undefined ? "unknown" : "known",
          networkCount,
          accountCount,
          arrived: now(),
          begin() {
            running++;
            work().then(resolve, reject).finally(() => {
              running--;
              beginNext();
            });
          },
          refuse: () => resolve(NOT_VERIFIED),
        });
        beginNext();
        if (waiting.length <= MAX_WAITING_ATTEMPTS) return;
        const last = waiting.reduce((worst, each) => isBefore(worst, each, turn) ? each : worst);
        waiting.splice(waiting.indexOf(last), 1);
        last.refuse();
      });
    },
  };
}

function isBefore(a: Waiting, b: Waiting, turn: Waiting["lane"]): boolean {
  if (a.lane !== b.lane) return a.lane === "trusted" || b.lane !== "trusted" && a.lane === turn;
  return (a.networkCount - b.networkCount || a.accountCount - b.accountCount || a.arrived - b.arrived) < 0;
}

/** The /48 of an IPv6 network, the /24 of an IPv4 address. A /48 often belongs to one subscriber, a /24 seldom. */
function siteOf(network: string): string {
  return network.includes(":") ? network.slice(0, 12) : network.slice(0, network.lastIndexOf("."));
}
