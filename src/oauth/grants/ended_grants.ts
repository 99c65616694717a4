/**
 * When users took back the access of clients. A code, a device code or an ID token that was issued before gives no new access.
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";
import type { EndedGrants } from "../records/grant_record.ts";

/** Whether the user took back what was allowed to this client at this time. An unknown time counts as long ago. */
export function isGrantEnded({ before, clients }: EndedGrants, client: string, given = 0): boolean {
  const digest = secretDigest(client);
  return given <= before || clients.some(([each, ended]) => each === digest && given <= ended);
}
