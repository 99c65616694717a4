/**
 * A target with another sender.
 *
 * @module
 */
import type { Sender } from "../runner/exchange/exchange.ts";
import type { Target } from "../runner/target/target.ts";

/** The same target, and the same clock, behind another sender. */
export function withSender(target: Target, sender: Sender): Target {
  return {
    ...target,
    sender,
    get advanced() {
      return target.advanced;
    },
    set advanced(seconds) {
      target.advanced = seconds;
    },
  };
}
