/**
 * The applications to which a user allowed something: by the grants that live, and by the consents that are remembered.
 *
 * @module
 */
import { listAll, type Store } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { type AuthorizationDetail, type Consent } from "../records/authorization_record.ts";
import { type Client, clientKey } from "../records/client_record.ts";
import { listUserGrants, type UserGrant } from "../users/user_grants.ts";

/** An application, and what it may do. Times are milliseconds since the epoch. */
export interface UserApplication {
  readonly client: string;
  /** As the client calls itself. @default its id */
  readonly name: string;
  /** Where the client comes from. @default "registration", for one that was removed */
  readonly source: Client["source"];
  /** Each scope that is granted or allowed without asking again. */
  readonly scopes: readonly string[];
  /** RFC 8707: the resources that are not this server. */
  readonly resources: readonly string[];
  /** RFC 9396 */
  readonly authorization_details?: readonly AuthorizationDetail[];
  /** When the user first allowed what lives now. */
  readonly since: number;
  /** When it last got a token; absent when it has no access now and would get it without asking. */
  readonly used?: number;
}

/** The applications of the user, last used first. */
export async function listUserApplications(
  { store, configured, issuer }: Pick<AuthorizationServer, "store" | "configured" | "issuer">,
  user: string,
): Promise<UserApplication[]> {
  const grants = await listUserGrants(store, user, configured);
  const consents = await listConsents(store, user);
  const clients = [...new Set([...grants, ...consents].map(({ client }) => client))];
  const found = await Promise.all(clients.map(async (client): Promise<UserApplication> => {
    const own = grants.filter((each) => each.client === client);
    const remembered = consents.filter((each) => each.client === client);
    const all = [...own, ...remembered];
    const registered = configured.get(client) ?? await findStored(store, client);
    const details = own.flatMap(({ authorization_details = [] }) => authorization_details);
    return {
      client,
      name: own[0]?.client_name ?? registered?.name ?? client,
      source: client.startsWith("https://") ? "document" : registered?.source ?? "registration",
      scopes: [...new Set(all.flatMap(({ scope }) => scope.split(" ")))].filter((scope) => scope !== ""),
      resources: [...new Set(all.flatMap(({ resource = [] }) => resource))].filter((each) => each !== issuer),
      ...(details.length > 0 && { authorization_details: details }),
      since: Math.min(...all.map(({ created }) => created)),
      ...(own.length > 0 && { used: Math.max(...own.map(({ used }) => used)) }),
    };
  }));
  return found.sort((a, b) => (b.used ?? 0) - (a.used ?? 0) || b.since - a.since);
}

interface RememberedConsent extends Pick<UserGrant, "client" | "scope" | "created" | "resource"> {
  readonly resource: readonly string[];
}

/** The consents that the user gave and that are remembered. */
async function listConsents(store: Store, user: string): Promise<RememberedConsent[]> {
  const found: RememberedConsent[] = [];
  for await (const { key, value } of listAll<Consent>(store, ["consent", user])) {
    const { scope, given } = value;
    found.push({ client: String(key[2]), scope, created: given, resource: [String(key[3])] });
  }
  return found;
}

async function findStored(store: Store, client: string): Promise<Client | undefined> {
  return client.startsWith("https://") ? undefined : (await store.get<Client>(clientKey(client)))?.value;
}
