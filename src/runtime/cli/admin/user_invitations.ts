/**
 * Actions of `trivet user` on invitations: one-time links with which a person creates an account.
 *
 * @module
 */
import { linkUrl } from "../../../oauth/mail/link_token.ts";
import {
  INVITATION_LINK,
  inviteUser,
  listInvitations,
  revokeInvitation,
} from "../../../oauth/sign_up/invitation.ts";
import { USER_ROLES } from "../../../oauth/users/user_role.ts";
import { formatTime, printLine, printPairs, printTable, UsageError } from "../output.ts";
import { type StoreAction, storeAction } from "./store_action.ts";

export const invite: StoreAction = storeAction({
  operands: "",
  summary: "makes a link with which a person creates an account",
  options: {
    email: {
      value: "ADDRESS",
      summary: "the only address that may use it",
      shownDefault: "anyone with the link",
    },
    role: {
      value: "ROLE",
      words: USER_ROLES,
      summary: "the role of the account",
      shownDefault: "the server's",
    },
    expires: {
      value: "DAYS",
      range: [1, 365],
      unit: "days",
      summary: "until when it can be used",
      default: 7,
    },
    issuer: {
      value: "URL",
      summary: "the URL under which people reach the server",
      default: "http://127.0.0.1:8787",
    },
  },
  async run({ store, values: { email, role, expires, issuer }, json }) {
    if (!URL.canParse(issuer)) throw new UsageError(`--issuer must be a URL, but is "${issuer}"`);
    const { invitation, token } = await inviteUser(store, { email, role, lifetime: expires * 86_400 });
    const link = linkUrl(issuer, INVITATION_LINK, token);
    if (json) return printLine(JSON.stringify({ ...invitation, link }));
    printPairs([
      ["invitation", invitation.id],
      ["link", `${link}   (shown once)`],
      ["for", invitation.email],
      ["role", invitation.role],
      ["expires", formatTime(invitation.expires)],
    ]);
  },
});

export const invitations: StoreAction = storeAction({
  operands: "",
  summary: "lists the invitations that were not used",
  options: {},
  async run({ store, json }) {
    const found = await Array.fromAsync(listInvitations(store));
    if (json) return printLine(JSON.stringify(found));
    printTable(
      ["ID", "E-MAIL", "ROLE", "MADE", "EXPIRES"],
      found.map(({ id, email, role, created, expires }) => [
        id,
        email ?? "-",
        role ?? "-",
        formatTime(created),
        formatTime(expires),
      ]),
    );
  },
});

export const uninvite: StoreAction = storeAction({
  operands: "INVITATION",
  summary: "revokes an invitation",
  options: {},
  async run({ store, operands: [id], json }) {
    if (!await revokeInvitation(store, id!)) throw new Error(`Invitation not found: "${id}"`);
    printLine(json ? JSON.stringify({ id, revoked: true }) : `Revoked ${id}`);
  },
});
