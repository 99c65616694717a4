/**
 * The options of the tool server that a user gives: defaults and checks.
 *
 * @module
 */
import type { ServeCard } from "../mcp/cards/server_card.ts";
import type { Icon } from "../mcp/definition/content.ts";
import type { Arrange, DefinitionSource } from "../mcp/definition/definition_source.ts";
import type { Definitions, Middleware } from "../mcp/definition/group.ts";
import type { SseFactory } from "../mcp/http/http_options.ts";
import { findWrongMember } from "../mcp/definition/entry_members.ts";
import { lazy } from "../mcp/lazy.ts";
import type { ToolServerOptions } from "../mcp/service.ts";
import type { ToJsonSchema } from "../mcp/schema/schema_converter.ts";
import type { StorageLimits } from "../mcp/session/storage_limits.ts";
import type { StreamLimits } from "../mcp/http/stream_limits.ts";
import { checkMade, checkNames, checkOneOf, checkWhole, type Names } from "./option_check.ts";
import { VERSION } from "../version.ts";

/** Options of the tool server. */
export interface McpOptions {
  /** Tools, resources, templates and prompts, and groups of them, in any order. */
  readonly definitions?: Definitions;
  readonly tools?: Definitions;
  readonly resources?: Definitions;
  readonly prompts?: Definitions;
  /** Definitions that change while the server runs. Where a name or URI is taken already, the server's own is kept. */
  readonly sources?: readonly DefinitionSource[];
  /** Chooses what clients are offered in place of all definitions, at start and after each change. @default all */
  readonly arrange?: Arrange | undefined;
  /** Runs around every tool, resource, prompt and completion; the first is the outermost. */
  readonly middleware?: readonly Middleware[];
  /** The name by which the server introduces itself (`serverInfo`). */
  readonly name?: string;
  readonly version?: string;
  readonly title?: string;
  readonly description?: string;
  readonly websiteUrl?: string;
  readonly icons?: readonly Icon[];
  /** Instructions for the model (`instructions`). */
  readonly instructions?: string;
  /** Offers the skills as tools, resources and a prompt, and by the skills extension. @default true */
  readonly skills?: boolean;
  /** `optional`: anonymous callers see and call what needs no scope. @default "optional" */
  readonly auth?: "required" | "optional" | "off";
  /** The scope that the challenge of a 401 names; a tool that needs more challenges again. @default all scopes */
  readonly initialScope?: string;
  /**
   * Values of Host beside the issuer's (DNS rebinding); `*` allows all. While the issuer is on loopback, this and
   * `allowedOrigins` apply to every service.
   * @default none
   */
  readonly allowedHosts?: readonly string[];
  /** Values of Origin beside the issuer's; `*` allows all. @default none */
  readonly allowedOrigins?: readonly string[];
  /** Bytes of a message. @default 4194304 */
  readonly bodyLimit?: number;
  /** Entries of a list before it has a next page. @default 1000 */
  readonly pageSize?: number;
  /**
   * Whether `initialize` over HTTP opens a session, in revisions with a handshake. Without sessions a server sends only what
   * belongs to a call: no changes of lists, no subscriptions, no requests to the client, and clients cannot resume streams.
   * @default true
   */
  readonly sessions?: boolean;
  /** Seconds that a session of a revision with a handshake lasts. @default 604800 */
  readonly sessionLifetime?: number;
  /** Seconds of quiet after which a stream carries a comment; 24 days at the most. @default 15 */
  readonly keepAlive?: number;
  /** Seconds for which clients of 2026-07-28 may take a list as fresh. @default 60 */
  readonly listLifetime?: number;
  /**
   * Streams that may be open at one instance: of one session, of one caller with a token, of the anonymous callers of one
   * network, of all anonymous callers. More are refused with 429 or 503.
   * @default { session: 32, caller: 256, network: 128, anonymous: 1000 }
   */
  readonly streamLimits?: Partial<StreamLimits>;
  /**
   * Bytes that callers may have stored: subscriptions, tasks, what streams carried. `src/mcp/README.md` says what counts.
   * @default { session: 262144, anonymousSession: 65536, caller: 268435456, network: 16777216, anonymous: 268435456 }
   */
  readonly storageLimits?: Partial<StorageLimits>;
  /**
   * Makes the JSON Schema of Standard Schemas that do not make it themselves.
   * @default valibot's schemas by `@valibot/to-json-schema`, if it is installed
   */
  readonly toJsonSchema?: ToJsonSchema;
  /** Serves the server card at `/mcp/server-card`: `serverCard({ name })`. @default none */
  readonly card?: ServeCard;
  /** Serves HTTP+SSE, the transport of 2024-11-05, at `/mcp/sse`. @default false */
  readonly sse?: boolean;
}

/** The options that the composition gives, not the user. */
type Given = Pick<
  ToolServerOptions,
  | "base"
  | "issuer"
  | "store"
  | "secret"
  | "now"
  | "extensions"
  | "identify"
  | "implied"
  | "observe"
  | "telemetry"
  | "resourceMetadata"
  | "views"
  | "onSubscribed"
>;

/**
 * The tool server's options, complete.
 * @throws {TypeError | RangeError} naming the option and the rule
 */
export function completeMcp(mcp: McpOptions, given: Given): ToolServerOptions {
  const { definitions = [], tools = [], resources = [], prompts = [] } = mcp;
  type WholeOption = "bodyLimit" | "pageSize" | "sessionLifetime" | "keepAlive" | "listLifetime";
  const whole = (name: WholeOption, defaultValue: number, least: number): number =>
    checkWhole(`mcp.${name}`, mcp[name] ?? defaultValue, least);
  const wrong = findWrongMember({ icons: mcp.icons ?? [] });
  if (wrong) throw new TypeError(`Invalid options: mcp${wrong}`);
  for (const each of mcp.sources ?? []) {
    checkMade("mcp.sources", each, "watch", "openApi(), or by a function like it");
  }
  for (const each of given.extensions) checkMade("extensions", each, "methods", "skillsExtension()");
  return {
    ...mcp,
    ...given,
    name: mcp.name ?? "trivet",
    version: mcp.version ?? VERSION,
    definitions: [definitions, tools, resources, prompts],
    middleware: mcp.middleware ?? [],
    sources: mcp.sources ?? [],
    auth: checkOneOf("mcp.auth", mcp.auth, "optional", "required", "off"),
    bodyLimit: whole("bodyLimit", 4 * 1024 * 1024, 1024),
    pageSize: whole("pageSize", 1000, 1),
    sessions: mcp.sessions ?? true,
    sessionLifetime: 1000 * whole("sessionLifetime", 604_800, 1),
    keepAlive: 1000 * whole("keepAlive", 15, 1),
    listLifetime: 1000 * whole("listLifetime", 60, 0),
    streamLimits: checkLimits("streamLimits", mcp, STREAM_LIMITS),
    storageLimits: checkLimits("storageLimits", mcp, STORAGE_LIMITS),
    sse: mcp.sse ? createSseHandlers : undefined,
  };
}

/** The handlers of 2024-11-05, loaded with the first request to one. */
const createSseHandlers: SseFactory = (...values) => {
  const { load } = lazy(async () => (await import("../mcp/http/http_sse.ts")).createSseHandlers(...values));
  return {
    open: async (...given) => await (await load()).open(...given),
    post: async (...given) => await (await load()).post(...given),
  };
};

const STREAM_LIMITS: Names<StreamLimits> = {
  session: "number",
  caller: "number",
  network: "number",
  anonymous: "number",
};
const STORAGE_LIMITS: Names<StorageLimits> = { ...STREAM_LIMITS, anonymousSession: "number" };

/** @throws {TypeError | RangeError} for a limit that does not exist, is not a whole number or below 1 */
function checkLimits<Name extends "streamLimits" | "storageLimits">(
  name: Name,
  mcp: McpOptions,
  names: object,
): McpOptions[Name] {
  checkNames(`mcp.${name}`, mcp[name] ?? {}, names);
  for (const [key, value] of Object.entries(mcp[name] ?? {})) checkWhole(`mcp.${name}.${key}`, value, 1);
  return mcp[name];
}
