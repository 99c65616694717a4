/**
 * `trivet/sign-in`: identity providers at which users sign in, for the option `oauth.signIn`.
 *
 * @module
 */
export {
  entra,
  type EntraSettings,
  google,
  type GoogleSettings,
  oidc,
  type OidcSettings,
} from "./oauth/sign_in/oidc.ts";
export { github, type GithubSettings } from "./oauth/sign_in/github.ts";
export {
  type Admission,
  type Identity,
  type ProviderContext,
  type ProviderSettings,
  type SignInAttempt,
  SignInError,
  type SignInProvider,
} from "./oauth/sign_in/provider.ts";
export { type LinkedUser, listLinkedUsers, removeLinkedUser } from "./oauth/sign_in/linked_account.ts";
export {
  addProvider,
  createSecretSealer,
  listProviders,
  type ProviderRegistration,
  removeProvider,
} from "./oauth/sign_in/stored_provider.ts";
