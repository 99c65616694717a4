/**
 * Who gets the processor for a slow hash next: few are made at once, and while more are wanted, browsers that signed in
 * before come first, then networks that asked least. Whoever asks much waits behind everybody else.
 *
 * @module
 */

import { createRecentCounts } from "./recent_counts.ts";

/** Hashes at once: more would take the processor from all other requests. */
export const MAX_CONCURRENT_HASHES = 2;
/** Attempts that wait; past it the one with the least claim is turned away. */
export const MAX_WAITING_ATTEMPTS = 256;
/** An attempt that waited so long is turned away. */
export const MAX_ATTEMPT_WAIT_MS = 4000;

/** Who asks for a hash. */
export interface Claimant {
  /** The account that it is for, whether or not there is such a one. */
  readonly account: string;
  /** Undefined while the address is unknown. */
  readonly network: string | undefined;
  /** It comes from a browser that signed in to this account before. */
  readonly trusted: boolean;
}

/** What `run` resolves to when the work was not done. */
export const TURNED_AWAY: unique symbol = Symbol("turned away");

export interface PasswordQueue {
  /** Does the work when it is this caller's turn, or resolves to {@linkcode TURNED_AWAY}. Rejects as the work does. */
  run<Result>(claimant: Claimant, work: () => Promise<Result>): Promise<Result | typeof TURNED_AWAY>;
}

interface Waiting {
  /** Known networks and unknown ones take turns, so that neither keeps the other out. */
  readonly lane: "trusted" | "known" | "unknown";
  /** How much its network asked before, then how much was asked for its account: the least goes first. */
  readonly asked: number;
  readonly forAccount: number;
  readonly arrived: number;
  readonly begin: () => void;
  readonly turnAway: () => void;
}

export function createPasswordQueue(now: () => number): PasswordQueue {
  const networks = createRecentCounts(now);
  const accounts = createRecentCounts(now);
  let waiting: Waiting[] = [];
  let running = 0;
  let turn: Waiting["lane"] = "known";

  function beginNext(): void {
    const late = now() - MAX_ATTEMPT_WAIT_MS;
    if (waiting.some(({ arrived }) => arrived <= late)) {
      for (const each of waiting) if (each.arrived <= late) each.turnAway();
      waiting = waiting.filter(({ arrived }) => arrived > late);
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
      const asked = network === undefined ? 0 : networks.add(network) + networks.add(siteOf(network)) / 8;
      const forAccount = accounts.add(account);
      return new Promise((resolve, reject) => {
        waiting.push({
          lane: trusted ? "trusted" : network === undefined ? "unknown" : "known",
          asked,
          forAccount,
          arrived: now(),
          begin() {
            running++;
            work().then(resolve, reject).finally(() => {
              running--;
              beginNext();
            });
          },
          turnAway: () => resolve(TURNED_AWAY),
        });
        beginNext();
        if (waiting.length <= MAX_WAITING_ATTEMPTS) return;
        const last = waiting.reduce((worst, each) => isBefore(worst, each, turn) ? each : worst);
        waiting.splice(waiting.indexOf(last), 1);
        last.turnAway();
      });
    },
  };
}

function isBefore(a: Waiting, b: Waiting, turn: Waiting["lane"]): boolean {
  if (a.lane !== b.lane) return a.lane === "trusted" || b.lane !== "trusted" && a.lane === turn;
  return (a.asked - b.asked || a.forAccount - b.forAccount || a.arrived - b.arrived) < 0;
}

/** What one site has: neighbouring /64s of a /48 are often one subscriber's, neighbouring IPv4 addresses seldom. */
function siteOf(network: string): string {
  return network.includes(":") ? network.slice(0, 12) : network.slice(0, network.lastIndexOf("."));
}
