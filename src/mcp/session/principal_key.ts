/**
 * One string per principal, to which sessions, cursors, states and limits are bound.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";

/** The workspace, client, subject and issuer of a caller; empty for an anonymous caller. */
export function principalKey(principal: Principal | undefined): string {
  if (!principal) return "";
  const { workspace, client = "", subject = "", issuer } = principal;
  return JSON.stringify(
    issuer === undefined ? [workspace, client, subject] : [workspace, client, subject, issuer],
  );
}
