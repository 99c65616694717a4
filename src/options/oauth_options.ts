/**
 * The options of the authorization server that a user gives: defaults and checks. Long because it is one list;
 * `oauth_option_checks.ts` has the checks of single options.
 *
 * @module
 */
import { checkOneOf, checkWhole, invalidOption } from "./option_check.ts";
import {
  checkAlgorithms,
  checkCertificateProxy,
  checkDetailTypes,
  checkIssuer,
  documentsSupported,
} from "./oauth_option_checks.ts";
import type {
  AuthorizationDetailType,
  AuthorizationServerOptions,
  CertificateProxy,
  ProtectedResource,
  ScopeDefinition,
  TrustedIssuer,
} from "../oauth/authorization_server.ts";
import { toClient } from "../oauth/clients/client.ts";
import { checkRegistrationMembers, type ClientRegistration } from "../oauth/clients/client_registration.ts";
import { completeFactors, type FactorOptions } from "../oauth/factors/settings.ts";
import type { UserRole } from "../oauth/records/user_record.ts";
import { checkSecurityProfile, type SecurityProfile } from "../oauth/security_profile.ts";
import type { SendMail } from "../oauth/mail/mail.ts";
import { completeSignUp, type SignUpOption } from "../oauth/sign_up/options.ts";
import { checkLoginFields, type LoginField } from "../oauth/users/login_field.ts";
import { completePasswordPolicy, type PasswordPolicy } from "../oauth/users/password_policy.ts";
import { checkRedirectScheme, EDITOR_SCHEMES } from "../oauth/clients/redirect_uri.ts";
import {
  completeOpenId,
  OPENID_SCOPES,
  type OpenIdOptions,
  withIdTokenAlgorithm,
} from "../oauth/openid/options.ts";
import { completePages, type PageOptions } from "../oauth/pages/settings.ts";
import type { Connect } from "../http/network/public_fetch.ts";
import type { SignInProvider } from "../oauth/sign_in/provider.ts";
import type { JwsAlgorithm } from "../crypto/jws.ts";
import type { ServerOptions } from "./server_options.ts";
import { ITERATIONS, MAX_ITERATIONS } from "../crypto/password.ts";

/** Options of the authorization server. */
export interface OAuthOptions extends FactorOptions {
  /** Clients beside those in the store. */
  readonly clients?: readonly ClientRegistration[];
  /**
   * Ids of clients that you trust, including clients that registered themselves or whose id is the URL of a metadata
   * document: users are not asked again for consent that they gave before. @default none
   */
  readonly trustedClients?: readonly string[];
  /**
   * Each scope with its description on the consent page and the scopes that it implies. `profile` is added where it is missing, for
   * `GET /api/user`. @default {@linkcode SCOPES}
   */
  readonly scopes?: Readonly<Record<string, string | ScopeDefinition>>;
  /** Protected resources beside Trivet's own (RFC 8707). @default none */
  readonly resources?: readonly ProtectedResource[];
  /** @default "opaque" */
  readonly accessTokenFormat?: "opaque" | "jwt";
  /** Seconds. @default 7200 */
  readonly accessTokenLifetime?: number;
  /** Seconds since the last rotation. @default 604800 */
  readonly refreshTokenLifetime?: number;
  /** Seconds in which a retried refresh receives the same response; with 0 a retry revokes the family. @default 30 */
  readonly refreshRetryGrace?: number;
  /** Seconds since consent, however often the token is refreshed. @default 7776000 */
  readonly grantLifetime?: number;
  /** Seconds, at most 600 (RFC 6749 section 4.1.2). @default 60 */
  readonly codeLifetime?: number;
  /** Seconds until a pushed authorization request expires (RFC 9126). @default 600 */
  readonly pushedRequestLifetime?: number;
  /** Seconds. @default 600 */
  readonly deviceCodeLifetime?: number;
  /** Seconds since the login. @default 43200 */
  readonly sessionLifetime?: number;
  /** Seconds since the session was last used. @default 7200 */
  readonly sessionIdleLifetime?: number;
  /** Seconds for which consent is remembered. @default 31536000 */
  readonly consentLifetime?: number;
  /** Signing algorithms of JWTs; the first is the default. @default ["ES256"] */
  readonly signingAlgorithms?: readonly JwsAlgorithm[];
  /** Seconds that a key signs before the next one does. @default 7776000 */
  readonly signingKeyLifetime?: number;
  /** Seconds that a key is published before it signs. @default 86400 */
  readonly signingKeyNotice?: number;
  /** Who may register a client (RFC 7591): everyone, callers with the scope `clients:register`, or no one. @default "open" */
  readonly registration?: "open" | "token" | "off";
  /** Seconds until an unused client that registered itself is removed. @default 2592000 */
  readonly registrationLifetime?: number;
  /**
   * Whether a client id may be the URL of a client metadata document; a function is called for each request.
   * @default true with a `connect`
   */
  readonly clientMetadataDocuments?: boolean | (() => boolean);
  /**
   * Private-use schemes without a dot that redirect URIs may have, each of which is matched exactly; those with a dot
   * (RFC 8252 section 7.1) always may. @default {@linkcode EDITOR_SCHEMES}, the schemes of well-known editors and agents
   */
  readonly redirectSchemes?: readonly string[];
  /**
   * `"fapi-2.0"`: the FAPI 2.0 Security Profile. Clients authenticate with keys or certificates, push their requests with
   * PKCE and `redirect_uri`, and get only tokens that are bound to a key or a certificate. Refresh tokens are not rotated.
   * Changes the defaults of `requirePushedRequests` and `pushedRequestLifetime` (300). @default none
   */
  readonly securityProfile?: SecurityProfile;
  /** Every client must push its authorization requests. @default false */
  readonly requirePushedRequests?: boolean;
  /**
   * Whether a client may, or every client must, send its authorization request as a JWT that it signed (RFC 9101).
   * @default "optional" with `openid`, else "off"
   */
  readonly requestObjects?: "off" | "optional" | "required";
  /**
   * Response modes beside `query`: `form_post`, a form that the browser posts to the client, and `jwt`, signed responses
   * (JARM: `jwt`, `query.jwt`, `fragment.jwt`, `form_post.jwt`). @default all with `openid`, else none
   */
  readonly responseModes?: readonly ("form_post" | "jwt")[];
  /** DPoP proofs must hold a nonce of this server. @default false */
  readonly requireDpopNonce?: boolean;
  /** Identity providers whose assertions about users count here (RFC 7523, ID-JAG). @default none */
  readonly trustedIssuers?: readonly TrustedIssuer[];
  /** Types of `authorization_details` (RFC 9396). @default none */
  readonly authorizationDetailTypes?: Readonly<Record<string, AuthorizationDetailType>>;
  /** The proxy that checks client certificates (RFC 8705). @default none: header fields about certificates are ignored */
  readonly certificateProxy?: CertificateProxy;
  /** Finds the user that a login form identifies, for users that are stored elsewhere. @default the users in the store */
  readonly authenticateUser?: AuthorizationServerOptions["authenticateUser"];
  /**
   * Identity providers at which users can sign in, from `trivet/sign-in`: `oidc`, `google`, `entra`, `github`, `apple`, or your own.
   * Their redirect URI is `ISSUER/login/ID/callback`. @default none
   */
  readonly signIn?: readonly SignInProvider[];
  /** Whether users can also sign in at the identity providers that `trivet provider add` put in the store. @default false */
  readonly storedProviders?: boolean;
  /** Whether the login page has fields for user name and password. @default true */
  readonly passwordLogin?: boolean;
  /**
   * Sends mail to users: links to reset a password, to verify an address and to complete a sign-up, and notices. Called
   * after the response; a rejection is the event `mail_failed`. @default none: there are no such pages
   */
  readonly sendMail?: SendMail;
  /**
   * Who may create an account: `"open"` everyone, `"invitation"` whom the operator invited (`inviteUser`), `"closed"` no
   * one. One word for all, or one for accounts with a password and one for identities of providers that are admitted. Open
   * sign-up with a password needs `sendMail`. @default { passwords: "closed", providers: "open" }
   */
  readonly signUp?: SignUpOption;
  /**
   * Further fields of the sign-in form. Their values are in the form that `authenticateUser` gets, as the browser sent them.
   * @default none
   */
  readonly loginFields?: readonly LoginField[];
  /**
   * The rules for passwords that people choose themselves; `addUser` and `trivet user add` accept any. Set `isBreached` to
   * refuse passwords that are known from breaches. @default at least 12 characters
   */
  readonly passwordPolicy?: Partial<PasswordPolicy>;
  /**
   * Whether users have pages at `/account`: profile, password, sessions, applications, linked providers, a copy of their data
   * and its deletion. For users of `authenticateUser` only sessions, applications and the copy. @default true
   */
  readonly account?: boolean;
  /** How identity providers are reached, such as a service binding of Workers. @default the platform's fetch */
  readonly signInFetch?: Connect;
  /**
   * The role of users without a role. A `reader` may grant what concerns their own data and reads what users share, an
   * `author` also what changes it (`skills:write`, `messages:write`), an `admin` everything. @default "reader"
   */
  readonly defaultRole?: UserRole;
  /**
   * Connects to hosts that clients name, to fetch documents and keys. It must check the addresses of a name, not the name
   * alone (DNS rebinding), as `createPublicConnect` of `trivet/public-connect` does. Without it nothing is fetched.
   * @default the one of the runtime entry: `trivet/node`, `trivet/deno`, `trivet/bun` or `trivet/workerd`
   */
  readonly connect?: AuthorizationServerOptions["connect"];
  /** OpenID Connect: ID tokens, discovery, the UserInfo endpoint. @default false: an OAuth 2.0 server and nothing else */
  readonly openid?: boolean | OpenIdOptions;
  /**
   * The pages for people: name, logo and colours of the product, texts, and a hook that renders its own HTML. They are in
   * English and German, as `ui_locales` or `Accept-Language` says. @default the host of the issuer as name, no logo
   */
  readonly pages?: PageOptions;
  /** Iterations of PBKDF2-HMAC-SHA-256. @default 600000 */
  readonly passwordIterations?: number;
}

const PROFILE = "See your name and e-mail address";

/** The default scopes. */
export const SCOPES: Readonly<Record<string, ScopeDefinition>> = {
  profile: { description: PROFILE, default: true },
  read: { description: "Read your data", default: true },
  write: { description: "Change your data", implies: ["read"] },
  "skills:read": { description: "See and load skills", default: true },
  "skills:write": {
    description: "Add and remove skills",
    implies: ["skills:read", "messages:write"],
    role: "author",
  },
  "messages:write": { description: "Ask the model behind this server", role: "author" },
  "clients:register": { description: "Register applications", role: "admin" },
  admin: {
    description: "Administer this server",
    implies: ["profile", "write", "skills:write", "clients:register"],
    role: "admin",
  },
};

const DAY = 86_400;
/** RFC 6749 §4.1.2. For as long a replay is recognized. */
const MAX_CODE_LIFETIME_SECONDS = 600;
type WholeOption =
  | "accessTokenLifetime"
  | "refreshTokenLifetime"
  | "grantLifetime"
  | "codeLifetime"
  | "pushedRequestLifetime"
  | "deviceCodeLifetime"
  | "sessionLifetime"
  | "sessionIdleLifetime"
  | "consentLifetime"
  | "signingKeyLifetime"
  | "signingKeyNotice"
  | "registrationLifetime"
  | "refreshRetryGrace"
  | "passwordIterations";

/** What the composition gives, and not the user. */
type Given =
  & Pick<AuthorizationServerOptions, "issuer" | "store" | "observe" | "now" | "secret">
  & Pick<ServerOptions, "telemetry">;

/** The authorization server's options, complete. @throws {TypeError | RangeError} naming the option and the rule */
export function completeOAuth(
  { issuer, store, observe, now, secret, telemetry }: Given,
  oauth: OAuthOptions,
  own: readonly ProtectedResource[],
): AuthorizationServerOptions {
  const openid = completeOpenId(oauth.openid);
  const { securityProfile } = oauth;
  const whole = (name: WholeOption, defaultValue: number, least = 1): number =>
    checkWhole(`oauth.${name}`, oauth[name] ?? defaultValue, least);
  const redirectSchemes = (oauth.redirectSchemes ?? EDITOR_SCHEMES).map(checkRedirectScheme);
  // The names of the scopes would be the indexes of the list.
  if (Array.isArray(oauth.scopes)) {
    throw invalidOption("oauth.scopes", "an object of scopes and descriptions", oauth.scopes);
  }
  const complete: AuthorizationServerOptions = {
    issuer,
    store,
    observe,
    now,
    clients: (oauth.clients ?? []).map((client) => {
      checkRegistrationMembers(client);
      return toClient(client, now(), redirectSchemes);
    }),
    trustedClients: new Set(oauth.trustedClients),
    // `GET /api/user` needs it.
    scopes: { profile: { description: PROFILE }, ...(openid && OPENID_SCOPES), ...(oauth.scopes ?? SCOPES) },
    resources: [...own, ...(oauth.resources ?? [])],
    secret,
    accessTokenFormat: checkOneOf("oauth.accessTokenFormat", oauth.accessTokenFormat, "opaque", "jwt"),
    accessTokenLifetime: whole("accessTokenLifetime", 7200),
    refreshTokenLifetime: whole("refreshTokenLifetime", 604_800),
    refreshRetryGrace: whole("refreshRetryGrace", 30, 0),
    codeLifetime: whole("codeLifetime", 60),
    grantLifetime: whole("grantLifetime", 90 * DAY),
    pushedRequestLifetime: whole("pushedRequestLifetime", securityProfile === undefined ? 600 : 300),
    deviceCodeLifetime: whole("deviceCodeLifetime", 600),
    sessionLifetime: whole("sessionLifetime", 43_200),
    sessionIdleLifetime: whole("sessionIdleLifetime", 7200),
    consentLifetime: whole("consentLifetime", 365 * DAY),
    signingAlgorithms: withIdTokenAlgorithm(
      openid,
      securityProfile,
      checkAlgorithms(oauth.signingAlgorithms),
    ),
    signingKeyLifetime: whole("signingKeyLifetime", 90 * DAY),
    signingKeyNotice: whole("signingKeyNotice", DAY),
    registration: checkOneOf("oauth.registration", oauth.registration, "open", "token", "off"),
    registrationLifetime: whole("registrationLifetime", 30 * DAY),
    clientMetadataDocuments: documentsSupported(oauth),
    redirectSchemes,
    securityProfile: securityProfile && checkOneOf("oauth.securityProfile", securityProfile, "fapi-2.0"),
    requirePushedRequests: securityProfile !== undefined || (oauth.requirePushedRequests ?? false),
    requestObjects: checkOneOf(
      "oauth.requestObjects",
      oauth.requestObjects ?? (openid ? "optional" : "off"),
      "off",
      "optional",
      "required",
    ),
    responseModes: (oauth.responseModes ?? (openid ? ["form_post", "jwt"] : [])).map((mode) =>
      checkOneOf("oauth.responseModes", mode, "form_post", "jwt")
    ),
    requireDpopNonce: oauth.requireDpopNonce ?? false,
    trustedIssuers: (oauth.trustedIssuers ?? []).map(checkIssuer),
    authorizationDetailTypes: checkDetailTypes(oauth.authorizationDetailTypes),
    certificateProxy: checkCertificateProxy("oauth.certificateProxy", oauth.certificateProxy),
    authenticateUser: oauth.authenticateUser,
    signIn: oauth.signIn ?? [],
    storedProviders: oauth.storedProviders ?? false,
    passwordLogin: oauth.passwordLogin ?? true,
    passwordPolicy: completePasswordPolicy(oauth.passwordPolicy),
    sendMail: oauth.sendMail,
    signUp: completeSignUp(oauth),
    loginFields: checkLoginFields(oauth),
    account: oauth.account ?? true,
    signInFetch: telemetry
      ? telemetry.traceFetch(oauth.signInFetch ?? ((url, init) => fetch(url, init)))
      : oauth.signInFetch,
    defaultRole: checkOneOf("oauth.defaultRole", oauth.defaultRole, "reader", "author", "admin"),
    ...completeFactors(issuer, oauth),
    openid,
    connect: oauth.connect,
    passwordIterations: whole("passwordIterations", ITERATIONS, 1000),
    pages: completePages(oauth.pages),
  };
  checkSecurityProfile(complete);
  if (complete.codeLifetime > MAX_CODE_LIFETIME_SECONDS) {
    throw new RangeError(
      `Cannot create Trivet: "oauth.codeLifetime" must be at most ${MAX_CODE_LIFETIME_SECONDS}`,
    );
  }
  if (complete.signingKeyNotice >= complete.signingKeyLifetime) {
    throw new RangeError(
      'Invalid options: "oauth.signingKeyNotice" must be less than "oauth.signingKeyLifetime"',
    );
  }
  if (openid) checkWhole("oauth.openid.idTokenLifetime", openid.idTokenLifetime, 1);
  if (complete.passwordIterations > MAX_ITERATIONS) {
    throw new RangeError(
      `Invalid options: "oauth.passwordIterations" must be at most ${MAX_ITERATIONS}`,
    );
  }
  return complete;
}
