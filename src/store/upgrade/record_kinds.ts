/**
 * The kinds of records (the first part of their keys), with the version of the form that this version of Trivet reads and
 * writes. `record_shapes_node_test.ts` fails when a kind is missing, or its form changes and its version does not.
 *
 * @module
 */

/**
 * The kinds that are written. A version goes up with every change after which older or newer code would misread records;
 * `upgrade_steps.ts` then says what becomes of the earlier ones.
 */
export const RECORD_KINDS: Readonly<Record<string, number>> = {
  access_token: 2,
  api_key: 1,
  archive_digest: 1,
  attempts: 1,
  audit: 1,
  audit_head: 1,
  blob: 2,
  blob_data: 1,
  blob_garbage: 1,
  blob_pending: 1,
  blob_reference: 1,
  blob_released: 1,
  cache_lifetime: 1,
  client: 2,
  client_document: 1,
  code: 1,
  consent: 1,
  container: 1,
  demo: 1,
  device_code: 1,
  email_verification: 1,
  ended_session: 1,
  format: 1,
  grant: 2,
  invitation: 1,
  linked_account: 1,
  logout_notice: 1,
  mcp: 1,
  mcp_change_count: 1,
  mcp_lease: 1,
  mcp_question: 1,
  mcp_session_end: 1,
  mcp_task_lease: 1,
  migration: 1,
  passkey: 1,
  password_reset: 1,
  pending_login: 1,
  profile: 1,
  provider: 1,
  provider_tokens: 1,
  pushed_request: 1,
  rate_limit: 1,
  revocations: 1,
  server_secret: 1,
  server_secrets: 1,
  session: 2,
  session_client: 1,
  sign_up: 1,
  signed_out: 1,
  signing_key: 2,
  skill: 2,
  skill_name: 1,
  skill_title: 1,
  skill_title_claim: 1,
  skill_usage: 1,
  skill_version: 1,
  skill_version_number: 1,
  transaction: 1,
  upgrade: 1,
  upstream: 1,
  used: 1,
  user: 1,
  user_code: 1,
  user_factors: 1,
  user_grant: 1,
  user_identity: 1,
  user_session: 1,
  username: 1,
  verified_email: 1,
};

/** The kinds that only earlier versions wrote. In a store of this version there are none. */
export const RETIRED_KINDS: Readonly<Record<string, number>> = {
  key_set: 2,
  revoked_token: 2,
  skill_file: 2,
};
