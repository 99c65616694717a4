/**
 * Whether an identity of a provider that has no account here gets one: by the option `signUp`, and by the invitation that
 * the browser had when the sign-in began.
 *
 * @module
 */
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { LinkToken } from "../mail/link_token.ts";
import type { Invitation } from "../records/user_record.ts";
import type { NewUserPermit } from "../sign_in/linked_account.ts";
import type { Identity } from "../sign_in/provider.ts";
import { canonicalEmail } from "../users/email_address.ts";
import { findInvitation } from "./invitation.ts";

/** The identity gets no account. */
export class NotInvitedError extends Error {
  override readonly name = "NotInvitedError";
}

/** What the commit of the account needs. @throws {NotInvitedError} when the identity gets no account */
export async function permitNewIdentity(
  as: AuthorizationServer,
  { ip }: RequestContext,
  provider: string,
  identity: Identity,
  token: LinkToken | undefined,
): Promise<NewUserPermit> {
  const created = (invitation?: string): NewUserPermit["created"] => ({ id: user }) =>
    as.observe({
      type: "user_registered",
      user,
      provider,
      ...(invitation !== undefined && { invitation }),
      ip,
    });
  const mode = as.signUp.providers;
  if (mode === "closed") throw new NotInvitedError("The identity has no account, and sign-up is closed");
  const entry = await findInvitation(as.store, token);
  if (entry && isRecipient(identity, entry.value)) {
    const { key, version, value: { id, role } } = entry;
    return { check: [{ key, version }], remove: [key], role, created: created(id) };
  }
  if (mode === "open") return { check: [], remove: [], created: created() };
  throw new NotInvitedError(
    entry
      ? "The invitation is for another address than the verified one of the identity"
      : "The identity has no account and no valid invitation",
  );
}

/** Whether the invitation is for everyone, or for the address that the provider verified. */
function isRecipient({ email = "", emailVerified }: Identity, invitation: Invitation): boolean {
  return invitation.email === undefined ||
    emailVerified && canonicalEmail(email) === canonicalEmail(invitation.email);
}
