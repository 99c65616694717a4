/**
 * `trivet/oauth`: the authorization server alone.
 *
 * @module
 */
import { showNotFound } from "./home.ts";
import { createLoopbackGuard } from "./http/network/loopback_guard.ts";
import type { VerifyToken } from "./http/principal.ts";
import { createProtection, type Protection } from "./http/protect.ts";
import { type Handler, mount } from "./mount.ts";
import type { ProtectedResource } from "./oauth/authorization_server.ts";
import { resourceMetadataUrl } from "./oauth/endpoints/protected_resource.ts";
import { closeDefinedScopes } from "./oauth/grants/scope.ts";
import { completePages } from "./oauth/pages/settings.ts";
import { pagePaths } from "./oauth/page_paths.ts";
import { createOAuthService } from "./oauth/service.ts";
import { checkCanonicalIssuer } from "./options/canonical_issuer.ts";
import { completeOAuth, type OAuthOptions, SCOPES } from "./options/oauth_options.ts";
import { checkNames, type Names } from "./options/option_check.ts";
import { OAUTH_NAMES, SERVER_NAMES } from "./options/option_names.ts";
import type { ProviderAccess } from "./oauth/sign_in/provider_tokens.ts";
import { completeServer, findRetryAfter, type ServerOptions } from "./options/server_options.ts";

/** Options of an authorization server that runs alone. */
export interface OAuthServerOptions extends ServerOptions, OAuthOptions {
  /** The address of this server: https (http on loopback), without query or fragment. Never taken from a request. */
  readonly issuer: string;
}

/** An authorization server that runs alone. */
export interface OAuthServer extends Handler, Protection {
  /** The principal of an access token for the whole server that is not bound to a key; for servers of your own beside it. */
  readonly verifyToken: VerifyToken;
  /** For `getProviderToken` of `trivet/sign-in`. */
  readonly providerAccess: ProviderAccess;
}

const NAMES: Names<OAuthServerOptions> = { ...SERVER_NAMES, ...OAUTH_NAMES, issuer: "string" };

/**
 * Makes the authorization server. `protect` guards routes of your own with its tokens; other servers introspect them
 * (RFC 7662) or verify them with its keys (RFC 9068).
 * @throws {TypeError | RangeError} naming the option and the rule
 */
export function authorizationServer(options: OAuthServerOptions): OAuthServer {
  checkNames("options", options, NAMES);
  const { issuer } = options;
  const server = completeServer("issuer", issuer, options);
  checkCanonicalIssuer(issuer);
  const own: readonly ProtectedResource[] = [
    { resource: issuer, name: "this server" },
    { resource: `${server.origin}${server.base}/api/user`, name: "your name and e-mail address" },
  ];
  const oauth = createOAuthService(completeOAuth({ issuer, ...server }, options, own));
  const { allowedHosts = [], allowedOrigins = [] } = options;
  const pageServer = { ...server, issuer, pages: completePages(options.pages) };
  const pages = pagePaths(server.base);
  return {
    verifyToken: oauth.verifyToken,
    providerAccess: oauth.providerAccess,
    ...mount(server, {
      services: [oauth],
      guard: createLoopbackGuard({ issuer, allowedHosts, allowedOrigins, pages }),
      notFound: (request) => showNotFound(pageServer, request, false),
    }),
    ...createProtection({
      findRetryAfter,
      issuer,
      resources: new Map(
        [...own, ...options.resources ?? []].map(({ resource }) => [resource, resourceMetadataUrl(resource)]),
      ),
      identify: (resource) => (request, context = {}) => oauth.identify(request, context, resource),
      implied: closeDefinedScopes(options.scopes ?? SCOPES),
      toContext: server.toContext,
      now: server.now,
      limiter: server.limiter,
    }),
  };
}

export type { Handler, OAuthOptions, ServerOptions };
export type { TrivetEvent } from "./events.ts";
export type { Principal } from "./http/principal.ts";
export type { AuthenticateOptions, ProtectOptions } from "./http/protect.ts";
export { exportUserData, type UserData } from "./oauth/account/user_data.ts";
export { addClient, listClients, removeClient } from "./oauth/clients/client.ts";
export type { ClientRegistration } from "./oauth/clients/client_registration.ts";
export type { Client } from "./oauth/records/client_record.ts";
export {
  type ClientChanges,
  type ClientSecretOptions,
  rotateClientSecret,
  updateClient,
} from "./oauth/clients/client_changes.ts";
export {
  type KeyRotationOptions,
  listSigningKeys,
  rotateSigningKeys,
  type ShownSigningKey,
} from "./oauth/tokens/rotate_signing_keys.ts";
export {
  listServerSecrets,
  rotateServerSecret,
  type SecretRotation,
  type SecretRotationOptions,
  type ShownServerSecret,
} from "./server_secret/rotate_secret.ts";
export { EDITOR_SCHEMES } from "./oauth/clients/redirect_uri.ts";
export { removeFactors } from "./oauth/factors/change_factors.ts";
export { addUser, listUsers, setUserRole, type UserRegistration } from "./oauth/users/user.ts";
export { removeUser } from "./oauth/users/remove_user.ts";
export {
  findAccount,
  lockUser,
  type PasswordOptions,
  setPassword,
  unlockUser,
  updateUser,
  type UserChanges,
} from "./oauth/users/user_changes.ts";
export { endUserGrant } from "./oauth/grants/end_grants.ts";
export { listUserGrants, type UserGrant } from "./oauth/users/user_grants.ts";
export {
  endUserSession,
  endUserSessions,
  listUserSessions,
  type UserSession,
} from "./oauth/users/user_sessions.ts";
export type {
  AuthenticatedUser,
  AuthorizationDetailType,
  CertificateProxy,
  ProtectedResource,
  ScopeDefinition,
  TrustedIssuer,
} from "./oauth/authorization_server.ts";
export type { Mail, MailKind, SendMail } from "./oauth/mail/mail.ts";
export {
  type InvitationRequest,
  inviteUser,
  listInvitations,
  revokeInvitation,
  type ShownInvitation,
} from "./oauth/sign_up/invitation.ts";
export type { SignUpMode, SignUpOption, SignUpSettings } from "./oauth/sign_up/options.ts";
export type { LoginField } from "./oauth/users/login_field.ts";
export type { PasswordPolicy, PasswordProblem } from "./oauth/users/password_policy.ts";
export type { AuthorizationDetail } from "./oauth/records/authorization_record.ts";
export type { Profile, User, UserRole } from "./oauth/records/user_record.ts";
