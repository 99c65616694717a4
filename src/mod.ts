/**
 * `trivet`: all three services. Stores, runtimes and single services have entries of their own (`trivet/store/sqlite`,
 * `trivet/node`, `trivet/oauth`).
 *
 * @module
 */

export { createTrivet, type Trivet } from "./trivet.ts";
export type { McpOptions } from "./options/mcp_options.ts";
export type { TrivetOptions } from "./options/trivet_options.ts";
export type { OAuthOptions } from "./options/oauth_options.ts";
export type { DiscoverySettings, MessagesSettings, SkillsOptions } from "./options/skills_options.ts";
export type { TrivetEvent } from "./events.ts";
export type { Principal } from "./http/principal.ts";
export type { AuthenticateOptions, ProtectOptions } from "./http/protect.ts";
export type { RequestContext } from "./http/service.ts";
export type { BunServer, DenoInfo, RuntimeContext, WorkerContext } from "./http/runtime_context.ts";
export type { TrustedProxies } from "./http/network/trusted_proxy.ts";
export { memoryStore } from "./store/drivers/memory.ts";
export type { Store } from "./store/store.ts";
export { prompt, resource, resourceTemplate, tool } from "./mcp/definition/define.ts";
export {
  type Definition,
  type PromptDefinition,
  type ResourceDefinition,
  type ResourceTemplateDefinition,
  type ToolDefinition,
  ToolError,
} from "./mcp/definition/definition.ts";
export type { ToJsonSchema } from "./mcp/schema/schema_converter.ts";
export type { Arrange, ArrangeServer } from "./mcp/definition/definition_source.ts";
export { type Definitions, group, type Middleware } from "./mcp/definition/group.ts";
export type { CallContext } from "./mcp/context.ts";
export type { ContentItem, ToolResult } from "./mcp/definition/content.ts";
export { MissingCapabilityError, ScopeError } from "./mcp/error.ts";
export { RpcError } from "./jsonrpc/error.ts";
export type { ToolServer } from "./mcp/service.ts";
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
