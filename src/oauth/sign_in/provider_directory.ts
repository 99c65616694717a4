/**
 * The identity providers of a server: those of the option `signIn`, then those in its store.
 *
 * @module
 */
import type { FindSecrets } from "../../crypto/server_secrets.ts";
import type { Store } from "../../store/store.ts";
import { providerKey, type StoredProvider } from "../records/provider_record.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { FoundProvider, ProviderContext, ProviderDirectory, SignInProvider } from "./provider.ts";
import { defineProviders, isLoginClass } from "./provider_ids.ts";

/** Stored providers that the login page shows. */
const MAX_LISTED = 20;

interface DirectoryOptions {
  readonly signIn: readonly SignInProvider[];
  /** Whether those in the store count, too. */
  readonly storedProviders: boolean;
  readonly store: Store;
  /** The secret with which their secrets are sealed. */
  readonly secret: FindSecrets;
  /** The class of logins with a second factor. */
  readonly factors?: { readonly acr: string };
}

/** @throws {TypeError} for an invalid or repeated id in `signIn` */
export function createProviderDirectory(
  { signIn, storedProviders, store, secret, factors }: DirectoryOptions,
): ProviderDirectory {
  const configured = defineProviders(signIn, factors?.acr);
  const findConflict = (id: string): string | undefined =>
    configured.has(id)
      ? "is that of a provider in the option oauth.signIn"
      : isLoginClass(id, factors?.acr)
      ? "is the acr of another kind of login"
      : undefined;
  const find = async (id: string): Promise<FoundProvider & { readonly isUnusable?: true } | undefined> => {
    const known = configured.get(id);
    if (!storedProviders || findConflict(id) !== undefined) return known;
    const settings = await store.get<StoredProvider>(providerKey(id));
    if (!settings) return undefined;
    const { createSecretSealer, openOrRefuse } = await import("./stored_provider.ts");
    return { ...await openOrRefuse(settings.value, createSecretSealer(secret)), settings: settings.value };
  };
  return {
    findConflict,
    find,
    async isUsable(id) {
      const found = await find(id);
      return found !== undefined && !found.isUnusable;
    },
    async list() {
      const own = [...configured.values()];
      if (!storedProviders) return own;
      const stored = await store.list<StoredProvider>(["provider"], { limit: MAX_LISTED });
      return [
        ...own,
        ...stored.filter(({ value: { id } }) => findConflict(id) === undefined)
          .map(({ value: { id, name, kind } }) => ({ id, name: name ?? NAMES[kind] ?? id })),
      ];
    },
  };
}

const NAMES: Readonly<Partial<Record<StoredProvider["kind"], string>>> = {
  google: "Google",
  entra: "Microsoft",
  github: "GitHub",
  apple: "Apple",
};

/** What providers use of the server. */
export function contextOf(
  { providerFetch, providerDocuments, now }: Pick<
    AuthorizationServer,
    "providerFetch" | "providerDocuments" | "now"
  >,
): ProviderContext {
  return { fetch: providerFetch, documents: providerDocuments, now };
}
