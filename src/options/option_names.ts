/**
 * Refuses options that do not exist: a misspelt one would have no effect, and leave `registration` open, say. The compiler
 * checks that these lists are complete.
 *
 * @module
 */
import { checkNames, type Names } from "./option_check.ts";
import type { McpOptions } from "./mcp_options.ts";
import type { OAuthOptions } from "./oauth_options.ts";
import type { ServerOptions } from "./server_options.ts";
import type { SkillsOptions } from "./skills_options.ts";
import type { TrivetOptions } from "./trivet_options.ts";

const SERVER: Names<ServerOptions> = {
  store: 1,
  trustedProxies: 1,
  allowedHosts: 1,
  allowedOrigins: 1,
  rateLimits: 1,
  onEvent: 1,
  onRequest: 1,
  requestId: 1,
  telemetry: 1,
  now: 1,
  unsafe: 1,
};
const TRIVET: Names<TrivetOptions> = {
  ...SERVER,
  issuer: 1,
  oauth: 1,
  skills: 1,
  mcp: 1,
  gateway: 1,
  admin: 1,
};
const OAUTH: Names<OAuthOptions> = {
  clients: 1,
  trustedClients: 1,
  scopes: 1,
  resources: 1,
  accessTokenFormat: 1,
  accessTokenLifetime: 1,
  refreshTokenLifetime: 1,
  refreshRetryGrace: 1,
  grantLifetime: 1,
  codeLifetime: 1,
  pushedRequestLifetime: 1,
  deviceCodeLifetime: 1,
  sessionLifetime: 1,
  sessionIdleLifetime: 1,
  consentLifetime: 1,
  signingAlgorithms: 1,
  signingKeyLifetime: 1,
  signingKeyNotice: 1,
  registration: 1,
  registrationLifetime: 1,
  clientMetadataDocuments: 1,
  redirectSchemes: 1,
  securityProfile: 1,
  requirePushedRequests: 1,
  requestObjects: 1,
  responseModes: 1,
  requireDpopNonce: 1,
  trustedIssuers: 1,
  authorizationDetailTypes: 1,
  certificateProxy: 1,
  authenticateUser: 1,
  signIn: 1,
  storedProviders: 1,
  passwordLogin: 1,
  sendMail: 1,
  signUp: 1,
  loginFields: 1,
  passwordPolicy: 1,
  account: 1,
  signInFetch: 1,
  defaultRole: 1,
  connect: 1,
  openid: 1,
  pages: 1,
  passwordIterations: 1,
  passkeys: 1,
  totp: 1,
  secondFactorAcr: 1,
  acrValues: 1,
};
const SKILLS: Names<SkillsOptions> = {
  folders: 1,
  blobs: 1,
  preset: 1,
  uploadLimit: 1,
  packageRules: 1,
  intake: 1,
  skillsPerRequest: 1,
  messages: 1,
  openai: 1,
  unknownBetas: 1,
  discovery: 1,
  auth: 1,
};
const MCP: Names<McpOptions> = {
  definitions: 1,
  tools: 1,
  resources: 1,
  prompts: 1,
  sources: 1,
  arrange: 1,
  middleware: 1,
  name: 1,
  version: 1,
  title: 1,
  description: 1,
  websiteUrl: 1,
  icons: 1,
  instructions: 1,
  skills: 1,
  auth: 1,
  initialScope: 1,
  allowedHosts: 1,
  allowedOrigins: 1,
  bodyLimit: 1,
  pageSize: 1,
  sessions: 1,
  sessionLifetime: 1,
  keepAlive: 1,
  listLifetime: 1,
  streamLimits: 1,
  storageLimits: 1,
  toJsonSchema: 1,
  card: 1,
  sse: 1,
};

/** @throws {TypeError} naming the option */
export function checkOptionNames(options: TrivetOptions): void {
  checkNames("options", options, TRIVET);
  for (const [group, names] of [["oauth", OAUTH], ["skills", SKILLS], ["mcp", MCP]] as const) {
    const given = options[group] ?? false;
    if (given !== false) checkNames(group, given, names, `${group}.`);
  }
}
