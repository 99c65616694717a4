/**
 * Every mutant.
 *
 * @module
 */
import { RPC_ANSWERS } from "./jsonrpc/jsonrpc_answers.ts";
import { RPC_BATCHES } from "./jsonrpc/jsonrpc_batches.ts";
import { RPC_REQUESTS } from "./jsonrpc/jsonrpc_requests.ts";
import { MCP_DESCRIBED } from "./mcp/mcp_described.ts";
import { MCP_DOORS } from "./mcp/mcp_doors.ts";
import { MCP_MESSAGES } from "./mcp/mcp_messages.ts";
import { MCP_METHODS } from "./mcp/mcp_methods.ts";
import { MCP_REVISIONS } from "./mcp/mcp_revisions.ts";
import { MCP_SESSIONS } from "./mcp/mcp_sessions.ts";
import { MCP_SSE } from "./mcp/mcp_sse.ts";
import { MCP_STDIO } from "./mcp/mcp_stdio.ts";
import { MCP_STDIO_MESSAGES } from "./mcp/mcp_stdio_messages.ts";
import { MCP_STREAMS } from "./mcp/mcp_streams.ts";
import type { Mutant } from "./mutant.ts";
import { AUTHORIZE_ENDPOINT } from "./oauth_endpoints/oauth_authorize.ts";
import { BEARER } from "./oauth_grants/oauth_bearer.ts";
import { CLIENT_ASSERTIONS } from "./oauth_grants/oauth_client_assertion.ts";
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
import { TOLD } from "./oauth_endpoints/oauth_metadata.ts";
import { OWN_ADDRESS } from "./oauth_endpoints/oauth_own_address.ts";
import { PAGES } from "./oauth_endpoints/oauth_pages.ts";
import { PUSHED } from "./oauth_endpoints/oauth_par.ts";
import { PUSHED_NAMES } from "./oauth_endpoints/oauth_par_names.ts";
import { PKCE } from "./oauth_grants/oauth_pkce.ts";
import { REDIRECT_URI } from "./oauth_grants/oauth_redirect_uri.ts";
import { REFRESH_TOKENS } from "./oauth_grants/oauth_refresh.ts";
import { REFUSALS } from "./oauth_grants/oauth_refusals.ts";
import { REGISTRATION } from "./oauth_endpoints/oauth_registration.ts";
import { PROTECTED_RESOURCE } from "./oauth_grants/oauth_resource.ts";
import { REVOCATION } from "./oauth_endpoints/oauth_revocation.ts";
import { SCOPES } from "./oauth_grants/oauth_scopes.ts";
import { SIGNED_INTROSPECTION } from "./oauth_endpoints/oauth_signed_introspection.ts";
import { TOKEN_ANSWERS } from "./oauth_endpoints/oauth_token_answers.ts";
import { TOKEN_ENDPOINT } from "./oauth_endpoints/oauth_token_endpoint.ts";
import { TOKEN_EXCHANGE } from "./oauth_grants/oauth_token_exchange.ts";
import { SKILLS } from "./skills/skills.ts";
import { SKILLS_OPENAI } from "./skills/skills_openai.ts";
import { SKILLS_PACKAGES } from "./skills/skills_packages.ts";
import { SKILLS_TOLD } from "./skills/skills_told.ts";
import { SKILLS_UPLOADS } from "./skills/skills_uploads.ts";
import { SKILL_MESSAGES } from "./skills/skills_messages.ts";

export const MUTANTS: readonly Mutant[] = [
  ...AUTHORIZE_ENDPOINT,
  ...REDIRECT_URI,
  ...PKCE,
  ...CODES,
  ...TOKEN_ENDPOINT,
  ...TOKEN_ANSWERS,
  ...CLIENT_AUTHENTICATION,
  ...BEARER,
  ...INTROSPECTION,
  ...PUSHED,
  ...PUSHED_NAMES,
  ...DEVICES,
  ...DPOP,
  ...DPOP_BINDING,
  ...TOKEN_EXCHANGE,
  ...JWTS,
  ...CLIENT_ASSERTIONS,
  ...MANAGEMENT,
  ...DETAILS,
  ...SIGNED_INTROSPECTION,
  ...PROTECTED_RESOURCE,
  ...TOLD,
  ...OWN_ADDRESS,
  ...REGISTRATION,
  ...PAGES,
  ...REFUSALS,
  ...SCOPES,
  ...REVOCATION,
  ...LOGIN_PAGE,
  ...REFRESH_TOKENS,
  ...RPC_REQUESTS,
  ...RPC_ANSWERS,
  ...RPC_BATCHES,
  ...MCP_DOORS,
  ...MCP_SESSIONS,
  ...MCP_METHODS,
  ...MCP_DESCRIBED,
  ...MCP_MESSAGES,
  ...MCP_STREAMS,
  ...MCP_REVISIONS,
  ...MCP_SSE,
  ...MCP_STDIO,
  ...MCP_STDIO_MESSAGES,
  ...SKILLS,
  ...SKILLS_UPLOADS,
  ...SKILLS_PACKAGES,
  ...SKILLS_TOLD,
  ...SKILLS_OPENAI,
  ...SKILL_MESSAGES,
];
