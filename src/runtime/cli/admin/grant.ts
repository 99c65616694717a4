/**
 * `trivet grant`: what users allowed applications.
 *
 * @module
 */
import { endGrant, listGrants } from "../../../admin/operations/grants.ts";
import { formatTime, printLine, UsageError } from "../output.ts";
import { type AdminAction, adminAction, type AdminCommand, adminCommand } from "./admin_action.ts";
import { listAction, readPages } from "./list_action.ts";

const list: AdminAction = listAction({
  operation: listGrants,
  operands: "USER",
  summary: "lists what a user allowed applications",
  input: ({ operands: [user] }) => ({ user: user! }),
  columns: {
    GRANT: ({ id }) => id,
    CLIENT: ({ client }) => client,
    NAME: ({ client_name }) => client_name,
    SCOPE: ({ scope }) => scope,
    RESOURCE: ({ resource }) => resource?.join(" "),
    GIVEN: ({ created }) => formatTime(created),
    "LAST USED": ({ used }) => formatTime(used),
  },
});

const remove: AdminAction = adminAction({
  operands: "USER [GRANT]",
  summary: "removes a grant and ends its tokens",
  options: {
    client: { value: "ID", summary: "all grants of this client" },
    all: { summary: "all grants" },
  },
  async run({ call, values: { client, all }, operands: [user, grant] }) {
    if ([grant !== "", client !== undefined, all].filter(Boolean).length !== 1) {
      throw new UsageError("missing argument: GRANT, --client or --all, and one of them only");
    }
    if (grant !== "") {
      await call(endGrant, { user: user!, grant: grant! });
      return { ended: 1 };
    }
    const { data } = await readPages(call, listGrants, { user: user! });
    const chosen = data.filter((each) => all || each.client === client);
    for (const { id } of chosen) await call(endGrant, { user: user!, grant: id });
    return { ended: chosen.length };
  },
  print: ({ ended }) =>
    printLine(
      ended === 0 ? "There is no such grant" : `Removed ${ended} ${ended === 1 ? "grant" : "grants"}`,
    ),
});

export const command: AdminCommand = adminCommand({
  name: "grant",
  title: "what users allowed applications",
  actions: { list, remove },
  notes: "USER is a user name or an id.",
  examples: ["trivet grant list alice", "trivet grant remove alice --client some-app"],
});
