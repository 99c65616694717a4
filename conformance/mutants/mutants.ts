/**
 * Every mutant.
 *
 * @module
 */
import { RPC_ANSWERS } from "./jsonrpc_answers.ts";
import { RPC_BATCHES } from "./jsonrpc_batches.ts";
import { RPC_REQUESTS } from "./jsonrpc_requests.ts";
import { MCP_DESCRIBED } from "./mcp_described.ts";
import { MCP_DOORS } from "./mcp_doors.ts";
import { MCP_MESSAGES } from "./mcp_messages.ts";
import { MCP_METHODS } from "./mcp_methods.ts";
import { MCP_REVISIONS } from "./mcp_revisions.ts";
import { MCP_SESSIONS } from "./mcp_sessions.ts";
import { MCP_SSE } from "./mcp_sse.ts";
import { MCP_STDIO } from "./mcp_stdio.ts";
import { MCP_STDIO_MESSAGES } from "./mcp_stdio_messages.ts";
import { MCP_STREAMS } from "./mcp_streams.ts";
import type { Mutant } from "./mutant.ts";
import { AUTHORIZE_ENDPOINT } from "./oauth_authorize.ts";
import { BEARER } from "./oauth_bearer.ts";
import { CLIENT_ASSERTIONS } from "./oauth_client_assertion.ts";
import { CLIENT_AUTHENTICATION } from "./oauth_clients.ts";
import { CODES } from "./oauth_codes.ts";
import { DETAILS } from "./oauth_details.ts";
import { DEVICES } from "./oauth_device.ts";
import { DPOP } from "./oauth_dpop.ts";
import { DPOP_BINDING } from "./oauth_dpop_binding.ts";
import { INTROSPECTION } from "./oauth_introspection.ts";
import { JWTS } from "./oauth_jwt.ts";
import { LOGIN_PAGE } from "./oauth_login.ts";
import { MANAGEMENT } from "./oauth_management.ts";
import { TOLD } from "./oauth_metadata.ts";
import { OWN_ADDRESS } from "./oauth_own_address.ts";
import { PAGES } from "./oauth_pages.ts";
import { PUSHED } from "./oauth_par.ts";
import { PUSHED_NAMES } from "./oauth_par_names.ts";
import { PKCE } from "./oauth_pkce.ts";
import { REDIRECT_URI } from "./oauth_redirect_uri.ts";
import { REFRESH_TOKENS } from "./oauth_refresh.ts";
import { REFUSALS } from "./oauth_refusals.ts";
import { REGISTRATION } from "./oauth_registration.ts";
import { PROTECTED_RESOURCE } from "./oauth_resource.ts";
import { REVOCATION } from "./oauth_revocation.ts";
import { SCOPES } from "./oauth_scopes.ts";
import { SIGNED_INTROSPECTION } from "./oauth_signed_introspection.ts";
import { TOKEN_ANSWERS } from "./oauth_token_answers.ts";
import { TOKEN_ENDPOINT } from "./oauth_token_endpoint.ts";
import { TOKEN_EXCHANGE } from "./oauth_token_exchange.ts";
import { SKILLS } from "./skills.ts";
import { SKILLS_OPENAI } from "./skills_openai.ts";
import { SKILLS_PACKAGES } from "./skills_packages.ts";
import { SKILLS_TOLD } from "./skills_told.ts";
import { SKILLS_UPLOADS } from "./skills_uploads.ts";
import { SKILL_MESSAGES } from "./skills_messages.ts";

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
