/**
 * How commands reach the identity providers in a store: to test one, and to revoke tokens there.
 *
 * @module
 */
import { createConfiguredFetch } from "../../../http/network/public_fetch.ts";
import type { Sealer } from "../../../crypto/seal.ts";
import { createRemoteDocuments } from "../../../oauth/clients/remote_document.ts";
import type { StoredProvider } from "../../../oauth/records.ts";
import { TokenRefusedError } from "../../../oauth/sign_in/provider.ts";
import { contextOf } from "../../../oauth/sign_in/provider_context.ts";
import { createProviderDirectory } from "../../../oauth/sign_in/provider_directory.ts";
import type { ProviderAccess } from "../../../oauth/sign_in/provider_tokens.ts";
import { createSecretSealer, openProvider } from "../../../oauth/sign_in/stored_provider.ts";
import { serverSecret } from "../../../server_secret.ts";
import type { Store } from "../../../store/store.ts";
import { printError } from "../output.ts";

/** The greatest answer of a provider. */
const MAX_ANSWER_BYTES = 256 * 1024;

/** What a test says of the client id and secret. */
export const CLIENT_RESULTS = {
  accepted: "It accepts the client id and secret.",
  unknown: "Whether it accepts the client id and secret shows at the first sign-in.",
} as const;

/** Codes of RFC 6749 section 5.2, and of GitHub, for a code that does not exist and for a client that does not. */
const CODE_REFUSED = ["invalid_grant", "bad_verification_code"];
const CLIENT_REFUSED = ["invalid_client", "unauthorized_client", "incorrect_client_credentials"];

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

/**
 * The address to which users are sent, without its query, and whether the provider accepts the client: a code that does not
 * exist is redeemed, and the error says it.
 * @throws {Error} when the provider does not answer, or refuses the client
 */
export async function testProvider(
  store: Store,
  stored: StoredProvider,
): Promise<{ authorization: string; client: keyof typeof CLIENT_RESULTS }> {
  const provider = await openProvider(stored, sealerOf(store));
  const context = contextOf(providerAccess(store));
  const attempt = {
    redirect_uri: "https://trivet.example/callback",
    state: "test",
    nonce: "test",
    code_verifier: "a code verifier for a test of the provider",
    isNewLogin: false,
    began: 0,
  };
  const url = new URL(await provider.start(context, attempt));
  const authorization = url.origin + url.pathname;
  try {
    // RFC 9207: some providers always name themselves in the callback.
    const iss = stored.kind === "oidc" && stored.issuer !== undefined
      ? [["iss", stored.issuer] as const]
      : [];
    await provider.finish(context, attempt, new Map([["code", "test"], ...iss]));
  } catch (error) {
    const code = error instanceof TokenRefusedError ? error.code : "";
    if (CLIENT_REFUSED.includes(code)) {
      throw new Error(
        `${stored.id} refuses the client id or secret (${code}). Change it with provider update`,
      );
    }
    if (CODE_REFUSED.includes(code)) return { authorization, client: "accepted" };
  }
  return { authorization, client: "unknown" };
}
