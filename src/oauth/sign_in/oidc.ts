/**
 * Providers that speak OpenID Connect (https://openid.net/specs/openid-connect-core-1_0.html#CodeFlowAuth), by their issuer.
 *
 * @module
 */
import { checkNames, type Names } from "../../options/option_check.ts";
import type { Claims } from "../../crypto/jws.ts";
import type { PublicJwk } from "../../crypto/jwk.ts";
import { checkConfiguredUrl } from "../../http/network/public_fetch.ts";
import { secretDigest } from "../../crypto/secret.ts";
import { verifyIdToken } from "./id_token.ts";
import {
  PROVIDER_NAMES,
  type ProviderContext,
  type ProviderSettings,
  type ProviderTokens,
  type SignInAttempt,
  SignInError,
  type SignInProvider,
  toProviderBase,
} from "./provider.ts";
import { findProviderMetadata, type ProviderMetadata } from "./provider_metadata.ts";
import { fetchObject, type ProviderClient, redeemCode, refreshTokens, revokeToken } from "./token_request.ts";

/** Settings of an OpenID provider. */
export interface OidcSettings extends ProviderSettings {
  /** The issuer identifier: https (http on loopback), as in the `issuer` of its metadata. */
  readonly issuer: string;
  /**
   * Space-separated, with `openid`.
   * @default "openid profile email", and `offline_access` where `keepTokens` is set and the metadata lists it
   */
  readonly scope?: string;
  /**
   * The claim with the user's groups: a list of strings, or one string. In an object, a path: Keycloak has
   * `realm_access.roles`. @default "groups"
   */
  readonly groupsClaim?: string;
  /** Parameters of the authorization request beside those of the standard. @default none */
  readonly parameters?: Readonly<Record<string, string>>;
}

const NAMES: Names<OidcSettings> = {
  ...PROVIDER_NAMES,
  issuer: "string",
  scope: "string",
  groupsClaim: "string",
  parameters: "object",
};

/** What differs between providers. */
export interface OidcRules {
  /** The `issuer` of the metadata. */
  readonly named: string;
  /** How the account is stored, where tokens can have several forms of the issuer. @default `iss` of the ID token */
  readonly account?: string;
  /** It says nothing about groups anywhere: they are not looked for. */
  readonly hasNoGroups?: true;
  /** Instead of `clientSecret` of the settings. */
  readonly clientSecret?: () => Promise<string>;
  isIssuer(iss: string, claims: Claims): boolean;
  /** Whether a key of the issuer may sign this token. @default every key */
  isSigner?(key: PublicJwk, claims: Claims): boolean;
  isEmailVerified(claims: Claims): boolean;
  /** More of the user's groups. */
  groupsOf?(context: ProviderContext, claims: Claims, access_token: string): Promise<readonly string[]>;
  /** The name, where the ID token has none. */
  nameOf?(parameters: ReadonlyMap<string, string>): string | undefined;
}

/** Any OpenID Provider. @throws {TypeError} for an invalid issuer */
export function oidc(settings: OidcSettings): SignInProvider {
  checkNames("oidc", settings, NAMES);
  return createOidc(settings, {
    named: settings.issuer,
    isIssuer: (iss) => iss === settings.issuer,
    isEmailVerified,
  }, { id: "oidc", name: URL.parse(settings.issuer)?.host ?? settings.issuer });
}

/** A provider with its own rules. @throws {TypeError} for invalid settings */
export function createOidc(
  settings: OidcSettings,
  rules: OidcRules,
  defaults: { readonly id: string; readonly name: string },
): SignInProvider {
  const { issuer, clientId, groupsClaim = "groups", keepTokens } = settings;
  const { scope = "openid profile email" } = settings;
  const clientSecret = rules.clientSecret ?? settings.clientSecret;
  const base = toProviderBase(settings, defaults);
  const problem = checkConfiguredUrl(issuer);
  if (problem) throw new TypeError(`Cannot create provider "${base.id}": issuer ${problem}`);
  if (!scope.split(" ").includes("openid")) {
    throw new TypeError(`Cannot create provider "${base.id}": scope must include openid`);
  }
  const findMetadata = (context: ProviderContext) => findProviderMetadata(context, issuer, rules.named);
  const clientOf = (metadata: ProviderMetadata): ProviderClient => (
    { clientId, clientSecret, method: findAuthMethod(metadata, clientId, clientSecret) }
  );
  const needsGroups = !rules.hasNoGroups && readsGroups(settings);

  return {
    ...base,
    async start(context, { redirect_uri, state, nonce, code_verifier, isNewLogin }) {
      const { authorization_endpoint, scopes_supported } = await findMetadata(context);
      const url = new URL(authorization_endpoint);
      const isOffline = keepTokens && settings.scope === undefined &&
        scopes_supported?.includes("offline_access");
      const query = {
        ...settings.parameters,
        response_type: "code",
        client_id: clientId,
        redirect_uri,
        scope: isOffline ? `${scope} offline_access` : scope,
        state,
        nonce,
        // S256 of RFC 7636 is the digest of a secret.
        code_challenge: secretDigest(code_verifier),
        code_challenge_method: "S256",
        ...(isNewLogin && { prompt: "login", max_age: "0" }),
      };
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
      return url.href;
    },
    async finish(context, attempt, parameters) {
      const metadata = await findMetadata(context);
      checkIss(metadata, parameters.get("iss"));
      const { token_endpoint } = metadata;
      const code = parameters.get("code")!;
      const tokens = await redeemCode(context.fetch, token_endpoint, clientOf(metadata), attempt, code);
      const verified = await verifyIdToken(context, tokens.id_token, {
        clientId,
        nonce: attempt.nonce,
        jwks_uri: metadata.jwks_uri,
        access_token: tokens.access_token,
        isIssuer: rules.isIssuer,
        isSigner: rules.isSigner,
      });
      checkAuthTime(attempt, verified["auth_time"]);
      const isComplete = verified["email"] !== undefined && verified["name"] !== undefined &&
        (!needsGroups || findClaim(verified, groupsClaim) !== undefined);
      const claims = isComplete
        ? verified
        : await addUserInfo(context, metadata, tokens.access_token, verified);
      const { name, preferred_username, email, auth_time } = claims;
      return {
        issuer: rules.account ?? verified.iss,
        subject: verified.sub,
        name: [name, rules.nameOf?.(parameters), preferred_username]
          .find((each): each is string => typeof each === "string" && each !== ""),
        email: typeof email === "string" ? email : undefined,
        emailVerified: typeof email === "string" && rules.isEmailVerified(claims),
        groups: [
          ...toTexts(findClaim(claims, groupsClaim)),
          ...(needsGroups && await rules.groupsOf?.(context, claims, tokens.access_token)) || [],
        ],
        authTime: typeof auth_time === "number" ? auth_time : undefined,
        claims,
        ...(keepTokens && { tokens }),
      };
    },
    async refreshTokens(context, refresh_token) {
      const metadata = await findMetadata(context);
      return await refreshTokens(context.fetch, metadata.token_endpoint, clientOf(metadata), refresh_token);
    },
    async revokeTokens(context, { access_token, refresh_token }: ProviderTokens) {
      const metadata = await findMetadata(context);
      const { revocation_endpoint } = metadata;
      if (revocation_endpoint === undefined) return;
      const revoke = revokeToken.bind(undefined, context.fetch, revocation_endpoint, clientOf(metadata));
      // RFC 7009 §2.1: with a refresh token a provider may, but need not, revoke the access tokens.
      if (refresh_token !== undefined) await revoke(refresh_token, "refresh_token");
      await revoke(access_token, "access_token");
    },
  };
}

/** RFC 9207 §2.4: the defence against mix-up of providers, beside a redirect URI for each. */
function checkIss(
  { issuer, authorization_response_iss_parameter_supported }: ProviderMetadata,
  iss: string | undefined,
): void {
  if (iss === undefined && !authorization_response_iss_parameter_supported) return;
  if (iss !== issuer) throw new SignInError("iss in the callback is not the provider's");
}

/**
 * Basic unless the provider lists methods without it. Some providers do not decode what RFC 6749 §2.3.1 has the client
 * encode: where that makes a difference, a provider that lists the body gets the secret there.
 */
function findAuthMethod(
  { token_endpoint_auth_methods_supported: methods }: ProviderMetadata,
  clientId: string,
  clientSecret: string | (() => Promise<string>) | undefined,
): "client_secret_basic" | "client_secret_post" {
  if (!methods?.includes("client_secret_post")) return "client_secret_basic";
  const isPlain = typeof clientSecret === "string" && /^[A-Za-z0-9._*-]*$/.test(clientId + clientSecret);
  return isPlain && methods.includes("client_secret_basic") ? "client_secret_basic" : "client_secret_post";
}

/** The provider may ignore `prompt=login`; with `max_age` it must say when the user signed in. */
function checkAuthTime({ isNewLogin, began }: SignInAttempt, auth_time: unknown): void {
  if (!isNewLogin) return;
  if (typeof auth_time !== "number" || auth_time * 1000 < began - CLOCK_SKEW_MS) {
    throw new SignInError("The provider did not ask the user to sign in again");
  }
}

const CLOCK_SKEW_MS = 60_000;

/**
 * The claims with those of the UserInfo endpoint (OpenID Core §5.3.2). That an address is verified is believed only of the
 * same answer, or for the same address.
 */
async function addUserInfo(
  { fetch }: ProviderContext,
  { userinfo_endpoint }: ProviderMetadata,
  access_token: string,
  claims: Claims & { readonly sub: string },
): Promise<Claims> {
  if (userinfo_endpoint === undefined) return claims;
  const headers = { authorization: `Bearer ${access_token}` };
  const info = await fetchObject(fetch, userinfo_endpoint, { headers });
  if (info["sub"] !== claims.sub) throw new SignInError("sub of the UserInfo response is another user's");
  const { email, email_verified, ...others } = info;
  const { email: ownEmail, email_verified: ownVerified, ...own } = claims;
  if (ownEmail === undefined) return { ...others, ...own, email, email_verified };
  const verified = ownVerified ?? (email === ownEmail ? email_verified : undefined);
  return { ...others, ...own, email: ownEmail, email_verified: verified };
}

/** Whether settings depend on the user's groups. A function of the operator may. */
export function readsGroups({ groups, roles, scopes, admits }: ProviderSettings): boolean {
  return [groups, roles, scopes, admits].some((each) => each !== undefined);
}

/** A claim by its name, or by its path: names of claims may have dots, as those of Auth0. */
function findClaim(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Claims)[part];
  }
  return value;
}

/** Some providers send the text "true". */
export function isEmailVerified({ email_verified }: Claims): boolean {
  return email_verified === true || email_verified === "true";
}

/** The texts of a claim that has one text or a list of them. */
export function toTexts(value: unknown): string[] {
  return [value].flat().filter((each) => typeof each === "string");
}
