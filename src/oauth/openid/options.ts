/**
 * The options of the OpenID Provider (https://openid.net/specs/openid-connect-core-1_0.html), with their defaults.
 *
 * @module
 */
import { checkNames, checkSome, invalidOption, type Names } from "../../options/option_check.ts";
import type { JwsAlgorithm } from "../../crypto/jws.ts";
import type { SecurityProfile } from "../security_profile.ts";

/** OpenID Connect Core §8: the same `sub` for every client, or another one for each sector. */
export type SubjectType = "public" | "pairwise";

/** An authorization server to which clients may bring identity assertions (ID-JAG) of this server. */
export interface IdentityAssertionAudience {
  /** Its issuer identifier: the `aud` of the assertions. */
  readonly audience: string;
  /** The id that a client of this server has there. @default the same id */
  readonly clientId?: (id: string) => string | undefined;
  /** The resources that a client may name. @default any */
  readonly resources?: readonly string[];
}

export interface OpenIdOptions {
  /** The subject types that clients may have; the first is that of clients that name none. @default ["public", "pairwise"] */
  readonly subjectTypes?: readonly SubjectType[];
  /** Seconds. @default 3600 */
  readonly idTokenLifetime?: number;
  /**
   * Whether ID tokens have the claims of the scopes `profile` and `email`, which UserInfo has in any case. Some clients read
   * no other: Auth.js and Passport in their default mode. Without them no name is in the `id_token_hint` of a URL.
   * @default true
   */
  readonly scopeClaimsInIdToken?: boolean;
  /** Where clients may bring identity assertions (ID-JAG) of this server. @default none */
  readonly identityAssertions?: readonly IdentityAssertionAudience[];
}

export type OpenIdSettings = Required<OpenIdOptions>;

/** OpenID Connect Core §5.4 and §11. `profile` is a scope of `GET /api/user` already. */
export const OPENID_SCOPES: Readonly<Record<string, { readonly description: string }>> = {
  openid: { description: "Sign you in, and recognize you the next time" },
  email: { description: "See your e-mail address" },
  offline_access: { description: "Keep this access while you are away" },
};

const NAMES: Names<OpenIdOptions> = {
  subjectTypes: "string[]",
  idTokenLifetime: "number",
  scopeClaimsInIdToken: "boolean",
  identityAssertions: "unknown[]",
};
const AUDIENCE_NAMES: Names<IdentityAssertionAudience> = {
  audience: "string",
  clientId: "function",
  resources: "string[]",
};

/** The settings; `undefined` when the operator has not turned OpenID Connect on. @throws {TypeError} */
export function completeOpenId(option: boolean | OpenIdOptions | undefined): OpenIdSettings | undefined {
  if (option === undefined || option === false) return undefined;
  const given = option === true ? {} : option;
  checkNames("oauth.openid", given, NAMES);
  const {
    subjectTypes = ["public", "pairwise"],
    idTokenLifetime = 3600,
    scopeClaimsInIdToken = true,
    identityAssertions = [],
  } = given;
  checkSome("oauth.openid.subjectTypes", subjectTypes, ["public", "pairwise"]);
  for (const each of identityAssertions) {
    const name = "oauth.openid.identityAssertions";
    checkNames(name, each, AUDIENCE_NAMES);
    if (!each.audience) throw invalidOption(`${name}.audience`, "an issuer", each.audience);
  }
  return { subjectTypes, idTokenLifetime, scopeClaimsInIdToken, identityAssertions };
}

/**
 * OpenID Connect Discovery §3: every provider signs ID tokens with RS256 for clients that name no algorithm. A security
 * profile forbids that (FAPI 2.0 §5.4.1): there the first algorithm takes its place.
 */
export function withIdTokenAlgorithm(
  openid: OpenIdSettings | undefined,
  securityProfile: SecurityProfile | undefined,
  algorithms: readonly JwsAlgorithm[],
): readonly JwsAlgorithm[] {
  const isComplete = !openid || securityProfile !== undefined || algorithms.includes("RS256");
  return isComplete ? algorithms : [...algorithms, "RS256"];
}
