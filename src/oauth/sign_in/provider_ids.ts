/**
 * The ids of identity providers: part of paths of this server, and the class (`acr`) of logins there.
 *
 * @module
 */
import { invalidOption } from "../../options/option_check.ts";
import type { SignInProvider } from "./provider.ts";

/** Pages below `/login/`. */
const RESERVED_IDS: readonly string[] = [
  "factor",
  "forgot",
  "invitation",
  "passkey",
  "reset",
  "sign-up",
  "verify-email",
];

/** The class of a login with a second factor, unless the operator names another one. */
const SECOND_FACTOR_ACR = "mfa";

/**
 * Whether the id is the class (`acr`) of another kind of login. The id of a provider is the class of its logins, which would
 * count as that kind: with a password, or with a second factor.
 * @param acr of a login with a second factor
 */
export function isLoginClass(id: string, acr: string = SECOND_FACTOR_ACR): boolean {
  return id === "password" || id === acr;
}

/**
 * The providers by id.
 * @param acr of a login with a second factor
 * @throws {TypeError} for what is no provider, and for an invalid or repeated id
 */
export function defineProviders(
  providers: readonly SignInProvider[],
  acr?: string,
): ReadonlyMap<string, SignInProvider> {
  const byId = new Map<string, SignInProvider>();
  // Authors without types may give names.
  const isProvider = (given: Partial<SignInProvider> | null): boolean => typeof given?.start === "function";
  if (!Array.isArray(providers) || !providers.every(isProvider)) {
    const rule = "a list of providers, made by google(), oidc() and others of trivet/sign-in";
    throw invalidOption("oauth.signIn", rule, providers);
  }
  for (const provider of providers) {
    if (!/^[a-z0-9-]{1,32}$/.test(provider.id)) {
      throw new TypeError(
        `Invalid options: the id of a provider in "oauth.signIn" must be 1 to 32 characters of a-z, 0-9 and "-", but is "${provider.id}"`,
      );
    }
    if (RESERVED_IDS.includes(provider.id)) {
      throw new TypeError(
        `Invalid options: a provider in "oauth.signIn" has the id "${provider.id}", which is a page of this server`,
      );
    }
    if (isLoginClass(provider.id, acr)) {
      throw new TypeError(
        `Invalid options: a provider in "oauth.signIn" has the id "${provider.id}", which is the acr of another kind of login`,
      );
    }
    if (byId.has(provider.id)) {
      throw new TypeError(
        `Invalid options: two providers in "oauth.signIn" have the id "${provider.id}"`,
      );
    }
    byId.set(provider.id, provider);
  }
  return byId;
}
