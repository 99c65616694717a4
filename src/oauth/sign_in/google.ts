/**
 * Google (https://developers.google.com/identity/openid-connect/openid-connect).
 *
 * @module
 */
import { checkNames, type Names } from "../../options/option_check.ts";
import { createOidc, isEmailVerified } from "./oidc.ts";
import {
  checkDomains,
  type Identity,
  PROVIDER_NAMES,
  type ProviderSettings,
  type SignInProvider,
} from "./provider.ts";

/** Settings of Google. */
export interface GoogleSettings extends ProviderSettings {
  /** Only accounts of these Google Workspace domains (claim `hd`). @default every Google account */
  readonly hostedDomains?: readonly string[];
  /**
   * Parameters of the authorization request beside those of the standard, such as `{ prompt: "consent" }`, with which Google
   * gives a refresh token at every sign-in, and not at the first one only. @default none
   */
  readonly parameters?: Readonly<Record<string, string>>;
}

const NAMES: Names<GoogleSettings> = { ...PROVIDER_NAMES, hostedDomains: "string[]", parameters: "object" };
const GOOGLE = "https://accounts.google.com";

/** Google. With `keepTokens` it is asked for offline access. */
export function google(settings: GoogleSettings): SignInProvider {
  checkNames("google", settings, NAMES);
  checkDomains("google.hostedDomains", settings.hostedDomains);
  const { keepTokens } = settings;
  const hostedDomains = settings.hostedDomains?.map((domain) => domain.toLowerCase());
  const admits = hostedDomains === undefined
    ? settings.admits
    : async (identity: Identity) =>
      hostedDomains.includes(String(identity.claims["hd"]).toLowerCase()) &&
      (await settings.admits?.(identity) ?? true);
  const parameters = {
    ...(hostedDomains?.length === 1 && { hd: hostedDomains[0]! }),
    ...(keepTokens && { access_type: "offline" }),
    ...settings.parameters,
  };
  const provider = createOidc({ ...settings, issuer: GOOGLE, parameters, ...(admits && { admits }) }, {
    named: GOOGLE,
    // Google documents both forms: they are one account.
    account: GOOGLE,
    hasNoGroups: true,
    isIssuer: (iss) => iss === GOOGLE || iss === "accounts.google.com",
    isEmailVerified,
  }, { id: "google", name: "Google" });
  // Google documents neither prompt=login nor max_age.
  return { ...provider, asksAgain: false };
}
