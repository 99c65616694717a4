/**
 * How many mails strangers can have sent: limits for one address, and for one network. What they type is counted, whether
 * it names an account or not.
 *
 * @module
 */
import { networkOf } from "../../http/network/network.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { canonicalEmail } from "../users/email_address.ts";
import { RECORD_OVERHEAD_BYTES } from "../storage_quota.ts";

/** For one user name or e-mail address, from all networks: 3 at once, then about 12 in the first hour and 2 an hour. */
export const ADDRESS_LIMIT = { freeAttempts: 3, maxWaitSeconds: 1800 } as const;
/** For one network. */
export const NETWORK_LIMIT = { freeAttempts: 20, maxWaitSeconds: 1800 } as const;

/**
 * Counts one mail to a user name or an address.
 * @returns 0, or the seconds to wait
 * @throws {OAuthError} temporarily_unavailable when all callers together had too many sent
 */
export async function countMail(
  as: AuthorizationServer,
  context: RequestContext,
  recipient: string,
): Promise<number> {
  const network = networkOf(context);
  const wait = await as.throttle.begin([
    { kind: "mail_recipient", subject: canonicalEmail(recipient), ...ADDRESS_LIMIT },
    ...network === undefined ? [] : [{ kind: "mail_network", subject: network, ...NETWORK_LIMIT }],
  ]);
  if (wait > 0) return wait;
  as.storageQuota.reserve("mail", RECORD_OVERHEAD_BYTES, undefined, context);
  return 0;
}
