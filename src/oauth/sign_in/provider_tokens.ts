/**
 * The tokens of identity providers that are kept for their users: sealed in the store, refreshed once for all instances,
 * revoked at the provider (RFC 7009) when the user unlinks the account there or is removed.
 *
 * @module
 */
import { createSealer, type Sealer } from "../../crypto/seal.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import { type Entry, listAll } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { plain } from "../error.ts";
import {
  isSameClient,
  type LinkedAccount,
  linkedAccountKey,
  providerKey,
  providerTokensKey,
  type StoredProvider,
  type StoredProviderTokens,
  userProviderTokensPrefix,
} from "../records/provider_record.ts";
import { findUser } from "../users/user.ts";
import { type Identity, type ProviderTokens, type SignInProvider, TokenRefusedError } from "./provider.ts";
import { contextOf } from "./provider_directory.ts";
import { getRenewed, type Renewal } from "../renewal.ts";

/** What is needed of a server to reach the providers of its users: `trivet.oauth.providerAccess`. */
export type ProviderAccess = Pick<
  AuthorizationServer,
  "store" | "secret" | "now" | "observe" | "providers" | "providerFetch" | "providerDocuments"
>;

/** A valid access token of a provider. */
export interface ProviderToken {
  readonly access_token: string;
  readonly id_token?: string | undefined;
  /** Space-separated, if the provider says it. */
  readonly scope?: string | undefined;
}

/** What they are sealed for. */
export const TOKENS_PURPOSE = "tokens of an identity provider";
/** A token is refreshed this long before it expires, or in the last tenth of its lifetime if that is shorter. */
const MARGIN_MS = 60_000;

/**
 * Keeps the tokens of a sign-in. A provider that gives a refresh token at the first sign-in only keeps its earlier one.
 * @param settings of the provider that gave the tokens, if it is in the store
 * @returns `false` when the account was unlinked or removed meanwhile, or the provider was removed or is another client now
 */
export async function keepProviderTokens(
  access: ProviderAccess,
  user: string,
  provider: string,
  { issuer, subject }: Identity,
  tokens: ProviderTokens,
  settings?: StoredProvider,
): Promise<boolean> {
  const sealer = sealerOf(access);
  const key = providerTokensKey(user, provider);
  return await retryLostRaces(async () => {
    const link = await access.store.get<LinkedAccount>(linkedAccountKey(issuer, subject));
    if (link?.value.user !== user) return false;
    const present = settings && await access.store.get<StoredProvider>(providerKey(provider));
    if (settings && !(present && isSameClient(present.value, settings))) return false;
    const entry = await access.store.get<StoredProviderTokens>(key);
    const isSame = entry?.value.issuer === issuer && entry.value.subject === subject;
    const earlier = isSame && tokens.refresh_token === undefined ? await open(sealer, entry) : undefined;
    const kept = { refresh_token: earlier?.refresh_token, ...withoutUndefined(tokens) };
    const value = await sealTokens(sealer, user, provider, { issuer, subject }, kept, access.now());
    const done = await access.store.commit({
      check: [
        { key: link.key, version: link.version },
        ...present ? [{ key: present.key, version: present.version }] : [],
        { key, version: entry?.version ?? null },
      ],
      set: [{ key, value }],
    });
    return done || LOST_RACE;
  });
}

/**
 * The access token of a user at a provider, refreshed when it has expired or is about to: by one of the callers, on
 * whichever instance, while the others wait. `undefined` when the provider keeps no tokens (`keepTokens`), the user has not
 * signed in there since, or the provider refuses to refresh: the user has to sign in there again.
 * @param access `trivet.oauth.providerAccess`
 * @param user the id of the user
 * @param id the id of the provider
 * @throws {SignInError | PublicFetchError} when the provider cannot be asked now
 */
export async function getProviderToken(
  access: ProviderAccess,
  user: string,
  id: string,
): Promise<ProviderToken | undefined> {
  const provider = await access.providers.find(id);
  if (!provider?.keepTokens || !await findUser(access.store, user)) return undefined;
  const tokens = await getRenewed<StoredProviderTokens, ProviderTokens>(
    access,
    providerTokensKey(user, id),
    renewalOf(access, provider, user),
  );
  return tokens && toProviderToken(tokens);
}

function renewalOf(
  access: ProviderAccess,
  provider: SignInProvider,
  user: string,
): Renewal<StoredProviderTokens, ProviderTokens> {
  const sealer = sealerOf(access);
  return {
    isRenewable: ({ hasRefreshToken }) => hasRefreshToken && provider.refreshTokens !== undefined,
    read: (entry) => open(sealer, entry),
    async renew(entry) {
      const { id } = provider;
      const before = await open(sealer, entry);
      if (before?.refresh_token === undefined) return undefined;
      let fresh: ProviderTokens;
      try {
        fresh = await provider.refreshTokens!(contextOf(access), before.refresh_token);
      } catch (error) {
        if (!(error instanceof TokenRefusedError) || error.code !== "invalid_grant") throw error;
        access.observe({ type: "provider_tokens_ended", user, provider: id, reason: plain(error.message) });
        return undefined;
      }
      const token = { ...before, expires_in: undefined, ...withoutUndefined(fresh) };
      return { value: await sealTokens(sealer, user, id, entry.value, token, access.now()), token };
    },
    discard: (tokens) => revokeTokens(access, provider, user, tokens),
  };
}

/** Tokens that were kept, to be revoked when their record is gone. */
export type KeptTokens = readonly { readonly provider: string; readonly tokens: ProviderTokens }[];

/** The kept tokens of a user: read them before the user is removed. */
export async function readProviderTokens(access: ProviderAccess, user: string): Promise<KeptTokens> {
  const sealer = sealerOf(access);
  const found: { provider: string; tokens: ProviderTokens }[] = [];
  for await (const entry of listAll<StoredProviderTokens>(access.store, userProviderTokensPrefix(user))) {
    const provider = String(entry.key[2]);
    const tokens = await open(sealer, entry);
    if (tokens) found.push({ provider, tokens });
  }
  return found;
}

/** Revokes tokens at their providers. Does not fail: a provider that does not answer is an event. */
export async function revokeProviderTokens(
  access: ProviderAccess,
  user: string,
  kept: KeptTokens,
): Promise<void> {
  await Promise.all(kept.map(async ({ provider: id, tokens }) => {
    const provider = await access.providers.find(id);
    if (provider) await revokeTokens(access, provider, user, tokens);
  }));
}

/**
 * Revokes and removes all kept tokens of a provider, before the provider is removed or becomes another one.
 * @param provider as it was, when it is removed already
 * @returns their number
 */
export async function endProviderTokens(
  access: ProviderAccess,
  id: string,
  provider?: SignInProvider | undefined,
): Promise<number> {
  const revoking = provider ?? await access.providers.find(id);
  const sealer = sealerOf(access);
  let count = 0;
  for await (const { key } of listAll(access.store, ["provider_tokens"])) {
    const [, user, of] = key;
    if (of !== id) continue;
    const tokens = await retryLostRaces(async () => {
      const entry = await access.store.get<StoredProviderTokens>(key);
      if (!entry) return undefined;
      const found = await open(sealer, entry);
      const check = [{ key, version: entry.version }];
      // After a lost race it is read again: a token that was renewed meanwhile is the one to revoke.
      return await access.store.commit({ check, remove: [key] }) ? found : LOST_RACE;
    });
    if (tokens && revoking) await revokeTokens(access, revoking, String(user), tokens);
    count++;
  }
  return count;
}

/** Revokes the tokens at the provider. Does not fail: a provider that does not answer is an event. */
export async function revokeTokens(
  access: ProviderAccess,
  provider: SignInProvider,
  user: string,
  tokens: ProviderTokens,
): Promise<void> {
  try {
    await provider.revokeTokens?.(contextOf(access), tokens);
  } catch (error) {
    const reason = `not revoked: ${plain(error instanceof Error ? error.message : String(error))}`;
    access.observe({ type: "provider_tokens_ended", user, provider: provider.id, reason });
  }
}

function toProviderToken({ access_token, id_token, scope }: ProviderTokens): ProviderToken {
  return { access_token, ...withoutUndefined({ id_token, scope }) };
}

async function sealTokens(
  sealer: Sealer,
  user: string,
  provider: string,
  { issuer, subject }: Pick<StoredProviderTokens, "issuer" | "subject">,
  { expires_in, ...tokens }: ProviderTokens,
  now: number,
): Promise<StoredProviderTokens> {
  const boundTo = bindingOf(user, provider, issuer, subject);
  const stale = expires_in === undefined
    ? undefined
    : now + expires_in * 1000 - Math.min(MARGIN_MS, expires_in * 100);
  return {
    issuer,
    subject,
    sealed: await sealer.seal(JSON.stringify(tokens), boundTo),
    ...(stale !== undefined && { stale }),
    hasRefreshToken: tokens.refresh_token !== undefined,
  };
}

/** `undefined` for a record that was copied from another key, or that another server sealed. */
async function open(
  sealer: Sealer,
  entry: Entry<StoredProviderTokens>,
): Promise<ProviderTokens | undefined> {
  const text = await sealer.unseal(entry.value.sealed, bindingOfEntry(entry));
  return text === undefined ? undefined : JSON.parse(text) as ProviderTokens;
}

/** The text to which the seal of a record is bound. */
export function bindingOfEntry({ key, value }: Entry<StoredProviderTokens>): string {
  return bindingOf(String(key[1]), String(key[2]), value.issuer, value.subject);
}

function bindingOf(...parts: readonly string[]): string {
  return JSON.stringify(parts);
}

function sealerOf({ secret }: ProviderAccess): Sealer {
  return createSealer(secret, TOKENS_PURPOSE);
}

function withoutUndefined<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}
