/**
 * Every mutant.
 *
 * @module
 */
import { RPC_RESPONSES } from "./jsonrpc/jsonrpc_responses.ts";
import { RPC_BATCHES } from "./jsonrpc/jsonrpc_batches.ts";
import { RPC_REQUESTS } from "./jsonrpc/jsonrpc_requests.ts";
import { MCP_SELF_CONTAINED } from "./mcp/mcp_self_contained.ts";
import { MCP_ACCESS } from "./mcp/mcp_access.ts";
import { MCP_ENTERPRISE } from "./mcp/mcp_enterprise.ts";
import { MCP_MESSAGES } from "./mcp/mcp_messages.ts";
import { MCP_METHODS } from "./mcp/mcp_methods.ts";
import { MCP_RESULTS } from "./mcp/mcp_results.ts";
import { MCP_REVISIONS } from "./mcp/mcp_revisions.ts";
import { MCP_SESSIONS } from "./mcp/mcp_sessions.ts";
import { MCP_SKILLS } from "./mcp/mcp_skills.ts";
import { MCP_SSE } from "./mcp/mcp_sse.ts";
import { MCP_STDIO } from "./mcp/mcp_stdio.ts";
import { MCP_STDIO_MESSAGES } from "./mcp/mcp_stdio_messages.ts";
import { MCP_TASK_ACCESS } from "./mcp/mcp_task_access.ts";
import { MCP_TASKS } from "./mcp/mcp_tasks.ts";
import { MCP_STREAMS } from "./mcp/mcp_streams.ts";
import type { Mutant } from "./mutant.ts";
import { AUTHORIZE_ENDPOINT } from "./oauth_endpoints/oauth_authorize.ts";
import { BEARER } from "./oauth_grants/oauth_bearer.ts";
import { CLIENT_ASSERTIONS } from "./oauth_grants/oauth_client_assertion.ts";
import { JWT_BEARER } from "./oauth_grants/oauth_jwt_bearer.ts";
import { MUTUAL_TLS } from "./oauth_grants/oauth_mutual_tls.ts";
import { CLIENT_AUTHENTICATION } from "./oauth_grants/oauth_clients.ts";
import { CODES } from "./oauth_grants/oauth_codes.ts";
import { DETAILS } from "./oauth_grants/oauth_details.ts";
import { DEVICES } from "./oauth_endpoints/oauth_device.ts";
import { DPOP } from "./oauth_grants/oauth_dpop.ts";
import { DPOP_BINDING } from "./oauth_grants/oauth_dpop_binding.ts";
import { INTROSPECTION } from "./oauth_endpoints/oauth_introspection.ts";
import { JWTS } from "./oauth_grants/oauth_jwt.ts";
import { LOGIN_PAGE } from "./oauth_endpoints/oauth_login.ts";
import { MANAGEMENT } from "./oauth_endpoints/oauth_management.ts";
import { SERVER_METADATA } from "./oauth_endpoints/oauth_metadata.ts";
import { ORIGIN } from "./oauth_endpoints/oauth_origin.ts";
import { CONSENT } from "./oauth_endpoints/oauth_consent.ts";
import { PUSHED } from "./oauth_endpoints/oauth_par.ts";
import { PUSHED_REQUEST_URIS } from "./oauth_endpoints/oauth_par_request_uri.ts";
import { REQUEST_OBJECTS } from "./oauth_endpoints/oauth_request_object.ts";
import { RESPONSE_MODES } from "./oauth_endpoints/oauth_response_modes.ts";
import { STEP_UP } from "./oauth_endpoints/oauth_step_up.ts";
import { PKCE } from "./oauth_grants/oauth_pkce.ts";
import { REDIRECT_URI } from "./oauth_grants/oauth_redirect_uri.ts";
import { REFRESH_TOKENS } from "./oauth_grants/oauth_refresh.ts";
import { REFUSALS } from "./oauth_grants/oauth_refusals.ts";
import { REGISTRATION } from "./oauth_endpoints/oauth_registration.ts";
import { PROTECTED_RESOURCE } from "./oauth_grants/oauth_resource.ts";
import { REVOCATION } from "./oauth_endpoints/oauth_revocation.ts";
import { SCOPES } from "./oauth_grants/oauth_scopes.ts";
import { OPENID } from "./oauth_endpoints/oauth_openid.ts";
import { OPENID_ENDPOINTS } from "./oauth_endpoints/oauth_openid_endpoints.ts";
import { SIGNED_INTROSPECTION } from "./oauth_endpoints/oauth_signed_introspection.ts";
import { TOKEN_RESPONSES } from "./oauth_endpoints/oauth_token_responses.ts";
import { TOKEN_ENDPOINT } from "./oauth_endpoints/oauth_token_endpoint.ts";
import { TOKEN_EXCHANGE } from "./oauth_grants/oauth_token_exchange.ts";
import { FAPI } from "./oauth_classes/oauth_fapi.ts";
import { FAPI_RESPONSES } from "./oauth_classes/oauth_fapi_responses.ts";
import { CHANGED_REQUESTS } from "./oauth_classes/oauth_changed_requests.ts";
import { OAUTH_2_1 } from "./oauth_classes/oauth_2_1.ts";
import { SECRET_RESPONSES } from "./oauth_classes/oauth_secret_responses.ts";
import { SIMILAR_VALUES } from "./oauth_classes/oauth_similar.ts";
import { SKILLS } from "./skills/skills.ts";
import { SKILLS_OPENAI } from "./skills/skills_openai.ts";
import { SKILLS_PACKAGES } from "./skills/skills_packages.ts";
import { SKILLS_RESPONSES } from "./skills/skills_responses.ts";
import { SKILLS_UPLOADS } from "./skills/skills_uploads.ts";
import { SKILL_MESSAGES } from "./skills/skills_messages.ts";

export const MUTANTS: readonly Mutant[] = [
  ...AUTHORIZE_ENDPOINT,
  ...REDIRECT_URI,
  ...PKCE,
  ...CODES,
  ...TOKEN_ENDPOINT,
  ...TOKEN_RESPONSES,
  ...CLIENT_AUTHENTICATION,
  ...BEARER,
  ...INTROSPECTION,
  ...PUSHED,
  ...PUSHED_REQUEST_URIS,
  ...REQUEST_OBJECTS,
  ...RESPONSE_MODES,
  ...STEP_UP,
  ...DEVICES,
  ...DPOP,
  ...DPOP_BINDING,
  ...TOKEN_EXCHANGE,
  ...JWTS,
  ...CLIENT_ASSERTIONS,
  ...JWT_BEARER,
  ...MUTUAL_TLS,
  ...MANAGEMENT,
  ...DETAILS,
  ...SIGNED_INTROSPECTION,
  ...OPENID,
  ...OPENID_ENDPOINTS,
  ...PROTECTED_RESOURCE,
  ...SERVER_METADATA,
  ...ORIGIN,
  ...REGISTRATION,
  ...CONSENT,
  ...REFUSALS,
  ...SCOPES,
  ...REVOCATION,
  ...LOGIN_PAGE,
  ...REFRESH_TOKENS,
  ...SIMILAR_VALUES,
  ...OAUTH_2_1,
  ...SECRET_RESPONSES,
  ...CHANGED_REQUESTS,
  ...FAPI,
  ...FAPI_RESPONSES,
  ...RPC_REQUESTS,
  ...RPC_RESPONSES,
  ...RPC_BATCHES,
  ...MCP_ACCESS,
  ...MCP_ENTERPRISE,
  ...MCP_SESSIONS,
  ...MCP_METHODS,
  ...MCP_RESULTS,
  ...MCP_SELF_CONTAINED,
  ...MCP_MESSAGES,
  ...MCP_STREAMS,
  ...MCP_REVISIONS,
  ...MCP_TASKS,
  ...MCP_SKILLS,
  ...MCP_TASK_ACCESS,
  ...MCP_SSE,
  ...MCP_STDIO,
  ...MCP_STDIO_MESSAGES,
  ...SKILLS,
  ...SKILLS_UPLOADS,
  ...SKILLS_PACKAGES,
  ...SKILLS_RESPONSES,
  ...SKILLS_OPENAI,
  ...SKILL_MESSAGES,
];
