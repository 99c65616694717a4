/**
 * Invitations: one-time links with which a person creates an account, with a password or by signing in at a provider. One
 * commit creates the account and ends the invitation.
 *
 * @module
 */
import { checkNames, type Names } from "../../options/option_check.ts";
import { randomId } from "../../crypto/secret.ts";
import { removeExisting } from "../../store/retry.ts";
import { type Entry, listAll, type Store, timeOf } from "../../store/store.ts";
import { createLinkToken, type LinkKind, type LinkToken } from "../mail/link_token.ts";
import { type Invitation, invitationKey, INVITATIONS, type UserRole } from "../records/user_record.ts";
import { isEmailAddress } from "../users/email_address.ts";
import { checkUserRole } from "../users/user_role.ts";

export const INVITATION_LINK: LinkKind = {
  path: "/login/invitation",
  prefix: "trivet_iv_",
  cookie: "invitation",
  // The sign-up form, and the links to providers.
  cookiePath: "/login",
  lifetime: 3600,
};

/** @default 7 days */
export const DEFAULT_LIFETIME_SECONDS: number = 7 * 86_400;
const MAX_LIFETIME_SECONDS = 365 * 86_400;

/** Who is invited. */
export interface InvitationRequest {
  /** The only address that may use it: a provider must say that it is the user's. @default anyone with the link */
  readonly email?: string | undefined;
  /** Whether you send the link to that address and nowhere else, so that its use verifies the address. @default false */
  readonly mailed?: boolean | undefined;
  /** @default the option `defaultRole` of the server, or the role that the provider gives */
  readonly role?: UserRole | undefined;
  /** Seconds until it expires, at most a year. @default 604800 */
  readonly lifetime?: number | undefined;
}

const NAMES: Names<InvitationRequest> = {
  email: "string",
  mailed: "boolean",
  role: "unknown",
  lifetime: "number",
};

/** An invitation without the digest of its token. */
export type ShownInvitation = Omit<Invitation, "digest">;

/**
 * Makes an invitation. The link is `ISSUER/login/invitation?token=TOKEN`; the token is not stored.
 * @throws {TypeError | RangeError} when a member is invalid
 */
export async function inviteUser(
  store: Store,
  request: InvitationRequest = {},
): Promise<{ readonly invitation: ShownInvitation; readonly token: string }> {
  checkNames("inviteUser", request, NAMES);
  const { email, mailed = false, role, lifetime = DEFAULT_LIFETIME_SECONDS } = request;
  if (email !== undefined && !isEmailAddress(email)) {
    throw new TypeError(`Cannot invite: "${email}" is not an e-mail address`);
  }
  if (mailed && email === undefined) throw new TypeError('Cannot invite: "mailed" needs "email"');
  if (role !== undefined) checkUserRole(role);
  if (!Number.isSafeInteger(lifetime) || lifetime < 1 || lifetime > MAX_LIFETIME_SECONDS) {
    throw new RangeError(`Cannot invite: "lifetime" must be 1 to ${MAX_LIFETIME_SECONDS} seconds`);
  }
  const id = randomId("");
  const { token, digest } = createLinkToken(INVITATION_LINK, id);
  const created = timeOf(store);
  const expires = created + lifetime * 1000;
  const shown: ShownInvitation = {
    id,
    ...(email !== undefined && { email }),
    ...(mailed && { mailed }),
    ...(role !== undefined && { role }),
    created,
    expires,
  };
  const value: Invitation = { ...shown, digest };
  await store.commit({ set: [{ key: invitationKey(id), value, expires }] });
  return { invitation: shown, token };
}

/** The invitations that were not used and have not expired. */
export async function* listInvitations(store: Store): AsyncGenerator<ShownInvitation> {
  for await (const { value: { digest: _, ...shown } } of listAll<Invitation>(store, INVITATIONS)) yield shown;
}

/** Ends an invitation. @returns `false` when there is none with this id, or it was used at the same time */
export function revokeInvitation(store: Store, id: string): Promise<boolean> {
  return removeExisting(store, invitationKey(id));
}

/** The valid invitation of a link; `undefined` when it was used or revoked, or has expired. */
export async function findInvitation(
  store: Store,
  token: LinkToken | undefined,
): Promise<Entry<Invitation> | undefined> {
  const entry = token && await store.get<Invitation>(invitationKey(token.id));
  return entry?.value.digest === token?.digest ? entry : undefined;
}
