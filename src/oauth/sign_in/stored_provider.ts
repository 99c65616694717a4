/**
 * Identity providers that the operator adds at run time: settings in the store, with a sealed secret.
 *
 * @module
 */
import { checkNames, type Names } from "../../options/option_check.ts";
import { createSealer, type Sealer } from "../../crypto/seal.ts";
import type { FindSecrets } from "../../crypto/server_secrets.ts";
import { PublicFetchError } from "../../http/network/public_fetch.ts";
import { LOST_RACE, removeExisting, retryLostRaces } from "../../store/retry.ts";
import { compareAndSet, listAll, type Store, timeOf } from "../../store/store.ts";
import { isSameClient, providerKey, type StoredProvider } from "../records/provider_record.ts";
import type { UserRole } from "../records/user_record.ts";
import { apple } from "./apple.ts";
import { entra } from "./entra.ts";
import { github } from "./github.ts";
import { google } from "./google.ts";
import { oidc } from "./oidc.ts";
import type { SignInProvider } from "./provider.ts";
import { defineProviders } from "./provider_ids.ts";
export type { Sealer };

export const PROVIDER_KINDS = ["oidc", "google", "entra", "github", "apple"] as const;

/** What an operator says of a provider. */
export interface ProviderRegistration {
  readonly kind: StoredProvider["kind"];
  /** @default the kind */
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly clientId: string;
  /** Of Apple the content of its `.p8` file. */
  readonly clientSecret?: string | undefined;
  /** Of an OpenID Provider, or the address of a GitHub Enterprise Server. */
  readonly issuer?: string | undefined;
  /** Of Entra. */
  readonly tenant?: string | undefined;
  /** Domains of verified e-mail addresses that may sign in; of Google the hosted domains. */
  readonly domains?: readonly string[] | undefined;
  /** Groups, or organizations of GitHub, that may sign in. */
  readonly groups?: readonly string[] | undefined;
  readonly roles?: Readonly<Partial<Record<UserRole, readonly string[]>>> | undefined;
  /** As in `ProviderSettings`. */
  readonly scopes?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly keepTokens?: boolean | undefined;
  /** Of an OpenID Provider: the claim with the groups. */
  readonly groupsClaim?: string | undefined;
  /** Of Apple. */
  readonly teamId?: string | undefined;
  readonly keyId?: string | undefined;
}

const NAMES: Names<ProviderRegistration> = {
  kind: "unknown",
  id: "string",
  name: "string",
  clientId: "string",
  clientSecret: "string",
  issuer: "string",
  tenant: "string",
  domains: "string[]",
  groups: "string[]",
  roles: "object",
  scopes: "object",
  keepTokens: "boolean",
  groupsClaim: "string",
  teamId: "string",
  keyId: "string",
};

/** The settings that only some kinds use. Google and Apple say nothing about groups. */
const USED_BY: { readonly [Name in keyof ProviderRegistration]?: readonly StoredProvider["kind"][] } = {
  issuer: ["oidc", "github"],
  tenant: ["entra"],
  groups: ["oidc", "entra", "github"],
  roles: ["oidc", "entra", "github"],
  groupsClaim: ["oidc"],
  teamId: ["apple"],
  keyId: ["apple"],
};

/** Whether a provider of this kind uses the setting. */
export function usesSetting(kind: StoredProvider["kind"], name: string): boolean {
  return (USED_BY as Readonly<Record<string, readonly string[]>>)[name]?.includes(kind) ?? true;
}

/** @throws {TypeError} for a setting that would do nothing, and for lists with which no one could sign in */
function checkSettings(kind: StoredProvider["kind"], settings: Omit<ProviderChanges, "clientSecret">): void {
  for (const [name, value] of Object.entries(settings)) {
    if (value === undefined || value === null) continue;
    if (!usesSetting(kind, name)) {
      throw new TypeError(`Invalid settings: ${name} does nothing for a provider of the kind ${kind}`);
    }
    const groups = name === "roles" || name === "scopes" ? Object.values(value).flat() : value;
    const isEmpty = Array.isArray(groups) &&
      (groups.includes("") || Array.isArray(value) && value.length === 0);
    if (isEmpty) throw new TypeError(`Invalid settings: ${name} must not be empty`);
  }
}

const PURPOSE = "secret of an identity provider";

/** Seals the client secrets with the server's secret. */
export function createSecretSealer(secret: FindSecrets): Sealer {
  return createSealer(secret, PURPOSE);
}

/**
 * Adds a provider, or replaces the one with this id.
 * @param options.replace `false` leaves one with this id as it is, and returns `undefined`
 * @throws {TypeError} for settings that no provider can be made of
 */
export async function addProvider(
  store: Store,
  sealer: Sealer,
  registration: ProviderRegistration,
): Promise<StoredProvider>;
export async function addProvider(
  store: Store,
  sealer: Sealer,
  registration: ProviderRegistration,
  options: { readonly replace: boolean },
): Promise<StoredProvider | undefined>;
export async function addProvider(
  store: Store,
  sealer: Sealer,
  registration: ProviderRegistration,
  { replace }: { readonly replace: boolean } = { replace: true },
): Promise<StoredProvider | undefined> {
  checkNames("addProvider", registration, NAMES);
  const { clientSecret, id = registration.kind, ...rest } = registration;
  checkSettings(rest.kind, rest);
  const stored: StoredProvider = {
    ...rest,
    id,
    ...(clientSecret !== undefined && { sealedSecret: await sealer.seal(clientSecret) }),
    added: timeOf(store),
  };
  defineProviders([await openProvider(stored, sealer)]);
  const key = providerKey(id);
  const done = await store.commit({
    check: replace ? [] : [{ key, version: null }],
    set: [{ key, value: stored }],
  });
  return done ? stored : undefined;
}

/** New values; `null` removes one, and what is left out stays. */
export type ProviderChanges = {
  readonly [Name in Exclude<keyof ProviderRegistration, "id" | "kind">]?:
    | ProviderRegistration[Name]
    | null
    | undefined;
};

/**
 * Changes a provider. The users who signed in at it keep their accounts while its issuer stays the same.
 * @param onMoved called before the commit and after it, when tokens of the provider as it was are not for what it becomes
 * @returns `undefined` when there is no provider with this id
 * @throws {TypeError} as {@linkcode addProvider}; then nothing is changed
 */
export async function updateProvider(
  store: Store,
  sealer: Sealer,
  id: string,
  { clientSecret, ...changes }: ProviderChanges,
  onMoved: () => Promise<unknown> = () => Promise.resolve(),
): Promise<StoredProvider | undefined> {
  return await retryLostRaces(async () => {
    const entry = await store.get<StoredProvider>(providerKey(id));
    if (!entry) return undefined;
    checkSettings(entry.value.kind, changes);
    const members: Record<string, unknown> = { ...entry.value };
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) delete members[name];
      else if (value !== undefined) members[name] = value;
    }
    if (clientSecret === null) delete members.sealedSecret;
    else if (clientSecret !== undefined) members.sealedSecret = await sealer.seal(clientSecret);
    const value = members as unknown as StoredProvider;
    defineProviders([await openProvider(value, sealer)]);
    const isMoved = !isSameClient(value, entry.value);
    if (isMoved) await onMoved();
    if (!await compareAndSet(store, entry.key, entry.version, value)) return LOST_RACE;
    // Also for tokens of sign-ins that ended meanwhile.
    if (isMoved) await onMoved();
    return value;
  });
}

/** Removes a provider. @returns `false` when there is no provider with this id */
export function removeProvider(store: Store, id: string): Promise<boolean> {
  return removeExisting(store, providerKey(id));
}

/** The stored providers, in order of their ids. */
export async function* listProviders(store: Store): AsyncGenerator<StoredProvider> {
  for await (const { value } of listAll<StoredProvider>(store, ["provider"])) yield value;
}

/** The provider of these settings. @throws {TypeError} when they are invalid, or the secret was sealed by another server */
export async function openProvider(stored: StoredProvider, sealer: Sealer): Promise<SignInProvider> {
  const { kind, id, name, clientId, sealedSecret, issuer, tenant } = stored;
  const clientSecret = sealedSecret === undefined ? undefined : await sealer.unseal(sealedSecret);
  if (sealedSecret !== undefined && clientSecret === undefined) {
    throw new TypeError(`The secret of provider "${id}" was sealed by another server: add it again`);
  }
  // Earlier versions stored empty lists and names, with which no one can sign in.
  const groups = withoutEmpty(stored.groups);
  const domains = withoutEmpty(stored.domains);
  const isClosed = groups?.length === 0 || domains?.length === 0;
  const shared = {
    id,
    clientId,
    ...(name !== undefined && { name }),
    ...(!isClosed && groups && { groups }),
    ...(stored.roles && { roles: withoutEmptyGroups(stored.roles) }),
    ...(stored.scopes && { scopes: withoutEmptyGroups(stored.scopes) }),
    ...(stored.keepTokens && { keepTokens: true }),
    ...(isClosed && { admits: () => false }),
  };
  const settings = { ...shared, ...(clientSecret !== undefined && { clientSecret }) };
  switch (kind) {
    case "google":
      return google({ ...settings, ...(!isClosed && domains && { hostedDomains: domains }) });
    case "github":
      return github({
        ...settings,
        ...(!isClosed && domains && { domains }),
        ...(issuer !== undefined && { server: issuer }),
      });
    case "entra":
      return entra({ ...settings, ...(!isClosed && domains && { domains }), tenant: tenant ?? "" });
    case "apple":
      return apple({
        ...shared,
        ...(!isClosed && domains && { domains }),
        teamId: stored.teamId ?? "",
        keyId: stored.keyId ?? "",
        privateKey: clientSecret ?? "",
      });
    case "oidc":
      return oidc({
        ...settings,
        ...(!isClosed && domains && { domains }),
        ...(stored.groupsClaim !== undefined && { groupsClaim: stored.groupsClaim }),
        issuer: issuer ?? "",
      });
  }
}

/**
 * The provider of these settings. One whose settings cannot be used refuses all that it is asked, and names the reason, so
 * that the pages of its users work all the same.
 */
export async function openOrRefuse(
  stored: StoredProvider,
  sealer: Sealer,
): Promise<SignInProvider & { readonly isUnusable?: true }> {
  try {
    return await openProvider(stored, sealer);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const { id, name = id, keepTokens = false } = stored;
    const refuse = () => Promise.reject(new PublicFetchError(error.message, { cause: error }));
    const asked = { start: refuse, finish: refuse, refreshTokens: refuse, revokeTokens: refuse };
    return { id, name, keepTokens, ...asked, isUnusable: true };
  }
}

function withoutEmpty(texts: readonly string[] | undefined): readonly string[] | undefined {
  return texts?.filter((each) => each !== "");
}

function withoutEmptyGroups<Groups extends Readonly<Record<string, readonly string[]>>>(
  groups: Groups,
): Groups {
  return Object.fromEntries(
    Object.entries(groups).map(([name, each]) => [name, withoutEmpty(each)]),
  ) as Groups;
}
