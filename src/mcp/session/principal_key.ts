/**
 * One text per caller: what sealed things and limits are bound to.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";

/** The workspace, the client and the subject of a caller. Empty for an anonymous one. */
export function principalKey(principal: Principal | undefined): string {
  if (!principal) return "";
  const { workspace, client = "", subject = "" } = principal;
  return JSON.stringify([workspace, client, subject]);
}
