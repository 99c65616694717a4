/**
 * What the gateway offers of its upstreams, and what it reports of them.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import type { Definition, ResourceDefinition } from "../../mcp/definition/definition.ts";
import type { ChangedFor } from "../../mcp/definition/changes.ts";
import type { ListName } from "../../mcp_client/client.ts";
import type { McpServer } from "./configuration/configuration.ts";
import type { References } from "./configuration/environment.ts";
import type { ListedSkill } from "./lists/skill_list.ts";

/** Where a definition comes from. */
export interface FromUpstream {
  /** The name of the upstream in `mcpServers`. */
  readonly upstream: string;
  /** Differs when another server gets the name: a digest of its URL, or of its command. */
  readonly serverDigest: string;
  /** The name of the tool or prompt, the URI or URI template of the resource, as the upstream has it. */
  readonly originalName: string;
  /** Whether the gateway made it and the upstream does not have it, as the tool that connects a user. */
  readonly isOwn?: true;
}

/** A definition whose handler calls an upstream, with the session and the credentials of the caller of each call. */
export type UpstreamDefinition = Definition & FromUpstream;

/** A skill of an upstream: the definition of its SKILL.md. */
export type UpstreamSkill = ResourceDefinition & FromUpstream & {
  readonly skill: {
    /** The name by which tools load it, which no other skill has: `docs/pdf-forms`. */
    readonly name: string;
    /** The path segments of its directory as clients see it. */
    readonly path: readonly string[];
    readonly frontMatter: ListedSkill["frontMatter"];
    readonly files: ListedSkill["files"];
  };
};

/** Whether a definition is that of a skill of an upstream. */
export function isUpstreamSkill(definition: Definition): definition is UpstreamSkill {
  return (definition as Partial<UpstreamSkill>).skill !== undefined;
}

/** Whether a definition comes from an upstream. */
export function isUpstreamDefinition(definition: Definition): definition is UpstreamDefinition {
  return typeof (definition as Partial<UpstreamDefinition>).upstream === "string";
}

/**
 * The state of an upstream.
 *
 * - `idle`: not connected; it connects with the next call
 * - `connecting`
 * - `connected`
 * - `connection_required`: the caller must connect an account first
 * - `failed`: the last attempt to connect, or to read its lists, failed; it is tried again
 * - `open`: it failed several times in a row (circuit breaker); calls fail at once until a trial succeeds
 */
export type UpstreamState = "idle" | "connecting" | "connected" | "connection_required" | "failed" | "open";

/** Numbers of entries of each kind. */
export interface UpstreamCounts {
  readonly tools: number;
  readonly resources: number;
  readonly resourceTemplates: number;
  readonly prompts: number;
  readonly skills: number;
}

/** An upstream for operators, without secrets. */
export interface UpstreamStatus {
  readonly name: string;
  readonly transport: "stdio" | "http" | "sse";
  /** The URL without its query, or the command without its arguments. */
  readonly server: string;
  readonly state: UpstreamState;
  /** The negotiated revision. */
  readonly revision?: string;
  /** Name and version, as the upstream states them. */
  readonly serverInfo?: { readonly name: string; readonly version: string };
  readonly counts: UpstreamCounts;
  /** Entries that are not offered, and why; the first 50. */
  readonly leftOut: readonly string[];
  /** Users, or 1 for all together, with an open connection. */
  readonly sessions: number;
  /** Calls that run, and calls that wait for one to end. */
  readonly running: number;
  readonly waiting: number;
  readonly lastError?: string;
  /** When the last error happened, in milliseconds since the epoch. */
  readonly lastErrorAt?: number;
}

/** The upstreams of a gateway. */
export interface Upstreams {
  /**
   * What the caller is offered now, in a stable order. Callers who are offered the same get the same array, so that it can
   * serve as the key of what is compiled from it. Starts to connect for a caller who has no session.
   */
  list(caller: Principal | undefined): readonly UpstreamDefinition[];
  /** Resolves when the first answers for the caller have come, or within seconds. Never rejects. */
  prepare(caller: Principal | undefined): Promise<void>;
  /** As {@linkcode prepare}, for the upstreams that all callers share. */
  ready(): Promise<void>;
  /**
   * Calls `onChange` after each change of what some caller is offered, with the only user for whom it changed. Returns the
   * function that ends it.
   */
  watch(onChange: (changedFor?: ChangedFor) => void): () => void;
  /** Calls `onAnnounced` with lists that an upstream announced as changed (to one user), and that are as before. */
  watchAnnouncements(
    onAnnounced: (lists: ReadonlySet<ListName>, changedFor?: ChangedFor) => void,
  ): () => void;
  /** Calls `onUpdate` with the URI of each updated resource, as clients know it, and the user whose session it came from. */
  watchResources(onUpdate: (uri: string, changedFor?: ChangedFor) => void): () => void;
  /**
   * Subscribes at the upstream to the updates of a resource, given as clients know it; ignored for other URIs. Repeated
   * calls renew it: a subscription without renewal ends after an hour.
   */
  subscribe(uri: string, caller: Principal | undefined): Promise<void>;
  status(): readonly UpstreamStatus[];
  /** Whether all callers share the sessions of all upstreams, so that all are offered the same. */
  isShared(): boolean;
  /** The configuration that `add` would take. @throws {ConfigurationError} as `add` */
  check(name: string, server: McpServer, references?: References): unknown;
  /**
   * Adds an upstream, or replaces the one of this name.
   * @param references `"literal"` for one of the store; by default those of the gateway's `variable`
   * @throws {ConfigurationError}
   */
  add(name: string, server: McpServer, references?: References): void;
  /** Removes an upstream: its calls fail. `false` when there is none. */
  remove(name: string): Promise<boolean>;
  /**
   * Ends the session of a caller, such as after its credentials changed, and connects anew.
   * @param when `"now"` ends its calls; `"idle"` waits for them, and for calls that begin meanwhile. @default "now"
   */
  reconnect(name: string, caller: Principal | undefined, when?: "now" | "idle"): void;
  /** Ends all calls, sessions and processes. Never rejects. */
  close(): Promise<void>;
}
