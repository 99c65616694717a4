/**
 * The protocol of a request: plain JSON-RPC, a revision with a handshake, or 2026-07-28.
 *
 * @module
 */

export interface Profile {
  readonly kind: "plain" | "legacy" | "modern";
  readonly revision: string;
}
