/**
 * Operations on grants: what users allowed applications.
 *
 * @module
 */
import { endUserGrant } from "../../oauth/grants/end_grants.ts";
import { listUserGrants, type UserGrant } from "../../oauth/users/user_grants.ts";
import { type Page, pageInput, pageOf, pageOfMembers, type PageQuery } from "../list_page.ts";
import { type AdminOperation, notFound, type Schema, toIso } from "../operation.ts";
import { input, object, text, time } from "../schema.ts";
import { getUser, USER, type UserPath } from "./user_record.ts";

/** A grant in an answer. */
export interface AdminGrant {
  readonly id: string;
  readonly client: string;
  readonly client_name: string;
  readonly scope: string;
  readonly resource?: readonly string[];
  readonly authorization_details?: UserGrant["authorization_details"];
  readonly created: string;
  readonly used: string;
}

const GRANT: Schema = text("the id of the grant", { min: 1, max: 256 });
const GRANT_OBJECT = object({
  id: text("the id, which is no secret"),
  client: text("the id of the client", { max: 2048 }),
  client_name: text("the name of the client", { max: 2048 }),
  scope: text("what was allowed, separated by spaces", { max: 65_536 }),
  resource: { type: "array", items: { type: "string" }, description: "for which resources (RFC 8707)" },
  authorization_details: { type: "array", items: { type: "object" }, description: "RFC 9396" },
  created: time("when it was given"),
  used: time("when the client last got a token for it"),
}, ["resource", "authorization_details"]);

/** The path parameters of one grant. */
export interface GrantPath extends UserPath {
  readonly grant: string;
}

export const listGrants: AdminOperation<PageQuery & UserPath, Page<AdminGrant>> = {
  name: "listGrants",
  method: "GET",
  path: "/users/:user/grants",
  summary: "List what a user allowed applications, last used first",
  input: { ...pageInput({ user: USER }), required: ["user"] },
  output: pageOf(GRANT_OBJECT),
  async run(context, { user, ...query }) {
    const { id } = await getUser(context, user);
    const grants = await listUserGrants(context.store, id, context.configuredClients);
    return pageOfMembers(
      grants.map(toAdminGrant),
      query,
      ({ used, id }) => `${used} ${id}`,
      ({ id, client, client_name, scope }) => [id, client, client_name, scope],
    );
  },
};

export const endGrant: AdminOperation<GrantPath, void> = {
  name: "endGrant",
  method: "DELETE",
  path: "/users/:user/grants/:grant",
  summary: "Take back a grant: its tokens end, and the client has to ask the user again",
  input: input({ user: USER, grant: GRANT }, ["user", "grant"]),
  output: undefined,
  subject: ({ grant }) => grant,
  async run(context, { user, grant }) {
    const { id } = await getUser(context, user);
    if (!await endUserGrant(context.store, id, grant)) throw notFound("Grant", grant);
  },
};

export const GRANT_OPERATIONS: readonly AdminOperation[] = [listGrants, endGrant];

function toAdminGrant({ grant, created, used, ...rest }: UserGrant): AdminGrant {
  return { id: grant, ...rest, created: toIso(created), used: toIso(used) };
}
