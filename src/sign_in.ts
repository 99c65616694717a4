/**
 * `trivet/sign-in`: identity providers at which users sign in, for the option `oauth.signIn`. Providers in the store need a
 * sealer for their secrets: `createSecretSealer(serverSecret(store))`.
 *
 * @module
 */
export { oidc, type OidcSettings } from "./oauth/sign_in/oidc.ts";
export { google, type GoogleSettings } from "./oauth/sign_in/google.ts";
export { entra, type EntraSettings } from "./oauth/sign_in/entra.ts";
export { apple, type AppleSettings } from "./oauth/sign_in/apple.ts";
export { github, type GithubSettings } from "./oauth/sign_in/github.ts";
export {
  type Admission,
  type Identity,
  type ProviderContext,
  type ProviderSettings,
  type ProviderTokens,
  type SignInAttempt,
  SignInError,
  type SignInProvider,
  TokenRefusedError,
} from "./oauth/sign_in/provider.ts";
export { type LinkedUser, listLinkedUsers } from "./oauth/sign_in/linked_account.ts";
export {
  endProviderTokens,
  getProviderToken,
  type KeptTokens,
  type ProviderAccess,
  type ProviderToken,
  readProviderTokens,
  revokeProviderTokens,
} from "./oauth/sign_in/provider_tokens.ts";
export {
  addProvider,
  createSecretSealer,
  listProviders,
  type ProviderChanges,
  type ProviderRegistration,
  removeProvider,
  type Sealer,
  updateProvider,
} from "./oauth/sign_in/stored_provider.ts";
export type { StoredProvider } from "./oauth/records/provider_record.ts";
export { type FindSecrets, serverSecret, type ServerSecrets } from "./server_secret.ts";
