/**
 * Operations on OAuth clients.
 *
 * @module
 */
import { addClient as add, removeClient as remove } from "../../oauth/clients/client.ts";
import type { ClientRegistration } from "../../oauth/clients/client_registration.ts";
import {
  type ClientChanges,
  rotateClientSecret as rotate,
  updateClient as update,
} from "../../oauth/clients/client_changes.ts";
import { type Client, clientKey } from "../../oauth/records/client_record.ts";
import type { Entry } from "../../store/store.ts";
import { createSearch, listPage, type Page, pageInput, pageOf, type PageQuery } from "../list_page.ts";
import {
  AdminError,
  type AdminOperation,
  notFound,
  refuseInvalid,
  type Schema,
  toIsoOrNull,
} from "../operation.ts";
import { allOrNull, count, flag, input, object, orNull, SECRET, type Secret, text, time } from "../schema.ts";
import {
  type AdminClient,
  CLIENT_METADATA,
  CLIENT_OBJECT,
  CLIENT_PROPERTIES,
  OPTIONAL_CLIENT_PROPERTIES,
  toAdminClient,
} from "./client_metadata.ts";

/** Seconds for which a former secret can stay valid. */
const MAX_KEEP_SECONDS = 30 * 86_400;

const CLIENT: Schema = text("the client id", { min: 1, max: 2048 });
const CHOSEN_SECRET: Schema = text("the secret; a random one when left out", { min: 1, max: 256 });
const { name: NAME, ...REMOVABLE } = CLIENT_METADATA;

/** The path of a client. */
export interface ClientPath {
  readonly client: string;
}

/** What `addClient` adds. */
export type ClientRequest = Partial<ClientRegistration> & { readonly public?: boolean };

/** The new secret of a client. */
export interface SecretRequest {
  /** @default a random one */
  readonly secret?: string;
  readonly keep_old_seconds?: number;
}

/** What `rotateClientSecret` answers. */
export interface RotatedSecret extends Secret {
  readonly id: string;
  readonly old_secret_until: string | null;
}

export const listClients: AdminOperation<PageQuery, Page<AdminClient>> = {
  name: "listClients",
  method: "GET",
  path: "/clients",
  summary: "List the clients in the store",
  input: pageInput(),
  output: pageOf(CLIENT_OBJECT),
  async run({ store, now }, query) {
    const read = ({ value }: Entry<Client>) => toAdminClient(value, now());
    const isFound = createSearch<AdminClient>(
      query.search,
      ({ id, name, domain, redirect_uris = [] }) =>
        [id, name, domain, ...redirect_uris as readonly string[]] as (string | undefined)[],
    );
    return await listPage(store, [{ prefix: ["client"], read }], query, isFound);
  },
};

export const addClient: AdminOperation<ClientRequest, AdminClient & Secret> = {
  name: "addClient",
  method: "POST",
  path: "/clients",
  summary: "Add a client",
  input: input({
    id: text("the client id; a random one when left out", { min: 1, max: 256 }),
    public: flag("a public client: no secret, PKCE instead"),
    secret: CHOSEN_SECRET,
    ...CLIENT_METADATA,
  }),
  output: object({ ...CLIENT_PROPERTIES, secret: SECRET }, OPTIONAL_CLIENT_PROPERTIES),
  isSecret: true,
  subject: (_, { id }) => id,
  async run({ store, now, redirectSchemes }, { public: isPublic, ...registration }) {
    const { id, token_endpoint_auth_method: method } = registration;
    const isTaken = async () => id !== undefined && await store.get(clientKey(id)) !== undefined;
    if (await isTaken()) throw taken(id!);
    const { client, secret } = await refuseInvalid(() =>
      add(store, { ...registration, public: isPublic ?? method === "none" }, redirectSchemes)
    ).catch(async (error) => {
      // Another request may have added it meanwhile.
      throw await isTaken() ? taken(id!) : error;
    });
    return {
      ...toAdminClient(client, now()),
      secret: registration.secret === undefined ? secret ?? null : null,
    };
  },
};

export const showClient: AdminOperation<ClientPath, AdminClient> = {
  name: "showClient",
  method: "GET",
  path: "/clients/:client",
  summary: "Show a client",
  input: input({ client: CLIENT }, ["client"]),
  output: CLIENT_OBJECT,
  async run({ store, now }, { client }) {
    const found = await store.get<Client>(clientKey(client));
    if (!found) throw notFound("Client", client);
    return toAdminClient(found.value, now());
  },
};

export const updateClient: AdminOperation<ClientPath & ClientChanges, AdminClient> = {
  name: "updateClient",
  method: "PATCH",
  path: "/clients/:client",
  summary: "Change the metadata of a client; null removes a member",
  input: input({ client: CLIENT, name: NAME!, ...allOrNull(REMOVABLE) }, ["client"]),
  output: CLIENT_OBJECT,
  subject: (_, { id }) => id,
  async run({ store, now, redirectSchemes }, { client, ...changes }) {
    const changed = await refuseInvalid(() => update(store, client, changes, redirectSchemes));
    if (!changed) throw notFound("Client", client);
    return toAdminClient(changed, now());
  },
};

export const removeClient: AdminOperation<ClientPath, void> = {
  name: "removeClient",
  method: "DELETE",
  path: "/clients/:client",
  summary: "Remove a client with all its tokens",
  input: input({ client: CLIENT }, ["client"]),
  output: undefined,
  subject: ({ client }) => client,
  async run({ store, actor }, { client }) {
    if (client === actor) throw new AdminError("conflict_error", "A client cannot remove itself");
    if (!await remove(store, client)) throw notFound("Client", client);
  },
};

export const rotateClientSecret: AdminOperation<ClientPath & SecretRequest, RotatedSecret> = {
  name: "rotateClientSecret",
  method: "POST",
  path: "/clients/:client/secret",
  summary: "Give a client a new secret",
  input: input({
    client: CLIENT,
    secret: CHOSEN_SECRET,
    keep_old_seconds: count("seconds for which the former secret stays valid; 0 when left out", {
      max: MAX_KEEP_SECONDS,
    }),
  }, ["client"]),
  output: object({
    id: text("the client id", { max: 2048 }),
    old_secret_until: orNull(time("until when the former secret is valid")),
    secret: SECRET,
  }),
  isSecret: true,
  subject: ({ client }) => client,
  async run({ store }, { client: id, secret: chosen, keep_old_seconds: keepOld }) {
    const rotated = await refuseInvalid(() => rotate(store, id, { secret: chosen, keepOld }));
    if (!rotated) throw notFound("Client", id);
    const { client, secret } = rotated;
    return {
      id: client.id,
      old_secret_until: toIsoOrNull(client.previous_secret?.until),
      secret: chosen === undefined ? secret : null,
    };
  },
};

/** The operations of this file. */
export const CLIENT_OPERATIONS: readonly AdminOperation[] = [
  listClients,
  addClient,
  showClient,
  updateClient,
  removeClient,
  rotateClientSecret,
];

function taken(id: string): AdminError {
  return new AdminError("conflict_error", `id: ${JSON.stringify(id)} is taken`);
}
