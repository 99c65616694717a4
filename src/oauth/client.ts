/**
 * Clients (https://www.rfc-editor.org/rfc/rfc6749#section-2): registering, finding, listing, removing.
 *
 * @module
 */
import { randomId, randomSecret, secretDigest } from "../crypto/secret.ts";
import { CACHED, listAll, putIfAbsent, type Store } from "../store/store.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import { type Client, clientKey, type GrantType } from "./records.ts";
import { checkDomain, checkRedirectUri } from "./redirect_uri.ts";

/** What an operator says of a client. Without `secret` it is a public client. */
export interface ClientRegistration {
  readonly id: string;
  readonly secret?: string | undefined;
  /** Shown to the user at consent. @default the id */
  readonly name?: string | undefined;
  /** Any https redirect URI on exactly this host. */
  readonly domain?: string | undefined;
  /** Exact redirect URIs. */
  readonly redirect_uris?: readonly string[] | undefined;
  /** @default all that the client can use: with a secret `client_credentials`, with a redirect the code flow */
  readonly grant_types?: readonly GrantType[] | undefined;
  /** Space-separated. @default every scope of the operator but `admin` */
  readonly scope?: string | undefined;
}

/** The record of a registration. @throws {TypeError} naming the member that cannot stand */
export function toClient(registration: ClientRegistration, now: number): Client {
  const { id, secret, name = id, domain, redirect_uris, scope } = registration;
  if (!/^[\x21-\x7e]{1,256}$/.test(id)) {
    throw new TypeError(`Cannot register client "${id}": its id must be 1 to 256 printable ASCII characters`);
  }
  if (secret !== undefined && !/^[\x20-\x7e]{1,256}$/.test(secret)) {
    throw new TypeError(
      `Cannot register client "${id}": its secret must be 1 to 256 printable ASCII characters`,
    );
  }
  redirect_uris?.forEach(checkRedirectUri);
  if (domain !== undefined) checkDomain(domain);
  const redirects = domain !== undefined || (redirect_uris?.length ?? 0) > 0;
  const possible: GrantType[] = [
    ...(redirects ? ["authorization_code", "refresh_token"] as const : []),
    ...(secret === undefined ? [] : ["client_credentials"] as const),
  ];
  const grant_types = registration.grant_types ?? possible;
  const impossible = grant_types.find((type) => !possible.includes(type));
  if (impossible !== undefined) {
    const need = impossible === "client_credentials" ? "a secret" : "a domain or redirect URIs";
    throw new TypeError(`Cannot register client "${id}": ${impossible} needs ${need}`);
  }
  if (grant_types.length === 0) {
    throw new TypeError(`Cannot register client "${id}": it needs a secret, a domain or redirect URIs`);
  }
  return {
    id,
    name,
    ...(secret !== undefined && { secret_digest: secretDigest(secret) }),
    ...(redirect_uris && { redirect_uris }),
    ...(domain !== undefined && { domain }),
    grant_types,
    ...(scope !== undefined && { scope }),
    created: now,
  };
}

/** The client with this id: a configured one, else one in the store. */
export async function findClient(as: AuthorizationServer, id: string): Promise<Client | undefined> {
  return as.configured.get(id) ?? (await as.store.get<Client>(clientKey(id), CACHED))?.value;
}

/**
 * Registers a client in the store. A missing id is made; a missing secret too, unless `public` says none.
 * The secret is returned this once and kept only as a digest.
 * @throws {TypeError} as {@linkcode toClient}, or when the id is taken
 */
export async function addClient(
  store: Store,
  { public: isPublic = false, ...registration }: Omit<ClientRegistration, "id"> & {
    readonly id?: string | undefined;
    readonly public?: boolean;
  },
): Promise<{ client: Client; secret: string | undefined }> {
  const id = registration.id ?? randomId("client_");
  const secret = isPublic ? undefined : registration.secret ?? randomSecret("trivet_cs_");
  const client = toClient({ ...registration, id, secret }, Date.now());
  if (!await putIfAbsent(store, clientKey(id), client)) {
    throw new TypeError(`Cannot register client "${id}": the id is taken`);
  }
  return { client, secret };
}

/** Every client of the store, by id. */
export async function* listClients(store: Store): AsyncGenerator<Client> {
  for await (const { value } of listAll<Client>(store, ["client"])) yield value;
}

/** Removes a client; `false` when there was none. It can refresh no more; access tokens run out by themselves. */
export async function removeClient(store: Store, id: string): Promise<boolean> {
  const entry = await store.get(clientKey(id));
  return entry !== undefined &&
    await store.commit({ check: [{ key: entry.key, version: entry.version }], remove: [entry.key] });
}
