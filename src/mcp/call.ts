/**
 * One call: implements the {@linkcode CallContext} that its handler gets. How it reaches the client depends on the revision
 * and the transport: by a message on a stream, by a result that asks for input, or not at all.
 *
 * @module
 */
import type { Principal } from "../http/principal.ts";
import type { RequestContext } from "../http/service.ts";
import { isExact } from "../jsonrpc/message.ts";
import type { Json } from "../store/store.ts";
import type { Telemetry, TraceContext } from "../http/telemetry.ts";
import type { CallRequest } from "./call_request.ts";
import { type Connection, NO_CONNECTION, type Outlet } from "./connection.ts";
import { bindMethods } from "./definition/bind_methods.ts";
import { type Capabilities, hasFeature } from "./input/client_feature.ts";
import type { Meta } from "./definition/content.ts";
import type {
  CallContext,
  ClientFeature,
  FormAnswer,
  FormRequest,
  LogLevel,
  Root,
  SamplingAnswer,
  SamplingRequest,
  TaskOptions,
  UrlAnswer,
  UrlRequest,
} from "./context.ts";
import { type Era, MODERN } from "./era.ts";
import { ScopeError } from "./error.ts";
import type { Inputs } from "./input/inputs.ts";
import { lazy } from "./lazy.ts";
import { DEFAULT_LEVEL, severity } from "./log_level.ts";
import type { Session } from "./session/session.ts";
import type { SchemaConverter } from "./schema/schema_converter.ts";
import type { AnySchema } from "./schema/standard_schema.ts";

/** What a call uses of the server. */
export interface CallHost {
  /** Whether a principal has a scope, or one that implies it. */
  readonly holds: (principal: Principal | undefined, scope: string) => boolean;
  /**
   * Calls `onCancelled` when the client cancels, or disconnects where that means the same. Returns the function that ends
   * it.
   */
  readonly watchCancellation: (call: Call, onCancelled: () => void) => () => void;
  readonly telemetry: Telemetry | undefined;
  /** Whether the server has a tool or a prompt of this name. */
  readonly offers: (kind: "tools" | "prompts", name: string) => boolean;
  /** Converts the schemas of forms. */
  readonly schemas: SchemaConverter;
  /** The minimum log level of a session. */
  readonly getLogLevel: (session: Session) => Promise<LogLevel>;
}

/** The task that a call became. */
export interface TaskRun {
  readonly id: string;
  /** Sets the status message. */
  note(message: string): void;
  /** Stops renewing its lease. */
  end(): void;
}

/** Loads with the first request for input. */
const input = lazy(() => import("./input/call_input.ts"));

/** A progress token is repeated in every notification; a longer one is ignored. */
const MAX_PROGRESS_TOKEN_CHARACTERS = 1024;

export class Call implements CallContext {
  readonly host: CallHost;
  /** What the client sent. */
  request: CallRequest;
  /** The way to the client. */
  connection: Connection;
  /** Input from the client for earlier runs, where a request for input ends the run. */
  inputs: Inputs | undefined = undefined;
  /** Requests for input of this run, in 2026-07-28. A handler that asks for two at once ends with the first. */
  asking: Promise<unknown>[] | undefined = undefined;
  task: TaskRun | undefined = undefined;
  /** Set by the option `telemetry`. */
  trace: TraceContext | undefined = undefined;
  /** Makes the call a task; set while a tool runs that may become one. */
  begin: ((options: TaskOptions) => Promise<boolean>) | undefined = undefined;
  reportedTool: string | undefined = undefined;
  isOver = false;
  #unwatch: (() => void) | undefined = undefined;
  #controller: AbortController | undefined = undefined;
  #cancelled: unknown = undefined;
  #progress = -Infinity;
  /** The minimum log level of its session. */
  #level: LogLevel | undefined = undefined;

  constructor(host: CallHost, request: CallRequest, connection: Connection) {
    this.host = host;
    this.request = request;
    this.connection = connection;
  }

  get principal(): Principal | undefined {
    return this.request.principal;
  }

  get era(): Era {
    return this.request.era;
  }

  get revision(): string {
    return this.request.era.revision;
  }

  get session(): Session | undefined {
    return this.request.session;
  }

  get capabilities(): Capabilities {
    return this.request.capabilities;
  }

  get clientInfo(): CallContext["clientInfo"] {
    return this.request.clientInfo;
  }

  get meta(): Meta {
    return this.request.meta;
  }

  get runtime(): RequestContext | undefined {
    return this.request.runtime;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#cancelled !== undefined) this.#controller.abort(this.#cancelled);
      // Watched only once a handler uses the signal.
      else if (!this.isOver) {
        this.#unwatch = this.host.watchCancellation(this, () => this.cancel("The client disconnected"));
      }
    }
    return this.#controller.signal;
  }

  get isCancelled(): boolean {
    return this.#cancelled !== undefined;
  }

  /** Aborts the signal. Nothing is sent for the call from now on. */
  cancel(reason: string): void {
    if (this.isOver || this.#cancelled !== undefined) return;
    this.#cancelled = new DOMException(reason, "AbortError");
    this.#controller?.abort(this.#cancelled);
  }

  /**
   * Marks the call as answered: nothing that its handler sends from now on reaches the client. A call that became a task
   * continues until the task ends.
   */
  end(): void {
    if (this.task) return;
    this.isOver = true;
    this.#unwatch?.();
  }

  /** Separates the call from its connection. */
  detach(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
    this.connection = NO_CONNECTION;
  }

  can(feature: ClientFeature): boolean {
    return hasFeature(this.capabilities, feature);
  }

  async progress(progress: number, total?: number, message?: string): Promise<void> {
    if (this.task) return message === undefined ? undefined : this.task.note(message);
    const { outlet } = this.connection;
    const token = this.meta.progressToken;
    const isValid = typeof token === "string"
      ? token.length <= MAX_PROGRESS_TOKEN_CHARACTERS
      : isExact(token);
    const increases = Number.isFinite(progress) && progress > this.#progress;
    if (!isValid || !outlet || this.isOver || this.isCancelled || !increases) return;
    this.#progress = progress;
    await outlet.notify("notifications/progress", {
      progressToken: token,
      progress,
      ...(Number.isFinite(total) && { total }),
      ...(message !== undefined && this.revision >= "2025-03-26" && { message }),
    });
  }

  async log(level: LogLevel, data: Json, logger?: string): Promise<void> {
    const { outlet } = this.connection;
    if (!outlet || this.task || this.isOver || this.isCancelled) return;
    const minimum = this.request.logLevel ?? await this.#sessionLevel();
    if (minimum === undefined || severity(level) < severity(minimum)) return;
    await outlet.notify("notifications/message", {
      level,
      ...(logger !== undefined && { logger }),
      // JSON would leave out undefined, but data is required.
      data: data ?? null,
    });
  }

  get schemas(): SchemaConverter {
    return this.host.schemas;
  }

  get sendRequest(): Outlet["sendRequest"] {
    return this.connection.outlet?.sendRequest;
  }

  elicit<const Schema extends AnySchema>(request: FormRequest<Schema>): Promise<FormAnswer<Schema>>;
  elicit(request: UrlRequest): Promise<UrlAnswer>;
  async elicit(request: FormRequest | UrlRequest): Promise<FormAnswer<AnySchema> | UrlAnswer> {
    return await this.#ask(input.use(({ elicit }) => elicit(this, request)));
  }

  async sample(request: SamplingRequest): Promise<SamplingAnswer> {
    return await this.#ask(input.use(({ sample }) => sample(this, request)));
  }

  async listRoots(request: { readonly key?: string } = {}): Promise<readonly Root[]> {
    return await this.#ask(input.use(({ listRoots }) => listRoots(this, request)));
  }

  async once<Value extends Json>(key: string, make: () => Value | Promise<Value>): Promise<Value> {
    return await input.use(({ once }) => once(this, key, make)) as Value;
  }

  requireScopes(...scopes: string[]): void {
    if (!scopes.every((scope) => this.host.holds(this.principal, scope))) throw new ScopeError(scopes);
  }

  async startTask(options: TaskOptions = {}): Promise<boolean> {
    return this.task !== undefined || this.begin !== undefined && await this.begin(options);
  }

  async disconnect(retry = 1000): Promise<void> {
    await this.connection.outlet?.disconnect?.(Number.isSafeInteger(retry) && retry >= 0 ? retry : 1000);
  }

  async elicitationCompleted(elicitationId: string): Promise<void> {
    if (this.revision !== "2025-11-25") return;
    await this.connection.outlet?.notify("notifications/elicitation/complete", { elicitationId });
  }

  waitUntil(work: Promise<unknown>): void {
    const settled = work.catch(() => {});
    this.runtime?.waitUntil?.(settled);
  }

  /** Remembers a request for input until it is pending, so that a run that another one ends waits for it. */
  #ask<Answer>(asked: Promise<Answer>): Promise<Answer> {
    if (this.revision >= MODERN) (this.asking ??= []).push(asked);
    return asked;
  }

  /** The minimum log level in revisions with a handshake; `undefined` in 2026-07-28, where a request names it. */
  async #sessionLevel(): Promise<LogLevel | undefined> {
    if (this.revision >= MODERN) return undefined;
    return this.#level ??= this.session ? await this.host.getLogLevel(this.session) : DEFAULT_LEVEL;
  }
}

// Handlers may destructure their context: `run: (_, { progress }) => …`.
bindMethods(
  Call.prototype,
  "can progress log elicit sample listRoots once requireScopes startTask disconnect elicitationCompleted waitUntil",
);
