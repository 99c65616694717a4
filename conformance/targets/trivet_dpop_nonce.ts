/**
 * Trivet as a target in this process that requires a nonce in DPoP proofs.
 *
 * @module
 */
import { start as startTrivet } from "./trivet.ts";
import type { TrivetTarget } from "./trivet_target.ts";

export function start(): Promise<TrivetTarget> {
  return startTrivet({ dpopNonce: true });
}
