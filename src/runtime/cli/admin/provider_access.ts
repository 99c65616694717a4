/**
 * How commands reach the identity providers in a store: to test one, and to revoke tokens there.
 *
 * @module
 */
import { createConfiguredFetch } from "../../../http/network/public_fetch.ts";
import type { Sealer } from "../../../crypto/seal.ts";
import { createRemoteDocuments } from "../../../oauth/clients/remote_document.ts";
import { createProviderDirectory } from "../../../oauth/sign_in/provider_directory.ts";
import type { ProviderAccess } from "../../../oauth/sign_in/provider_tokens.ts";
import { createSecretSealer } from "../../../oauth/sign_in/stored_provider.ts";
import { serverSecret } from "../../../server_secret.ts";
import type { Store } from "../../../store/store.ts";
import { printError } from "../output.ts";

/** The greatest answer of a provider. */
const MAX_ANSWER_BYTES = 256 * 1024;

/** Seals the secrets of the providers in this store. */
export function sealerOf(store: Store): Sealer {
  return createSecretSealer(serverSecret(store));
}

/** The stored providers and how they are reached. What they do not revoke is printed as an error. */
export function providerAccess(store: Store): ProviderAccess {
  const secret = serverSecret(store);
  const connect = (url: string, init: RequestInit) => fetch(url, init);
  const providerFetch = createConfiguredFetch({ connect, limit: MAX_ANSWER_BYTES });
  return {
    store,
    secret,
    now: Date.now,
    observe: (event) => printError("reason" in event ? `${event.type}: ${event.reason}` : event.type),
    providers: createProviderDirectory({ signIn: [], storedProviders: true, store, secret }),
    providerFetch,
    providerDocuments: createRemoteDocuments(providerFetch, Date.now),
  };
}
