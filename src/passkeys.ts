/**
 * `trivet/passkeys`: passkeys (WebAuthn), for the option `oauth.passkeys`.
 *
 * @module
 */
export { passkeys, type PasskeySettings } from "./oauth/factors/web_authn.ts";
export { canHavePasskeys } from "./oauth/factors/settings.ts";
export type { Passkeys } from "./oauth/factors/settings.ts";
