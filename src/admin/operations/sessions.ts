/**
 * Operations on the login sessions of users.
 *
 * @module
 */
import {
  endUserSession,
  endUserSessions,
  listUserSessions,
  type UserSession,
} from "../../oauth/users/user_sessions.ts";
import { type Page, pageInput, pageOf, pageOfMembers, type PageQuery } from "../list_page.ts";
import { type AdminOperation, notFound, type Schema, toIso } from "../operation.ts";
import { input, object, orNull, text, time } from "../schema.ts";
import { getUser, USER, type UserPath } from "./user_record.ts";

/** A login session in an answer. */
export interface AdminSession {
  readonly id: string;
  readonly created: string;
  readonly used: string;
  readonly address: string | null;
  readonly agent: string | null;
  readonly acr: string;
  readonly amr: readonly string[];
}

const SESSION: Schema = text("the id of the session", { min: 1, max: 256 });
const SESSION_OBJECT = object({
  id: text("the id, which is no secret"),
  created: time("when the user signed in"),
  used: time("when it was used last, to within a tenth of its idle lifetime"),
  address: orNull(text("the IP address of the login; null where it is not known")),
  agent: orNull(text("the User-Agent of the login; null where it is not known")),
  acr: text("how the user proved who they are (RFC 9470 section 3)"),
  amr: { type: "array", items: { type: "string" }, description: "by which methods (RFC 8176)" },
});

/** The path parameters of one session. */
export interface SessionPath extends UserPath {
  readonly session: string;
}

export const listSessions: AdminOperation<PageQuery & UserPath, Page<AdminSession>> = {
  name: "listSessions",
  method: "GET",
  path: "/users/:user/sessions",
  summary: "List where a user is signed in, last used first",
  input: { ...pageInput({ user: USER }), required: ["user"] },
  output: pageOf(SESSION_OBJECT),
  async run(context, { user, ...query }) {
    const { id } = await getUser(context, user);
    const members = (await listUserSessions(context.store, id)).map(toAdminSession);
    return pageOfMembers(
      members,
      query,
      ({ used, id }) => `${used} ${id}`,
      ({ id, address, agent }) => [id, address, agent],
    );
  },
};

export const endSession: AdminOperation<SessionPath, void> = {
  name: "endSession",
  method: "DELETE",
  path: "/users/:user/sessions/:session",
  summary: "End a session of a user",
  input: input({ user: USER, session: SESSION }, ["user", "session"]),
  output: undefined,
  subject: ({ session }) => session,
  async run(context, { user, session }) {
    const { id } = await getUser(context, user);
    if (!await endUserSession(context.store, id, session)) throw notFound("Session", session);
  },
};

export const endSessions: AdminOperation<UserPath, string> = {
  name: "endSessions",
  method: "DELETE",
  path: "/users/:user/sessions",
  summary: "End all sessions of a user; the tokens of applications stay",
  input: input({ user: USER }, ["user"]),
  output: undefined,
  subject: (_, id) => id,
  async run(context, { user }) {
    const { id } = await getUser(context, user);
    await endUserSessions(context.store, id);
    return id;
  },
};

export const SESSION_OPERATIONS: readonly AdminOperation[] = [listSessions, endSession, endSessions];

function toAdminSession({ id, created, seen, address, agent, acr, amr }: UserSession): AdminSession {
  return {
    id,
    created: toIso(created),
    used: toIso(seen),
    address: address ?? null,
    agent: agent ?? null,
    acr,
    amr: amr ?? [],
  };
}
