/**
 * The MCP server from outside: its options, complete, and what it offers.
 *
 * @module
 */
import type { ServeCard } from "./cards/server_card.ts";
import type { FindSecrets } from "../crypto/server_secrets.ts";
import type { Observe } from "../events.ts";
import type { IdentifyCaller, Principal } from "../http/principal.ts";
import type { Service } from "../http/service.ts";
import type { Store } from "../store/store.ts";
import type { Telemetry } from "../http/telemetry.ts";
import type { Arrange, DefinitionSource } from "./definition/definition_source.ts";
import type { ChangedFor } from "./definition/changes.ts";
import type { Extension } from "./definition/extension.ts";
import type { Definitions, Middleware } from "./definition/group.ts";
import type { CreateViews } from "./definition/views.ts";
import type { ServerInfo } from "./definition/server_info.ts";
import type { SseFactory } from "./http/http_options.ts";
import type { StreamLimits } from "./http/stream_limits.ts";
import type { ToJsonSchema } from "./schema/schema_converter.ts";
import type { OnSubscribed } from "./session/session_changes.ts";
import type { StorageLimits } from "./session/storage_limits.ts";
import type { NodeInput } from "./stdio/line_reader.ts";
import type { NodeOutput } from "./stdio/line_writer.ts";

/** The complete options of the MCP server, without defaults. `options/mcp_options.ts` describes each. */
export interface ToolServerOptions extends ServerInfo {
  readonly instructions?: string | undefined;
  readonly base: string;
  readonly issuer: string;
  readonly store: Store;
  /** The key that signs session ids and encrypts cursors and request states. */
  readonly secret: FindSecrets;
  readonly now: () => number;
  readonly definitions: Definitions;
  readonly extensions: readonly Extension[];
  readonly middleware: readonly Middleware[];
  readonly sources: readonly DefinitionSource[];
  /** What is offered in place of all definitions. @default all of them */
  readonly arrange?: Arrange | undefined;
  /** What each caller is offered, where that differs. @default all definitions to all callers */
  readonly views?: CreateViews | undefined;
  /** Learns which resources clients follow. @default no one */
  readonly onSubscribed?: OnSubscribed | undefined;
  readonly identify: IdentifyCaller;
  readonly auth: "required" | "optional" | "off";
  /** The other scopes that a scope implies. */
  readonly implied: ReadonlyMap<string, ReadonlySet<string>>;
  /** @default none */
  readonly allowedHosts?: readonly string[] | undefined;
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Bytes. */
  readonly bodyLimit: number;
  /** Entries of a list. */
  readonly pageSize: number;
  /** Whether `initialize` over HTTP opens a session. */
  readonly sessions: boolean;
  /** Milliseconds. */
  readonly sessionLifetime: number;
  readonly keepAlive: number;
  /** Limits of open streams and stored bytes. @default STREAM_LIMITS, STORAGE_LIMITS */
  readonly streamLimits?: Partial<StreamLimits> | undefined;
  readonly storageLimits?: Partial<StorageLimits> | undefined;
  readonly listLifetime: number;
  /** Makes the JSON Schema of Standard Schemas that do not make it themselves. */
  readonly toJsonSchema?: ToJsonSchema | undefined;
  /** `createSseHandlers`, to serve HTTP+SSE (2024-11-05) at `/mcp/sse`; not bundled unless you pass it. */
  readonly sse: SseFactory | undefined;
  /** Made by `serverCard`; served at `/mcp/server-card`. */
  readonly card?: ServeCard | undefined;
  readonly resourceMetadata: string | undefined;
  /** The scope in the challenge of a 401. */
  readonly initialScope?: string | undefined;
  readonly observe: Observe;
  readonly telemetry?: Telemetry | undefined;
}

/** The tool server as a service, with what can be changed while it runs. */
export interface ToolServer extends Service {
  /**
   * Resolves when the server can answer. Only definitions with a valibot schema take until then: their converter loads at
   * the first request, or now.
   * @throws {TypeError} for an invalid definition
   */
  ready(): Promise<void>;
  /** Serves one client over stdio until the input ends: `serveStdio(process.stdin, process.stdout)`, or two streams. */
  serveStdio(
    input: ReadableStream<Uint8Array> | NodeInput,
    output: WritableStream<Uint8Array> | NodeOutput,
    principal?: Principal,
  ): Promise<void>;
  /**
   * Replaces all definitions but those of `sources`, and notifies clients of the lists that changed. Running calls finish with the old definitions.
   * @throws {TypeError} for an invalid definition; then nothing is replaced
   */
  replace(definitions: Definitions): Promise<void>;
  /**
   * Notifies the subscribers of a resource, on any instance, that it changed. With `changedFor` only those of one user, where
   * users read different contents at the same URI.
   */
  resourceUpdated(uri: string, changedFor?: ChangedFor): Promise<void>;
  /** Notifies clients, on any instance, that a list changed. With `changedFor` only those of one user. */
  listChanged(list: "tools" | "resources" | "prompts", changedFor?: ChangedFor): Promise<void>;
  /** The tools that it has now, as a client of the newest revision gets them, with the scopes that a call needs. */
  listTools(): readonly { readonly entry: Record<string, unknown>; readonly scopes: readonly string[] }[];
  /** How many event streams are open at this instance. */
  openStreams(): number;
  /**
   * Ends the streams that wait for changes, before the process stops. They say when clients that can resume should come back,
   * with the id of the last event.
   */
  close(): void;
  /**
   * Ends the streams of calls that still run with an error, and cancels the calls, before the process stops. Resolves when
   * clients that resume at another instance find the error there.
   */
  stopCalls(): Promise<void>;
}
