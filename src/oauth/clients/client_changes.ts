/**
 * Changes to registered clients: their metadata, and a new secret. What the operator changed on a client that registered
 * itself stays so when the client updates its registration. Tokens and codes of the client stay valid, and users are asked
 * again where the change concerns what they saw (`../consent/consent_memory.ts`).
 *
 * @module
 */
import { randomSecret, secretDigest } from "../../crypto/secret.ts";
import { checkNames, type Names } from "../../options/option_check.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import { compareAndSet, type Store, timeOf } from "../../store/store.ts";
import { type Client, clientKey } from "../records/client_record.ts";
import { toClient } from "./client.ts";
import { checkChangedMembers, type ClientRegistration } from "./client_registration.ts";

/** Seconds for which a former secret can stay valid. */
const MAX_KEEP_SECONDS = 30 * 86_400;

/** New values of members; `null` removes a member, and what is left out stays. */
export type ClientChanges = {
  readonly [Name in Exclude<keyof ClientRegistration, "id" | "secret">]?: ClientRegistration[Name] | null;
};

/**
 * Changes the metadata of a client in the store. `jwks` replaces `jwks_uri`, and the other way round. With another
 * authentication method than a secret, the secret is removed.
 * @param redirectSchemes private-use schemes without a dot that redirect URIs may have
 * @returns the changed client; `undefined` when there is none with this id
 * @throws {TypeError} naming the invalid member, or one that does not exist
 */
export async function updateClient(
  store: Store,
  id: string,
  changes: ClientChanges,
  redirectSchemes?: readonly string[],
): Promise<Client | undefined> {
  checkChangedMembers(changes);
  return await change(store, id, (client) => applyChanges(client, changes, redirectSchemes));
}

/** Options of {@linkcode rotateClientSecret}. */
export interface ClientSecretOptions {
  /** 1 to 256 printable ASCII characters. @default a random one */
  readonly secret?: string | undefined;
  /** Seconds for which the former secret stays valid, up to 30 days. @default 0 */
  readonly keepOld?: number | undefined;
}

const NAMES: Names<ClientSecretOptions> = { secret: "string", keepOld: "number" };

/**
 * Gives a client a new secret. The secret is returned only here: the store keeps its digest.
 * @returns `undefined` when there is no client with this id
 * @throws {TypeError} when the client authenticates without a secret, `secret` is invalid, or an option does not exist
 * @throws {RangeError} for an invalid `keepOld`
 */
export async function rotateClientSecret(
  store: Store,
  id: string,
  options: ClientSecretOptions = {},
): Promise<{ client: Client; secret: string } | undefined> {
  checkNames("rotateClientSecret", options, NAMES);
  const { secret = randomSecret("trivet_cs_"), keepOld = 0 } = options;
  if (!(Number.isSafeInteger(keepOld) && keepOld >= 0 && keepOld <= MAX_KEEP_SECONDS)) {
    throw new RangeError(`keepOld must be a number of seconds from 0 to ${MAX_KEEP_SECONDS}`);
  }
  const client = await change(store, id, (before) => {
    const { secret_digest, previous_secret: _, weak_secret, ...rest } = before;
    if (secret_digest === undefined) {
      throw new TypeError(
        `Client "${id}" has no secret: it authenticates with ${before.token_endpoint_auth_method}`,
      );
    }
    // Checks the secret, and whether it can be guessed.
    const { weak_secret: isWeak } = toClient({ id, secret }, 0);
    const until = timeOf(store) + keepOld * 1000;
    return {
      ...rest,
      secret_digest: secretDigest(secret),
      ...(keepOld > 0 && { previous_secret: { digest: secret_digest, until } }),
      ...((isWeak || keepOld > 0 && weak_secret) && { weak_secret: true }),
    };
  });
  return client && { client, secret };
}

/** The client without what proves that it is this client. */
export function withoutSecrets(
  { secret_digest: _, previous_secret: __, registration_access_token_digest: ___, ...shown }: Client,
): Omit<Client, "secret_digest" | "previous_secret" | "registration_access_token_digest"> {
  return shown;
}

async function change(
  store: Store,
  id: string,
  next: (client: Client) => Client,
): Promise<Client | undefined> {
  return await retryLostRaces(async () => {
    const entry = await store.get<Client>(clientKey(id));
    if (!entry) return undefined;
    const value = next(entry.value);
    return await compareAndSet(store, entry.key, entry.version, value, entry.expires) ? value : LOST_RACE;
  });
}

function applyChanges(
  client: Client,
  changes: ClientChanges,
  redirectSchemes: readonly string[] | undefined,
): Client {
  const {
    secret_digest,
    previous_secret,
    weak_secret,
    registration_access_token_digest,
    source,
    created,
    metadata,
    default_scope,
    set_by_operator = [],
    ...before
  } = client;
  const members: Record<string, unknown> = { ...before };
  if (changes.jwks) delete members.jwks_uri;
  if (changes.jwks_uri) delete members.jwks;
  const changed = Object.entries(changes).filter(([, value]) => value !== undefined).map(([name]) => name);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) delete members[name];
    else if (value !== undefined) members[name] = value;
  }
  const method = members.token_endpoint_auth_method;
  // Without a method a client that has a secret authenticates with it (`toClient`).
  const usesSecret = secret_digest !== undefined &&
    (method === undefined || method === "client_secret_basic" || method === "client_secret_post");
  // Any strong secret: the digest of the present one takes its place.
  const secret = usesSecret ? { secret: "x".repeat(43) } : {};
  const registration = { ...members, ...secret, id: client.id } as unknown as ClientRegistration;
  return {
    ...toClient(registration, created, redirectSchemes),
    source,
    ...(usesSecret && { secret_digest }),
    ...(usesSecret && previous_secret && { previous_secret }),
    ...(usesSecret && weak_secret && { weak_secret }),
    ...(registration_access_token_digest !== undefined && { registration_access_token_digest }),
    ...(metadata && { metadata }),
    ...(default_scope !== undefined && changes.scope === undefined && { default_scope }),
    ...(source === "registration" && { set_by_operator: [...new Set([...set_by_operator, ...changed])] }),
  };
}

/** Members that no client can describe itself: only an operator sets them. */
const OPERATOR_MEMBERS = [
  "scope",
  "domain",
  "certificate",
  "access_token_format",
  "tls_client_certificate_bound_access_tokens",
  "trusted",
  "introspects",
  "token_exchange_resources",
];
/** Of these one takes the place of another. */
const GROUPS = [["jwks", "jwks_uri"], ["scope", "default_scope"]];

/** The metadata with which a client replaces its own, where the operator has not changed it (RFC 7592 §2.2). */
export function keepOperatorChanges<Metadata extends object>(before: Client, metadata: Metadata): Metadata {
  const { set_by_operator = [] } = before;
  const names = [...set_by_operator, ...OPERATOR_MEMBERS.filter((name) => Object.hasOwn(before, name))];
  const kept = names.flatMap((name) => GROUPS.find((group) => group.includes(name)) ?? [name]);
  const members = [
    ...Object.entries(metadata).filter(([name]) => !kept.includes(name)),
    ...Object.entries(before).filter(([name]) => kept.includes(name)),
  ];
  return Object.fromEntries(members) as Metadata;
}
