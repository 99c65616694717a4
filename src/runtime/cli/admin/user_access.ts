/**
 * Actions of `trivet user` on where a user is signed in, and on what they allowed applications.
 *
 * @module
 */
import { removeFactors } from "../../../oauth/factors/change_factors.ts";
import { findAccount } from "../../../oauth/users/user_changes.ts";
import { endUserGrant, listUserGrants } from "../../../oauth/users/user_grants.ts";
import { endUserSession, endUserSessions, listUserSessions } from "../../../oauth/users/user_sessions.ts";
import type { Store } from "../../../store/store.ts";
import { formatTime, printLine, printTable, UsageError } from "../output.ts";
import { type StoreAction, storeAction } from "./store_action.ts";

export const sessions: StoreAction = storeAction({
  operands: "USER",
  summary: "lists where the user is signed in",
  options: {},
  async run({ store, operands: [user], json }) {
    const found = await listUserSessions(store, await getUserId(store, user!));
    if (json) return printLine(JSON.stringify(found.map(({ digest: _, ...session }) => session)));
    printTable(
      ["ID", "SIGNED IN", "LAST USED", "ADDRESS", "BY", "AGENT"],
      found.map(({ id, created, seen, address, acr, amr, agent }) => [
        id,
        formatTime(created),
        formatTime(seen),
        address ?? "-",
        [acr, ...amr ?? []].join(" "),
        agent ?? "-",
      ]),
    );
  },
});

export const signOut: StoreAction = storeAction({
  operands: "USER [SESSION]",
  summary: "ends one session, or all",
  options: {},
  async run({ store, operands: [user, session], json }) {
    const id = await getUserId(store, user!);
    if (session !== "" && !await endUserSession(store, id, session!)) {
      throw new Error(`Session not found: "${session}"`);
    }
    const ended = session === "" ? await endUserSessions(store, id) : 1;
    printLine(json ? JSON.stringify({ ended }) : `Ended ${count(ended, "session")}`);
  },
});

export const resetFactors: StoreAction = storeAction({
  operands: "USER",
  summary: "removes passkeys, authenticator app and recovery codes: the password alone is enough again",
  options: {},
  async run({ store, operands: [user], json }) {
    const removed = await removeFactors(store, await getUserId(store, user!));
    if (!removed) throw new Error(`"${user}" has no second factor`);
    printLine(json ? JSON.stringify({ user, removed }) : `Removed the factors of ${user}`);
  },
});

export const grants: StoreAction = storeAction({
  operands: "USER",
  summary: "lists what the user allowed applications",
  options: {},
  async run({ store, operands: [user], json }) {
    const found = await listUserGrants(store, await getUserId(store, user!));
    if (json) return printLine(JSON.stringify(found));
    printTable(
      ["GRANT", "CLIENT", "NAME", "SCOPE", "RESOURCE", "GIVEN", "LAST USED"],
      found.map(({ grant, client, client_name, scope, resource, created, used }) => [
        grant,
        client,
        client_name,
        scope,
        resource?.join(" ") ?? "-",
        formatTime(created),
        formatTime(used),
      ]),
    );
  },
});

export const revoke: StoreAction = storeAction({
  operands: "USER [GRANT]",
  summary: "takes back a grant: its tokens end",
  options: {
    client: { value: "ID", summary: "all grants of this client" },
    all: { summary: "all grants" },
  },
  async run({ store, values: { client, all }, operands: [user, grant], json }) {
    if ([grant !== "", client !== undefined, all].filter(Boolean).length !== 1) {
      throw new UsageError("missing argument: GRANT, --client or --all, and one of them only");
    }
    const id = await getUserId(store, user!);
    const chosen = grant !== ""
      ? [grant!]
      : (await listUserGrants(store, id)).filter((each) => all || each.client === client).map((each) =>
        each.grant
      );
    let ended = 0;
    for (const each of chosen) ended += Number(await endUserGrant(store, id, each));
    if (ended === 0 && grant !== "") throw new Error(`Grant not found: "${grant}"`);
    printLine(json ? JSON.stringify({ revoked: ended }) : `Revoked ${count(ended, "grant")}`);
  },
});

async function getUserId(store: Store, user: string): Promise<string> {
  const account = await findAccount(store, user);
  if (!account) throw new Error(`User not found: "${user}"`);
  return account.id;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
