/**
 * `trivet invitation`: one-time links with which a person creates an account.
 *
 * @module
 */
import { addInvitation, listInvitations, removeInvitation } from "../../../admin/operations/invitations.ts";
import { USER_ROLES } from "../../../oauth/users/user_role.ts";
import { formatTime, printPairs } from "../output.ts";
import { type AdminAction, adminAction, type AdminCommand, adminCommand } from "./admin_action.ts";
import { removeAction } from "./by_name.ts";
import { listAction } from "./list_action.ts";
import { ISSUER_OPTION } from "../issuer_option.ts";

const DAY_SECONDS = 86_400;

const add: AdminAction = adminAction({
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
    issuer: ISSUER_OPTION,
  },
  issuerOption: "issuer",
  run: ({ call, values: { email, role, expires } }) =>
    call(addInvitation, { email, role, lifetime_seconds: expires * DAY_SECONDS }),
  print: ({ id, link, email, role, expires }) =>
    printPairs([
      ["invitation", id],
      ["link", `${link}   (shown once)`],
      ["for", email],
      ["role", role],
      ["expires", formatTime(expires)],
    ]),
});

const list: AdminAction = listAction({
  operation: listInvitations,
  summary: "lists the invitations that were not used",
  columns: {
    ID: ({ id }) => id,
    "E-MAIL": ({ email }) => email,
    ROLE: ({ role }) => role,
    MADE: ({ created }) => formatTime(created),
    EXPIRES: ({ expires }) => formatTime(expires),
  },
});

const remove: AdminAction = removeAction({
  operand: "INVITATION",
  summary: "revokes an invitation",
  remove: (call, invitation) => call(removeInvitation, { invitation }),
});

export const command: AdminCommand = adminCommand({
  name: "invitation",
  title: "one-time links with which people create an account",
  actions: { add, list, remove },
  notes:
    `The server must take invitations: trivet serve does, unless --sign-up says closed. With --email it is only
for that address: one with a password has no other, and a provider must have verified it.`,
  examples: [
    "trivet invitation add --email bob@example.com --role author --issuer https://agents.example.com",
    "trivet invitation list",
  ],
});
