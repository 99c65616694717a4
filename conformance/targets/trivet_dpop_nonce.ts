/**
 * Trivet where DPoP proofs must hold a nonce, as a target in this process.
 *
 * @module
 */
import { start as startTrivet } from "./trivet.ts";
import type { TrivetTarget } from "./trivet_world.ts";

export function start(): Promise<TrivetTarget> {
  return startTrivet({ dpopNonce: true });
}
