/**
 * `trivet/skills`: the Skills service alone. Callers have API keys; `authenticate` adds other credentials.
 *
 * @module
 */
import { type Authenticate, type CallerSource, toCallerSource } from "./http/authenticate.ts";
import { createLoopbackGuard } from "./http/network/loopback_guard.ts";
import { type Handler, mount } from "./mount.ts";
import { completeServer, type ServerOptions } from "./options/server_options.ts";
import { checkNames, type Names } from "./options/option_check.ts";
import { SERVER_NAMES, SKILLS_NAMES } from "./options/option_names.ts";
import { identifyByApiKey } from "./skills/identify.ts";
import { createSkillsService, type SkillsService } from "./skills/service.ts";
import { completeSkills, type SkillsOptions } from "./options/skills_options.ts";

/** Options of a Skills service that runs alone. */
export interface SkillsServerOptions extends ServerOptions, SkillsOptions {
  /** The address of this server: https (http on loopback), without query or fragment. Never taken from a request. */
  readonly url: string;
  /** Identifies callers without an API key, such as those with an access token: a function, or `resourceServer` of `trivet/protect`. @default API keys alone */
  readonly authenticate?: Authenticate | CallerSource;
  /** The address of the protected resource metadata that challenges name (RFC 9728). @default that of `authenticate`, if any */
  readonly resourceMetadata?: string;
}

/** A Skills service that runs alone. */
export type SkillsServer = Handler & Omit<SkillsService, "fetch" | "mounts">;

const NAMES: Names<SkillsServerOptions> = {
  ...SERVER_NAMES,
  ...SKILLS_NAMES,
  url: "string",
  authenticate: "unknown",
  resourceMetadata: "string",
};

/**
 * Makes the Skills service.
 * @throws {TypeError | RangeError} naming the option and the rule
 */
export function skillsService(options: SkillsServerOptions): SkillsServer {
  checkNames("options", options, NAMES);
  const { url, allowedHosts = [], allowedOrigins = [] } = options;
  const source = toCallerSource(options.authenticate);
  const server = completeServer("url", url, options);
  const skills = createSkillsService({
    ...completeSkills(options, true),
    ...server,
    cursorKey: server.secret,
    identify: identifyByApiKey(server.store, source?.identify),
    resourceMetadata: options.resourceMetadata ?? source?.resourceMetadata,
  });
  const { mounts: _, ...own } = skills;
  return {
    ...own,
    ...mount(server, {
      services: source?.service ? [skills, source.service] : [skills],
      guard: createLoopbackGuard({ issuer: url, allowedHosts, allowedOrigins, pages: new Set() }),
    }),
  };
}

export type { Authenticate, CallerSource, Handler, ServerOptions, SkillsOptions };
export type { DiscoverySettings, MessagesSettings } from "./options/skills_options.ts";
export type { TrivetEvent } from "./events.ts";
export type { Principal } from "./http/principal.ts";
export { type ApiKeyRequest, createApiKey, listApiKeys, removeApiKey } from "./skills/api_key.ts";
export type { ApiKey } from "./skills/records.ts";
