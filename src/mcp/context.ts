/**
 * What a handler of a tool, a resource or a prompt is given beside its arguments: who calls, how to report, and how to
 * ask the client. The same code serves every revision; `call.ts` is what stands behind it.
 *
 * @module
 */
import type { Principal } from "../http/principal.ts";
import type { Json } from "../store/store.ts";
import type { ContentItem, Meta } from "./definition/content.ts";
import type { AnySchema, Parsed } from "./schema/standard_schema.ts";

/** Severities of RFC 5424, in rising order. */
export type LogLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency";

/** What a client can do for a tool. A dot asks for the part behind it. */
export type ClientFeature =
  | "elicitation"
  | "elicitation.url"
  | "sampling"
  | "sampling.tools"
  | "sampling.context"
  | "roots"
  | "tasks";

export interface CallContext {
  /** Who calls; `undefined` for an anonymous caller. */
  readonly principal: Principal | undefined;
  /** The protocol revision that the caller speaks, such as `2026-07-28`. */
  readonly revision: string;
  /** Aborts when the caller cancels, or is gone and could not hear the result any more. */
  readonly signal: AbortSignal;
  /** The caller's `_meta`: trace context, progress token, keys of your own. */
  readonly meta: Meta;
  /** What the caller says it is; nobody checked it. */
  readonly clientInfo: { readonly name?: string; readonly version?: string };
  /** Whether the caller said that it can. */
  can(feature: ClientFeature): boolean;
  /**
   * Tells how far the work is, when the caller asked to hear of it. `progress` must rise. Await it: it waits while
   * the caller is slow to read. In a task, the message becomes the task's status message.
   */
  progress(progress: number, total?: number, message?: string): Promise<void>;
  /** Sends a log message, when the caller wants them of this level. Never secrets. */
  log(level: LogLevel, data: Json, logger?: string): Promise<void>;
  /**
   * Asks the user, by a form or at a URL.
   *
   * Up to 2025-11-25 the call waits for the answer. In 2026-07-28, and in a task, the call ends here, and runs again
   * from its start when the answer has come: then this gives it at once. So what stands before a question must bear
   * being done twice, or go through {@linkcode once}. Do not catch what it throws to do so.
   * @throws {MissingCapabilityError} when the caller cannot
   */
  elicit<const Schema extends AnySchema>(request: FormRequest<Schema>): Promise<FormAnswer<Schema>>;
  elicit(request: UrlRequest): Promise<UrlAnswer>;
  /** Has the caller's model write something. As {@linkcode elicit}. Deprecated in 2026-07-28. */
  sample(request: SamplingRequest): Promise<SamplingAnswer>;
  /** The folders that the caller works in. As {@linkcode elicit}. Deprecated in 2026-07-28. */
  listRoots(options?: { readonly key?: string }): Promise<readonly Root[]>;
  /**
   * Makes a value once per call and key, however often the call runs again for answers: a charge, a random choice, an
   * expensive result. What asks for the same key at the same time waits for it. The value is what JSON makes of it, and
   * travels with the question (sealed), or with the task.
   */
  once<Value extends Json>(key: string, make: () => Value | Promise<Value>): Promise<Value>;
  /**
   * Refuses the call unless the token holds these scopes: over HTTP a 403 that tells the client what to ask for.
   * @throws {ScopeError}
   */
  requireScopes(...scopes: string[]): void;
  /**
   * Answers the caller with a task and lets the call go on behind it (`io.modelcontextprotocol/tasks`). `false`
   * when the caller knows no tasks: the call then goes on as it was.
   */
  startTask(options?: TaskOptions): Promise<boolean>;
  /**
   * Closes the connection and keeps the call: the client comes back after `retry` milliseconds for the rest
   * (2025-11-25, SEP-1699). Does nothing where a stream cannot be resumed.
   */
  disconnect(retry?: number): Promise<void>;
  /** Tells that what {@linkcode UrlAnswer} began has ended (2025-11-25). */
  elicitationCompleted(elicitationId: string): Promise<void>;
  /** Keeps the runtime alive for work that goes on after the answer. */
  waitUntil(work: Promise<unknown>): void;
}

export interface TaskOptions {
  /** Milliseconds from now until the task and its result are forgotten. @default 3600000 */
  readonly ttl?: number;
  /** Milliseconds after which the caller should look again. @default 1000 */
  readonly pollInterval?: number;
  readonly statusMessage?: string;
}

/** `key` names the question within the call; without one, questions are numbered as they come. */
export interface FormRequest<Schema extends AnySchema = AnySchema> {
  readonly mode?: "form";
  readonly key?: string;
  readonly message: string;
  /** A flat object of strings, numbers, booleans and choices (client/elicitation). Never ask for secrets by it. */
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

/** `accept` says that the user agreed to go there, not that it is done. */
export interface UrlAnswer {
  readonly action: "accept" | "decline" | "cancel";
}

export interface SamplingMessage {
  readonly role: "user" | "assistant";
  readonly content: unknown;
}

/** As `sampling/createMessage` has it (client/sampling). */
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
