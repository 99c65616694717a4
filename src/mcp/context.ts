/**
 * The context that a handler of a tool, a resource or a prompt gets beside its arguments: the caller, progress and logging,
 * and requests to the client. The same handler serves every revision; `call.ts` implements it.
 *
 * @module
 */
import type { Principal } from "../http/principal.ts";
import type { Json } from "../store/store.ts";
import type { TraceContext } from "../http/telemetry.ts";
import type { ContentItem, Meta } from "./definition/content.ts";
import type { AnySchema, Parsed } from "./schema/standard_schema.ts";

/** Severities of RFC 5424, in ascending order. */
export type LogLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency";

/** Features that a client may support. The part after a dot is a sub-capability. */
export type ClientFeature =
  | "elicitation"
  | "elicitation.url"
  | "sampling"
  | "sampling.tools"
  | "sampling.context"
  | "roots"
  | "tasks";

/** What a tool, resource or prompt is given beside its arguments. */
export interface CallContext {
  /** The caller that the access token identifies; `undefined` for an anonymous caller. */
  readonly principal: Principal | undefined;
  /** The protocol revision of the client, such as `2026-07-28`. */
  readonly revision: string;
  /** Aborts when the client cancels, or disconnects and cannot get the result any more. */
  readonly signal: AbortSignal;
  /** The request's `_meta`: trace context, progress token, keys of your own. */
  readonly meta: Meta;
  /**
   * The trace context of this call, for requests to other servers: of its span with the option `telemetry`, else `undefined`.
   * What the client sent is in `meta`.
   */
  readonly trace: TraceContext | undefined;
  /** Name and version of the client as it states them; not verified. */
  readonly clientInfo: { readonly name?: string; readonly version?: string };
  /** Whether the client declared the feature in its capabilities. */
  can(feature: ClientFeature): boolean;
  /**
   * Reports progress, if the client requested it. `progress` must increase with each call. Await it: it waits while the
   * client is slow to read. In a task, the message becomes the task's status message.
   */
  progress(progress: number, total?: number, message?: string): Promise<void>;
  /** Sends a log message, if the client requested this level. Must not contain secrets. */
  log(level: LogLevel, data: Json, logger?: string): Promise<void>;
  /**
   * Asks the user for input, by a form or at a URL (elicitation).
   *
   * Up to 2025-11-25 the call waits for the answer. In 2026-07-28, and in a task, the run ends here by an exception that you
   * must not catch. With the answer the handler runs again from its start, and this returns the answer at once. So code
   * before it must be idempotent, or go through {@linkcode once}.
   * @throws {MissingCapabilityError} when the client does not support it
   */
  elicit<const Schema extends AnySchema>(request: FormRequest<Schema>): Promise<FormAnswer<Schema>>;
  elicit(request: UrlRequest): Promise<UrlAnswer>;
  /** Asks the client's model for a message (sampling). Runs as {@linkcode elicit}. Deprecated in 2026-07-28. */
  sample(request: SamplingRequest): Promise<SamplingAnswer>;
  /** Asks for the client's roots. Runs as {@linkcode elicit}. Deprecated in 2026-07-28. */
  listRoots(options?: { readonly key?: string }): Promise<readonly Root[]>;
  /**
   * Computes a value once per call and key, however often the handler runs again for input: a payment, a random choice, an
   * expensive result. Concurrent calls with the same key wait for it. The value is serialized as JSON and kept in the
   * request state (encrypted), or in the task.
   */
  once<Value extends Json>(key: string, make: () => Value | Promise<Value>): Promise<Value>;
  /**
   * Refuses the call unless the token has these scopes: over HTTP with a 403 that names them.
   * @throws {ScopeError}
   */
  requireScopes(...scopes: string[]): void;
  /**
   * Responds with a task and continues the call in the background (`io.modelcontextprotocol/tasks`). `false` when the client
   * does not support tasks: the call then continues as before.
   */
  startTask(options?: TaskOptions): Promise<boolean>;
  /**
   * Closes the connection and continues the call: the client resumes the stream after `retry` milliseconds
   * (2025-11-25, SEP-1699). Does nothing where a stream cannot be resumed.
   */
  disconnect(retry?: number): Promise<void>;
  /** Notifies the client that an elicitation at a URL is complete (2025-11-25). */
  elicitationCompleted(elicitationId: string): Promise<void>;
  /** Keeps the runtime alive for work that continues after the response. */
  waitUntil(work: Promise<unknown>): void;
  /** The tool for which middleware has emitted the event `tool_called`, with more than the server knows. */
  reportedTool?: string | undefined;
}

export interface TaskOptions {
  /** How long the task and its result are kept, in milliseconds from now. @default 3600000 */
  readonly ttl?: number;
  /** How often the client should poll, in milliseconds. @default 1000 */
  readonly pollInterval?: number;
  readonly statusMessage?: string;
}

/** `key` identifies the request within the call. @default a number in order */
export interface FormRequest<Schema extends AnySchema = AnySchema> {
  readonly mode?: "form";
  readonly key?: string;
  readonly message: string;
  /** A flat object of strings, numbers, booleans and choices (client/elicitation). Must not ask for secrets. */
  readonly schema: Schema;
}

export interface UrlRequest {
  readonly mode: "url";
  readonly key?: string;
  readonly message: string;
  readonly url: string;
  /** @default a random one */
  readonly elicitationId?: string;
}

export type FormAnswer<Schema extends AnySchema> =
  | { readonly action: "accept"; readonly content: Parsed<Schema> }
  | { readonly action: "decline" | "cancel"; readonly content?: undefined };

/** `accept` means that the user agreed to open the URL, not that the interaction is complete. */
export interface UrlAnswer {
  readonly action: "accept" | "decline" | "cancel";
}

/** The params of `sampling/createMessage` (client/sampling). */
export interface SamplingRequest {
  readonly key?: string;
  readonly messages: readonly {
    readonly role: "user" | "assistant";
    readonly content: ContentItem | unknown;
  }[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly modelPreferences?: Readonly<Record<string, unknown>>;
  readonly includeContext?: "none" | "thisServer" | "allServers";
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly tools?: readonly unknown[];
  readonly toolChoice?: Readonly<Record<string, unknown>>;
}

export interface SamplingAnswer {
  readonly role: "user" | "assistant";
  // deno-lint-ignore no-explicit-any
  readonly content: any;
  readonly model: string;
  readonly stopReason?: string;
}

export interface Root {
  /** `file://…` */
  readonly uri: string;
  readonly name?: string;
}
