/**
 * The identity providers of a server: those of the option `signIn`, then those in its store.
 *
 * @module
 */
import type { AuthorizationServerOptions } from "../authorization_server.ts";
import { providerKey, type StoredProvider } from "../records.ts";
import { defineProviders, type SignInProvider } from "./provider.ts";

export interface ProviderDirectory {
  find(id: string): Promise<SignInProvider | undefined>;
  list(): Promise<readonly Pick<SignInProvider, "id" | "name">[]>;
}

/** Stored providers that the login page shows. */
const MAX_LISTED = 20;

/** @throws {TypeError} for an invalid or repeated id in `signIn` */
export function createProviderDirectory(
  { signIn, storedProviders, store, secret }: AuthorizationServerOptions,
): ProviderDirectory {
  const configured = defineProviders(signIn);
  return {
    async find(id) {
      const known = configured.get(id);
      if (known || !storedProviders) return known;
      const stored = (await store.get<StoredProvider>(providerKey(id)))?.value;
      if (!stored) return undefined;
      const { createSecretSealer, openProvider } = await import("./stored_provider.ts");
      return await openProvider(stored, createSecretSealer(secret));
    },
    async list() {
      const own = [...configured.values()];
      if (!storedProviders) return own;
      const stored = await store.list<StoredProvider>(["provider"], { limit: MAX_LISTED });
      return [
        ...own,
        ...stored.filter(({ value }) => !configured.has(value.id))
          .map(({ value: { id, name, kind } }) => ({ id, name: name ?? NAMES[kind] ?? id })),
      ];
    },
  };
}

const NAMES: Readonly<Partial<Record<StoredProvider["kind"], string>>> = {
  google: "Google",
  entra: "Microsoft",
  github: "GitHub",
};
