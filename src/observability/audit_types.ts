/**
 * Which events are in the audit trail.
 *
 * @module
 */
import type { TrivetEvent } from "../events.ts";

/** `false`: says nothing about who did what. `audit_dropped` is written by the trail itself. */
export const IS_AUDITED: Readonly<Record<TrivetEvent["type"] | "audit_dropped", boolean>> = {
  tool_called: true,
  login_succeeded: true,
  passkey_refused: true,
  second_factor_failed: true,
  factor_added: true,
  factor_removed: true,
  recovery_code_used: true,
  sign_in_failed: true,
  provider_tokens_ended: true,
  login_failed: true,
  logged_out: true,
  password_reset_requested: true,
  password_reset: true,
  email_verified: true,
  mail_failed: true,
  user_registered: true,
  password_changed: true,
  email_changed: true,
  session_ended: true,
  account_deleted: true,
  grant_revoked: true,
  identity_linked: true,
  identity_unlinked: true,
  connection_added: true,
  connection_removed: true,
  connection_failed: true,
  logout_not_delivered: true,
  client_refused: true,
  consent_given: true,
  consent_denied: true,
  token_issued: true,
  token_refused: true,
  token_revoked: true,
  client_registered: true,
  code_replayed: true,
  refresh_replayed: true,
  upstream_changed: true,
  skill_created: true,
  skill_deleted: true,
  skill_version_created: true,
  skill_version_deleted: true,
  skill_default_changed: true,
  skill_disclosed: false,
  skill_refused: true,
  resource_read: true,
  prompt_used: true,
  completion_requested: true,
  approval_requested: true,
  approval_given: true,
  approval_refused: true,
  tool_held: true,
  admin_changed: true,
  rate_limited: true,
  issuer_unavailable: false,
  store_unavailable: false,
  fault: false,
  audit_dropped: true,
};

/** The types that records can have. */
export const AUDIT_TYPES: readonly string[] = Object.entries(IS_AUDITED)
  .flatMap(([type, isAudited]) => isAudited ? [type] : []);
