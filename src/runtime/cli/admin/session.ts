/**
 * `trivet session`: where users are signed in.
 *
 * @module
 */
import { endSession, endSessions, listSessions } from "../../../admin/operations/sessions.ts";
import { formatTime, printText } from "../output.ts";
import { type AdminAction, adminAction, type AdminCommand, adminCommand } from "./admin_action.ts";
import { listAction } from "./list_action.ts";

const list: AdminAction = listAction({
  operation: listSessions,
  operands: "USER",
  summary: "lists where a user is signed in",
  input: ({ operands: [user] }) => ({ user: user! }),
  columns: {
    ID: ({ id }) => id,
    "SIGNED IN": ({ created }) => formatTime(created),
    "LAST USED": ({ used }) => formatTime(used),
    ADDRESS: ({ address }) => address,
    BY: ({ acr, amr }) => [acr, ...amr ?? []].join(" "),
    AGENT: ({ agent }) => agent,
  },
});

const remove: AdminAction = adminAction({
  operands: "USER [SESSION]",
  summary: "ends one session of a user, or all",
  options: {},
  async run({ call, operands: [user, session] }) {
    if (session === "") await call(endSessions, { user: user! });
    else await call(endSession, { user: user!, session: session! });
    return { user, session: session === "" ? null : session, removed: true };
  },
  print: (_, { operands: [user, session] }) =>
    printText(session === "" ? `Ended the sessions of ${user}` : `Ended the session ${session} of ${user}`),
});

export const command: AdminCommand = adminCommand({
  name: "session",
  title: "where users are signed in",
  actions: { list, remove },
  notes: "USER is a user name or an id. The tokens of applications stay: trivet grant remove ends them.",
  examples: ["trivet session list alice", "trivet session remove alice"],
});
