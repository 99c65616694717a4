/**
 * One string per principal, to which sessions, cursors, states and limits are bound.
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";
import type { Principal } from "../../http/principal.ts";

/** The workspace, client, subject and issuer of a caller; empty for an anonymous caller. */
export function principalKey(principal: Principal | undefined): string {
  if (!principal) return "";
  const { workspace, client = "", subject = "", issuer } = principal;
  return JSON.stringify(
    issuer === undefined ? [workspace, client, subject] : [workspace, client, subject, issuer],
  );
}

/**
 * What stands for a principal in sessions and in records of their calls: a digest, as clients and proxies can read the ids of
 * sessions; empty for an anonymous caller.
 */
export function ownerOf(principal: Principal | undefined): string {
  return principal ? secretDigest(principalKey(principal)) : "";
}

/** Whether a caller may continue what this owner began. A session without a token may continue with one, after a challenge. */
export function isOwner(owner: string, principal: Principal | undefined): boolean {
  return owner === "" || owner === ownerOf(principal);
}

/** The user, through whichever client, or the client that acts for itself; empty for an anonymous caller. */
export function userKey(principal: Principal | undefined): string {
  if (!principal) return "";
  const { issuer = "", subject, client } = principal;
  return JSON.stringify(subject === undefined ? [issuer, "client", client] : [issuer, "user", subject]);
}
