/**
 * The options of `createTrivet`.
 *
 * @module
 */
import type { AdminOption } from "../admin/option.ts";
import type { GatewayOption } from "../gateway/option.ts";
import type { McpOptions } from "./mcp_options.ts";
import type { OAuthOptions } from "./oauth_options.ts";
import type { ServerOptions } from "./server_options.ts";
import type { SkillsOptions } from "./skills_options.ts";

/** Options of {@linkcode createTrivet}. */
export interface TrivetOptions extends ServerOptions {
  /**
   * Where clients reach this server: https (http on loopback), no query or fragment. Never taken from a
   * request: otherwise the Host field would decide the audience of tokens.
   */
  readonly issuer: string;
  /** `false` leaves the authorization server out; API keys still work. */
  readonly oauth?: OAuthOptions | false;
  /** `false` leaves the Skills service out. */
  readonly skills?: SkillsOptions | false;
  /** `false` leaves the tool server out. */
  readonly mcp?: McpOptions | false;
  /** Other MCP servers, offered by this one: `gateway()` of `trivet/gateway`. Needs the tool server. @default none */
  readonly gateway?: GatewayOption | undefined;
  /** The administration: `admin()` of `trivet/admin`. Needs the authorization server. @default none */
  readonly admin?: AdminOption | undefined;
}
