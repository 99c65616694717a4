/**
 * Operations on invitations.
 *
 * @module
 */
import { linkUrl } from "../../oauth/mail/link_token.ts";
import { type Invitation, INVITATIONS, type UserRole } from "../../oauth/records/user_record.ts";
import {
  INVITATION_LINK,
  inviteUser,
  revokeInvitation,
  type ShownInvitation,
} from "../../oauth/sign_up/invitation.ts";
import type { Entry } from "../../store/store.ts";
import { createSearch, listPage, type Page, pageInput, pageOf, type PageQuery } from "../list_page.ts";
import { type AdminOperation, notFound, refuseInvalid, type Schema, toIso } from "../operation.ts";
import { count, input, object, orNull, SECRET, type Secret, text, time } from "../schema.ts";
import { ROLE } from "./user_record.ts";

/** An invitation in an answer. */
export interface AdminInvitation {
  readonly id: string;
  readonly email: string | null;
  readonly role: UserRole | null;
  readonly created: string;
  readonly expires: string;
}

const MAX_LIFETIME_SECONDS = 365 * 86_400;

const PROPERTIES: Readonly<Record<string, Schema>> = {
  id: text("the id"),
  email: orNull(text("the only address that can use it; null for anyone with the link")),
  role: orNull({ ...ROLE, description: "the role of the account; null for the default role of the server" }),
  created: time("when it was made"),
  expires: time("until when it can be used"),
};
const INVITATION_OBJECT = object(PROPERTIES);

/** Who is invited. */
export interface InvitationInput {
  readonly email?: string;
  readonly role?: UserRole;
  readonly lifetime_seconds?: number;
}

/** The path of an invitation. */
export interface InvitationPath {
  readonly invitation: string;
}

export const listInvitations: AdminOperation<PageQuery, Page<AdminInvitation>> = {
  name: "listInvitations",
  method: "GET",
  path: "/invitations",
  summary: "List the invitations that were not used and have not expired",
  input: pageInput(),
  output: pageOf(INVITATION_OBJECT),
  async run({ store }, query) {
    const read = ({ value }: Entry<Invitation>) => toAdminInvitation(value);
    const isFound = createSearch<AdminInvitation>(query.search, ({ id, email, role }) => [id, email, role]);
    return await listPage(store, [{ prefix: INVITATIONS, read }], query, isFound);
  },
};

export const addInvitation: AdminOperation<
  InvitationInput,
  AdminInvitation & Secret & { readonly link: string }
> = {
  name: "addInvitation",
  method: "POST",
  path: "/invitations",
  summary: "Make a one-time link with which a person creates an account",
  input: input({
    email: text("the only address that can use it; anyone with the link when left out", { min: 1, max: 256 }),
    role: ROLE,
    lifetime_seconds: count("seconds until it expires; 7 days when left out", {
      min: 1,
      max: MAX_LIFETIME_SECONDS,
    }),
  }),
  output: object({ ...PROPERTIES, link: text("the link, with the secret"), secret: SECRET }),
  isSecret: true,
  subject: (_, { id }) => id,
  async run({ store, issuer }, { email, role, lifetime_seconds: lifetime }) {
    const { invitation, token } = await refuseInvalid(() => inviteUser(store, { email, role, lifetime }));
    return {
      ...toAdminInvitation(invitation),
      link: linkUrl(issuer, INVITATION_LINK, token),
      secret: token,
    };
  },
};

export const removeInvitation: AdminOperation<InvitationPath, void> = {
  name: "removeInvitation",
  method: "DELETE",
  path: "/invitations/:invitation",
  summary: "Revoke an invitation",
  input: input({ invitation: text("the id of the invitation", { min: 1, max: 256 }) }, ["invitation"]),
  output: undefined,
  subject: ({ invitation }) => invitation,
  async run({ store }, { invitation }) {
    if (!await revokeInvitation(store, invitation)) throw notFound("Invitation", invitation);
  },
};

/** The operations of this file. */
export const INVITATION_OPERATIONS: readonly AdminOperation[] = [
  listInvitations,
  addInvitation,
  removeInvitation,
];

function toAdminInvitation({ id, email, role, created, expires }: ShownInvitation): AdminInvitation {
  return { id, email: email ?? null, role: role ?? null, created: toIso(created), expires: toIso(expires) };
}
