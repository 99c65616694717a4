/**
 * Checks an identity provider before users do: whether it answers, and whether it accepts the client id and secret.
 *
 * @module
 */
import type { StoredProvider } from "../records/provider_record.ts";
import { SignInError, TokenRefusedError } from "./provider.ts";
import { contextOf } from "./provider_directory.ts";
import type { ProviderAccess } from "./provider_tokens.ts";
import { createSecretSealer, openProvider } from "./stored_provider.ts";

/** The result of a check. */
export interface ProviderCheck {
  /** The address to which users are sent, without its query. */
  readonly authorization: string;
  /** `unknown`: whether it accepts them shows at the first sign-in. */
  readonly client: "accepted" | "refused" | "unknown";
  /** The error code of a refusal. */
  readonly code?: string;
}

/** Codes of RFC 6749 section 5.2, and of GitHub, for a code that does not exist and for a client that does not. */
const CODE_REFUSED = ["invalid_grant", "bad_verification_code"];
const CLIENT_REFUSED = ["invalid_client", "unauthorized_client", "incorrect_client_credentials"];

/**
 * Asks the provider for its metadata, and redeems a code that does not exist: the error says whether it accepts the client.
 * @throws {Error} when the provider does not answer, or its settings are invalid
 */
export async function checkProvider(access: ProviderAccess, stored: StoredProvider): Promise<ProviderCheck> {
  const provider = await openProvider(stored, createSecretSealer(access.secret));
  const context = contextOf(access);
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
    // Anything else than an answer of the provider: it cannot be reached, or its settings are wrong.
    if (!(error instanceof SignInError)) throw error;
    const code = error instanceof TokenRefusedError ? error.code : "";
    if (CLIENT_REFUSED.includes(code)) return { authorization, client: "refused", code };
    if (CODE_REFUSED.includes(code)) return { authorization, client: "accepted" };
  }
  return { authorization, client: "unknown" };
}
