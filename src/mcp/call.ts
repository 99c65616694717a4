/**
 * One call: implements the {@linkcode CallContext} that its handler gets. How it reaches the client depends on the revision
 * and the transport: by a message on a stream, by a result that asks for input, or not at all.
 *
 * @module
 */
import type { Principal } from "../http/principal.ts";
import { randomId } from "../crypto/secret.ts";
import type { RequestContext } from "../http/service.ts";
import type { Id } from "../jsonrpc/message.ts";
import type { Json } from "../store/store.ts";
import { bindMethods } from "./definition/bind_methods.ts";
import { type Capabilities, hasFeature, requiredCapabilities } from "./input/client_feature.ts";
import { readResultObject, readRootsResult, readSamplingResult } from "./client_result.ts";
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
import { readElicitation, writeElicitation } from "./input/elicitation.ts";
import { type Era, MODERN } from "./era.ts";
import { MissingCapabilityError, ScopeError } from "./error.ts";
import { Inputs } from "./input/inputs.ts";
import { DEFAULT_LEVEL, severity } from "./log_level.ts";
import type { Session } from "./session/session.ts";
import type { AnySchema } from "./schema/standard_schema.ts";

/** Sends messages to the client while a call runs. */
export interface Outlet {
  /** Sends a notification. Resolves when the next may be sent. */
  notify(method: string, params: Record<string, unknown>): Promise<void>;
  /** Sends a request and waits for its result; absent where the transport or revision does not allow it. */
  sendRequest?: ((method: string, params: unknown, signal: AbortSignal) => Promise<unknown>) | undefined;
  /** Closes the connection; the client resumes the stream after `retry` milliseconds. */
  disconnect?(retry: number): Promise<void>;
}

/** What a call uses of the server. */
export interface CallHost {
  /** Whether a principal has a scope, or one that implies it. */
  readonly holds: (principal: Principal | undefined, scope: string) => boolean;
  /**
   * Calls `onCancelled` when the client cancels, or disconnects where that means the same. Returns the function that ends
   * it.
   */
  readonly watchCancellation: (call: Call, onCancelled: () => void) => () => void;
  /** The minimum log level of a session. */
  readonly getLogLevel: (session: Session) => Promise<LogLevel>;
}

/** The task that a call became. */
export interface TaskRun {
  /** Sets the status message. */
  note(message: string): void;
  /** Stops renewing its lease. */
  end(): void;
}

const NOTHING: Meta = {};
/** A progress token is repeated in every notification; a longer one is ignored. */
const MAX_PROGRESS_TOKEN_CHARACTERS = 1024;

export class Call implements CallContext {
  readonly principal: Principal | undefined;
  era: Era;
  readonly host: CallHost;
  capabilities: Capabilities = NOTHING;
  clientInfo: CallContext["clientInfo"] = NOTHING;
  meta: Meta = NOTHING;
  /** Id of the request; `undefined` for a notification. */
  id: Id | undefined = undefined;
  session: Session | undefined = undefined;
  /** Whether `initialize` may start a session. */
  offersSession = false;
  /** The id of the session that it started, for the client. */
  startedSession: string | undefined = undefined;
  /** Called with the result of `initialize`, where the connection itself is the session. */
  onHandshake: ((handshake: Pick<Session, "revision" | "capabilities" | "clientInfo">) => void) | undefined =
    undefined;
  outlet: Outlet | undefined = undefined;
  /** Header fields of a request of 2026-07-28 over HTTP, which must match its body. */
  headers: Headers | undefined = undefined;
  /** The HTTP request, whose signal aborts when the client disconnects. */
  request: Request | undefined = undefined;
  /** The minimum log level that the client requested. */
  logLevel: LogLevel | undefined = undefined;
  /** Input from the client for earlier runs, where a request for input ends the run. */
  inputs: Inputs | undefined = undefined;
  task: TaskRun | undefined = undefined;
  /** Makes the call a task; set while a tool runs that may become one. */
  begin: ((options: TaskOptions) => Promise<boolean>) | undefined = undefined;
  /** Called with the id of a cancelled request, where the connection itself is the session. */
  onCancelled: ((id: Id) => void) | undefined = undefined;
  runtime: RequestContext | undefined = undefined;
  isOver = false;
  #unwatch: (() => void) | undefined = undefined;
  #controller: AbortController | undefined = undefined;
  #cancelled: unknown = undefined;
  #progress = -Infinity;

  constructor(host: CallHost, principal: Principal | undefined, era: Era) {
    this.host = host;
    this.principal = principal;
    this.era = era;
  }

  get revision(): string {
    return this.era.revision;
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

  /** Sets the session, with the capabilities and client info of its handshake. */
  join(session: Session): void {
    this.session = session;
    this.capabilities = session.capabilities;
    this.clientInfo = session.clientInfo;
  }

  /** Releases the content of the request: its stream may stay open for days, and it may be large. */
  releaseRequest(): void {
    this.meta = NOTHING;
    this.capabilities = NOTHING;
    this.headers = undefined;
    this.request = undefined;
  }

  /** Separates the call from its connection. */
  detach(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
    this.request = undefined;
    this.outlet = undefined;
  }

  can(feature: ClientFeature): boolean {
    return hasFeature(this.capabilities, feature);
  }

  async progress(progress: number, total?: number, message?: string): Promise<void> {
    if (this.task) return message === undefined ? undefined : this.task.note(message);
    const token = this.meta.progressToken;
    const isValid = typeof token === "string"
      ? token.length <= MAX_PROGRESS_TOKEN_CHARACTERS
      : Number.isFinite(token);
    const increases = Number.isFinite(progress) && progress > this.#progress;
    if (!isValid || !this.outlet || this.isOver || this.isCancelled || !increases) return;
    this.#progress = progress;
    await this.outlet.notify("notifications/progress", {
      progressToken: token,
      progress,
      ...(Number.isFinite(total) && { total }),
      ...(message !== undefined && this.revision >= "2025-03-26" && { message }),
    });
  }

  async log(level: LogLevel, data: Json, logger?: string): Promise<void> {
    if (!this.outlet || this.task || this.isOver || this.isCancelled) return;
    if (this.logLevel === undefined && this.revision < MODERN) {
      this.logLevel = this.session ? await this.host.getLogLevel(this.session) : DEFAULT_LEVEL;
    }
    const minimum = this.logLevel;
    if (minimum === undefined || severity(level) < severity(minimum)) return;
    await this.outlet.notify("notifications/message", {
      level,
      ...(logger !== undefined && { logger }),
      // JSON would leave out undefined, but data is required.
      data: data ?? null,
    });
  }

  elicit<const Schema extends AnySchema>(request: FormRequest<Schema>): Promise<FormAnswer<Schema>>;
  elicit(request: UrlRequest): Promise<UrlAnswer>;
  async elicit(request: FormRequest | UrlRequest): Promise<FormAnswer<AnySchema> | UrlAnswer> {
    const url = request.mode === "url";
    const { params, schema } = writeElicitation(request, this.revision, () => randomId(""));
    const answer = await this.#requestInput(
      url ? "elicitation.url" : "elicitation",
      request.key,
      "elicitation/create",
      params,
    );
    return await readElicitation(answer, schema);
  }

  async sample({ key, ...params }: SamplingRequest): Promise<SamplingAnswer> {
    if (params.tools) this.#requireFeature("sampling.tools");
    return readSamplingResult(await this.#requestInput("sampling", key, "sampling/createMessage", params));
  }

  async listRoots({ key }: { readonly key?: string } = {}): Promise<readonly Root[]> {
    return readRootsResult(await this.#requestInput("roots", key, "roots/list", undefined));
  }

  async once<Value extends Json>(key: string, make: () => Value | Promise<Value>): Promise<Value> {
    this.inputs ??= new Inputs();
    return await this.inputs.once(key, make) as Value;
  }

  requireScopes(...scopes: string[]): void {
    if (!scopes.every((scope) => this.host.holds(this.principal, scope))) throw new ScopeError(scopes);
  }

  async startTask(options: TaskOptions = {}): Promise<boolean> {
    return this.task !== undefined || this.begin !== undefined && await this.begin(options);
  }

  async disconnect(retry = 1000): Promise<void> {
    await this.outlet?.disconnect?.(Number.isSafeInteger(retry) && retry >= 0 ? retry : 1000);
  }

  async elicitationCompleted(elicitationId: string): Promise<void> {
    if (this.revision !== "2025-11-25") return;
    await this.outlet?.notify("notifications/elicitation/complete", { elicitationId });
  }

  waitUntil(work: Promise<unknown>): void {
    const settled = work.catch(() => {});
    this.runtime?.waitUntil?.(settled);
  }

  /** Whether a request for input ends the run, which is repeated with the input. */
  get #repeatsRuns(): boolean {
    return this.revision >= MODERN;
  }

  #requireFeature(feature: ClientFeature): void {
    if (!this.can(feature)) throw new MissingCapabilityError(requiredCapabilities(feature));
  }

  async #requestInput(
    feature: ClientFeature,
    key: string | undefined,
    method: string,
    params: unknown,
  ): Promise<object> {
    this.#requireFeature(feature);
    const request = params === undefined ? { method } : { method, params };
    if (this.#repeatsRuns) return (this.inputs ??= new Inputs()).ask(key, request) as object;
    // The client declared the capability but cannot be reached: it has no session, or does not accept streams.
    if (!this.outlet?.sendRequest) throw new MissingCapabilityError(requiredCapabilities(feature));
    return readResultObject(await this.outlet.sendRequest(method, params, this.signal), method);
  }
}

// Handlers may destructure their context: `run: (_, { progress }) => …`.
bindMethods(
  Call.prototype,
  "can progress log elicit sample listRoots once requireScopes startTask disconnect elicitationCompleted waitUntil",
);
