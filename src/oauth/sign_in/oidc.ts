/**
 * Providers that speak OpenID Connect (https://openid.net/specs/openid-connect-core-1_0.html#CodeFlowAuth): any by its
 * issuer, Google, and Microsoft Entra ID.
 *
 * @module
 */
import type { Claims } from "../../crypto/jws.ts";
import { checkConfiguredUrl } from "../../http/network/public_fetch.ts";
import { secretDigest } from "../../crypto/secret.ts";
import { verifyIdToken } from "./id_token.ts";
import {
  type Identity,
  type ProviderContext,
  type ProviderSettings,
  type SignInAttempt,
  SignInError,
  type SignInProvider,
  toProviderBase,
} from "./provider.ts";
import { findProviderMetadata, type ProviderMetadata } from "./provider_metadata.ts";
import { fetchObject, requestTokens } from "./token_request.ts";

export interface OidcSettings extends ProviderSettings {
  /** The issuer identifier: https (http on loopback), as in the `issuer` of its metadata. */
  readonly issuer: string;
  /** @default "openid profile email" */
  readonly scope?: string;
  /** The claim with the user's groups: a list of strings, or one string. @default "groups" */
  readonly groupsClaim?: string;
  /** Parameters of the authorization request beside those of the standard. @default none */
  readonly parameters?: Readonly<Record<string, string>>;
}

/** What differs between providers. */
interface OidcRules {
  /** The `issuer` of the metadata. */
  readonly named: string;
  isIssuer(iss: string, claims: Claims): boolean;
  isEmailVerified(claims: Claims): boolean;
  /** More of the user's groups. */
  groupsOf?(claims: Claims): readonly string[];
}

/** Any OpenID Provider. @throws {TypeError} for an invalid issuer */
export function oidc(settings: OidcSettings): SignInProvider {
  return createOidc(settings, {
    named: settings.issuer,
    isIssuer: (iss) => iss === settings.issuer,
    isEmailVerified,
  }, { id: "oidc", name: URL.parse(settings.issuer)?.host ?? settings.issuer });
}

export interface GoogleSettings extends ProviderSettings {
  /** Only accounts of these Google Workspace domains (claim `hd`). @default every Google account */
  readonly hostedDomains?: readonly string[];
}

const GOOGLE = "https://accounts.google.com";

/** Google (https://developers.google.com/identity/openid-connect/openid-connect). */
export function google(settings: GoogleSettings): SignInProvider {
  const { hostedDomains } = settings;
  const admits = hostedDomains === undefined
    ? settings.admits
    : async (identity: Identity) =>
      hostedDomains.includes(String(identity.claims["hd"])) && (await settings.admits?.(identity) ?? true);
  const parameters = hostedDomains?.length === 1 ? { hd: hostedDomains[0]! } : {};
  const provider = createOidc({ ...settings, issuer: GOOGLE, parameters, ...(admits && { admits }) }, {
    named: GOOGLE,
    // Google documents both forms.
    isIssuer: (iss) => iss === GOOGLE || iss === "accounts.google.com",
    isEmailVerified,
  }, { id: "google", name: "Google" });
  // Google documents neither prompt=login nor max_age.
  return { ...provider, asksAgain: false };
}

export interface EntraSettings extends ProviderSettings {
  /** The id of the directory, or `organizations`, `consumers` or `common` for more than one. */
  readonly tenant: string;
  /** For more than one: the ids of the directories that are admitted. @default every directory */
  readonly tenants?: readonly string[];
  /** @default "https://login.microsoftonline.com" */
  readonly authority?: string;
}

const TENANT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Microsoft Entra ID (https://learn.microsoft.com/entra/identity-platform/v2-protocols-oidc). */
export function entra(settings: EntraSettings): SignInProvider {
  const { tenant, tenants, authority = "https://login.microsoftonline.com" } = settings;
  const issuer = `${authority}/${tenant}/v2.0`;
  const isOne = TENANT_ID.test(tenant);
  if (!isOne && !["organizations", "consumers", "common"].includes(tenant)) {
    throw new TypeError(
      'Cannot create provider "entra": tenant must be a directory id, "organizations", "consumers" or "common"',
    );
  }
  return createOidc({ ...settings, issuer }, {
    // The metadata of more than one directory has a template, which the token's `tid` completes.
    named: isOne ? issuer : `${authority}/{tenantid}/v2.0`,
    isIssuer: (iss, { tid }) =>
      typeof tid === "string" && TENANT_ID.test(tid) && iss === `${authority}/${tid}/v2.0` &&
      (isOne ? tid.toLowerCase() === tenant.toLowerCase() : tenants?.includes(tid) ?? true),
    // The administrator of any directory can set `email` to any address.
    isEmailVerified: ({ xms_edov }) => ["1", "true"].includes(String(xms_edov).toLowerCase()),
    groupsOf: ({ roles }) => toTexts(roles),
  }, { id: "entra", name: "Microsoft" });
}

function createOidc(
  settings: OidcSettings,
  rules: OidcRules,
  defaults: { readonly id: string; readonly name: string },
): SignInProvider {
  const { issuer, clientId, clientSecret, scope = "openid profile email", groupsClaim = "groups" } = settings;
  const base = toProviderBase(settings, defaults);
  const problem = checkConfiguredUrl(issuer);
  if (problem) throw new TypeError(`Cannot create provider "${base.id}": issuer ${problem}`);
  if (!scope.split(" ").includes("openid")) {
    throw new TypeError(`Cannot create provider "${base.id}": scope must include openid`);
  }
  const findMetadata = (context: ProviderContext) => findProviderMetadata(context, issuer, rules.named);

  return {
    ...base,
    async start(context, { redirect_uri, state, nonce, code_verifier, isNewLogin }) {
      const url = new URL((await findMetadata(context)).authorization_endpoint);
      const query = {
        ...settings.parameters,
        response_type: "code",
        client_id: clientId,
        redirect_uri,
        scope,
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
      const tokens = await requestTokens(context.fetch, attempt, {
        endpoint: metadata.token_endpoint,
        clientId,
        clientSecret,
        method: findAuthMethod(metadata),
        code: parameters.get("code")!,
      });
      const verified = await verifyIdToken(context, tokens["id_token"], {
        clientId,
        nonce: attempt.nonce,
        jwks_uri: metadata.jwks_uri,
        access_token: tokens.access_token,
        isIssuer: rules.isIssuer,
      });
      checkAuthTime(attempt, verified["auth_time"]);
      const claims = await addUserInfo(context, metadata, tokens.access_token, verified);
      const { name, preferred_username, email, auth_time } = claims;
      return {
        // One spelling, so that both forms of Google are one account.
        issuer: issuer === GOOGLE ? GOOGLE : verified.iss,
        subject: verified.sub,
        name: [name, preferred_username].find((each) => typeof each === "string" && each !== "") as
          | string
          | undefined,
        email: typeof email === "string" ? email : undefined,
        emailVerified: typeof email === "string" && rules.isEmailVerified(claims),
        groups: [...toTexts(claims[groupsClaim]), ...rules.groupsOf?.(claims) ?? []],
        authTime: typeof auth_time === "number" ? auth_time : undefined,
        claims,
      };
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

/** Basic unless the provider lists methods without it. */
function findAuthMethod(
  { token_endpoint_auth_methods_supported: methods }: ProviderMetadata,
): "client_secret_basic" | "client_secret_post" {
  return methods && !methods.includes("client_secret_basic") && methods.includes("client_secret_post")
    ? "client_secret_post"
    : "client_secret_basic";
}

/** The provider may ignore `prompt=login`; with `max_age` it must say when the user signed in. */
function checkAuthTime({ isNewLogin, began }: SignInAttempt, auth_time: unknown): void {
  if (!isNewLogin) return;
  if (typeof auth_time !== "number" || auth_time * 1000 < began - CLOCK_SKEW_MS) {
    throw new SignInError("The provider did not ask the user to sign in again");
  }
}

const CLOCK_SKEW_MS = 60_000;

/** The claims with those of the UserInfo endpoint, if the ID token has no e-mail address (OpenID Core §5.3.2). */
async function addUserInfo(
  { fetch }: ProviderContext,
  { userinfo_endpoint }: ProviderMetadata,
  access_token: string,
  claims: Claims & { readonly sub: string },
): Promise<Claims> {
  if (claims["email"] !== undefined || userinfo_endpoint === undefined) return claims;
  const headers = { authorization: `Bearer ${access_token}` };
  const info = await fetchObject(fetch, userinfo_endpoint, { headers });
  if (info["sub"] !== claims.sub) throw new SignInError("sub of the UserInfo response is another user's");
  return { ...info, ...claims };
}

/** Some providers send the text "true". */
function isEmailVerified({ email_verified }: Claims): boolean {
  return email_verified === true || email_verified === "true";
}

function toTexts(value: unknown): string[] {
  return [value].flat().filter((each) => typeof each === "string");
}
