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

/** The user, through whichever client, or the client that acts for itself; empty for an anonymous caller. */
export function userKey(principal: Principal | undefined): string {
  if (!principal) return "";
  const { issuer = "", subject, client } = principal;
  return JSON.stringify(subject === undefined ? [issuer, "client", client] : [issuer, "user", subject]);
}
