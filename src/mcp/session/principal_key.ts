/**
 * One string per principal, to which sessions, cursors, states and limits are bound.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";

/** The workspace, client and subject of a caller; empty for an anonymous caller. */
export function principalKey(principal: Principal | undefined): string {
  if (!principal) return "";
  const { workspace, client = "", subject = "" } = principal;
  return JSON.stringify([workspace, client, subject]);
}
