/**
 * The option `gateway` of `createTrivet`: what it makes, and what it is made from.
 *
 * @module
 */
import type { FindSecrets } from "../crypto/server_secrets.ts";
import type { Observe } from "../events.ts";
import type { Service } from "../http/service.ts";
import type { ToolServer, ToolServerOptions } from "../mcp/tool_server.ts";
import type { AuthorizationServerOptions } from "../oauth/authorization_server.ts";
import type { Store } from "../store/store.ts";
import type { IdentityHooks } from "./credentials/context.ts";
import type { StoredUpstreams } from "./stored/stored_upstreams.ts";
import type { Upstreams } from "./upstream/upstream_definition.ts";
import type { OwnSkills } from "./views/own_skills.ts";

/** What a gateway works with. */
export interface GatewayHost {
  readonly store: Store;
  /** Secrets that all instances share. */
  readonly secret: FindSecrets;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly observe: Observe;
  readonly issuer: string;
  /** The other scopes that a scope implies. */
  readonly implied: ReadonlyMap<string, ReadonlySet<string>>;
  /** The authorization server of this server; without it, upstreams have no credentials of users. */
  readonly oauth: IdentityHooks | undefined;
  /** The skills that this server offers to MCP clients, beside which those of upstreams are offered. @default none */
  readonly skills?: OwnSkills | undefined;
  /** The name by which the gateway introduces itself to upstreams. */
  readonly name: string;
}

/** What a gateway adds to the server. */
export interface GatewayParts {
  /** Options of the MCP server: what each caller is offered, and what is done with the resources that they follow. */
  readonly server: Required<Pick<ToolServerOptions, "views" | "onSubscribed">>;
  readonly services: readonly Service[];
  /** Pages of the authorization server where users connect upstreams. */
  readonly connectionPages: NonNullable<AuthorizationServerOptions["connections"]>;
  /** Connects it to the MCP server, whose clients learn of changes. */
  attach(server: Pick<ToolServer, "listChanged" | "resourceUpdated">): void;
  readonly gateway: Gateway;
}

/** A gateway that runs. */
export interface Gateway extends Pick<Upstreams, "status" | "ready" | "reconnect"> {
  /** The upstreams that administrators add. */
  readonly stored: StoredUpstreams;
  /** Adds an upstream at this instance until it stops, or replaces the one of this name. @throws {ConfigurationError} */
  add: Upstreams["add"];
  /** Removes an upstream from this instance. `false` when there is none. */
  remove: Upstreams["remove"];
  /** Ends all calls, sessions and processes. */
  close(): Promise<void>;
}

/** The value of the option `gateway`: `gateway()` of `trivet/gateway`. */
export interface GatewayOption {
  connect(host: GatewayHost): GatewayParts;
}
