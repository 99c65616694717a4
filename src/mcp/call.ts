/**
 * One call: what its handler is given ({@linkcode CallContext}), and how it reaches the client, which depends on the
 * revision and the transport: at once on a stream, by a question that ends the run, or not at all.
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

/** The way back to the client while a call runs. */
export interface Outlet {
  /** Sends a notification of this call; resolves when there is room for another. */
  notify(method: string, params: Record<string, unknown>): Promise<void>;
  /** Sends a request and waits for its result; absent where there are none while a call runs. */
  ask?: ((method: string, params: unknown, signal: AbortSignal) => Promise<unknown>) | undefined;
  /** Lets go of the connection; the client comes back for the rest. */
  disconnect?(retry: number): Promise<void>;
}

/** What a call needs of the server. */
export interface CallHost {
  /** Whether a principal holds a scope, by itself or by one that implies it. */
  readonly holds: (principal: Principal | undefined, scope: string) => boolean;
  /** Tells when the caller has cancelled, or is gone where that is the same. Gives the function that ends it. */
  readonly watch: (call: Call, gone: () => void) => () => void;
  /** The least severity that a session wants to hear of. */
  readonly levelOf: (session: Session) => Promise<LogLevel>;
}

/** A call that has become a task. */
export interface TaskRun {
  /** Sets the status message. */
  note(message: string): void;
  /** Lets go of it. */
  end(): void;
}

const NOTHING: Meta = {};
/** A progress token goes out with every notification: a longer one is none. */
const MAX_TOKEN_CHARACTERS = 1024;

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
  /** Whether `initialize` begins a session; then its id for the client is here. */
  offersSession = false;
  startedSession: string | undefined = undefined;
  /** Hears what `initialize` settled, where the connection itself is the session. */
  onHandshake: ((handshake: Pick<Session, "revision" | "capabilities" | "clientInfo">) => void) | undefined =
    undefined;
  outlet: Outlet | undefined = undefined;
  /** Header fields of a modern request over HTTP, which must agree with its body. */
  headers: Headers | undefined = undefined;
  /** Where an abort of the HTTP request shows. */
  request: Request | undefined = undefined;
  /** The least severity that the client asked to hear of. */
  logLevel: LogLevel | undefined = undefined;
  /** Answers of earlier runs, where questions end the run. */
  inputs: Inputs | undefined = undefined;
  task: TaskRun | undefined = undefined;
  /** Makes a task of the call; set while a tool runs that may become one. */
  begin: ((options: TaskOptions) => Promise<boolean>) | undefined = undefined;
  /** Hears of a cancellation by id, where the connection itself is the session. */
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
      // Asked for only when somebody wants to know, and nobody does when it is over.
      else if (!this.isOver) {
        this.#unwatch = this.host.watch(this, () => this.cancel("The client disconnected"));
      }
    }
    return this.#controller.signal;
  }

  get isCancelled(): boolean {
    return this.#cancelled !== undefined;
  }

  /** Tells the handler to stop. Nothing is sent for the call from now on. */
  cancel(reason: string): void {
    if (this.isOver || this.#cancelled !== undefined) return;
    this.#cancelled = new DOMException(reason, "AbortError");
    this.#controller?.abort(this.#cancelled);
  }

  /**
   * It was answered: what comes from its handler from now on goes nowhere. A call that became a task goes on, until its
   * task ends.
   */
  end(): void {
    if (this.task) return;
    this.isOver = true;
    this.#unwatch?.();
  }

  /** Takes over what the handshake of a session told. */
  join(session: Session): void {
    this.session = session;
    this.capabilities = session.capabilities;
    this.clientInfo = session.clientInfo;
  }

  /** Lets go of what the request said: its stream may be open for days, and it may have been large. */
  forget(): void {
    this.meta = NOTHING;
    this.capabilities = NOTHING;
    this.headers = undefined;
    this.request = undefined;
  }

  /** What becomes of the connection no longer matters. */
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
    const known = typeof token === "string" ? token.length <= MAX_TOKEN_CHARACTERS : Number.isFinite(token);
    const rises = Number.isFinite(progress) && progress > this.#progress;
    if (!known || !this.outlet || this.isOver || this.isCancelled || !rises) return;
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
      this.logLevel = this.session ? await this.host.levelOf(this.session) : DEFAULT_LEVEL;
    }
    const least = this.logLevel;
    if (least === undefined || severity(level) < severity(least)) return;
    await this.outlet.notify("notifications/message", {
      level,
      ...(logger !== undefined && { logger }),
      // JSON leaves out what it has nothing for, and clients must have it.
      data: data ?? null,
    });
  }

  elicit<const Schema extends AnySchema>(request: FormRequest<Schema>): Promise<FormAnswer<Schema>>;
  elicit(request: UrlRequest): Promise<UrlAnswer>;
  async elicit(request: FormRequest | UrlRequest): Promise<FormAnswer<AnySchema> | UrlAnswer> {
    const url = request.mode === "url";
    const { params, schema } = writeElicitation(request, this.revision, () => randomId(""));
    const answer = await this.#ask(
      url ? "elicitation.url" : "elicitation",
      request.key,
      "elicitation/create",
      params,
    );
    return await readElicitation(answer, schema);
  }

  async sample({ key, ...params }: SamplingRequest): Promise<SamplingAnswer> {
    if (params.tools) this.#demand("sampling.tools");
    return readSamplingResult(await this.#ask("sampling", key, "sampling/createMessage", params));
  }

  async listRoots({ key }: { readonly key?: string } = {}): Promise<readonly Root[]> {
    return readRootsResult(await this.#ask("roots", key, "roots/list", undefined));
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

  /** Questions end the run, which comes again with the answers. */
  get #runsAgain(): boolean {
    return this.revision >= MODERN;
  }

  #demand(feature: ClientFeature): void {
    if (!this.can(feature)) throw new MissingCapabilityError(requiredCapabilities(feature));
  }

  async #ask(
    feature: ClientFeature,
    key: string | undefined,
    method: string,
    params: unknown,
  ): Promise<object> {
    this.#demand(feature);
    const request = params === undefined ? { method } : { method, params };
    if (this.#runsAgain) return (this.inputs ??= new Inputs()).ask(key, request) as object;
    // Declared, but there is no way to reach the client: it keeps no session, or reads no streams.
    if (!this.outlet?.ask) throw new MissingCapabilityError(requiredCapabilities(feature));
    return readResultObject(await this.outlet.ask(method, params, this.signal), method);
  }
}

// Handlers take their context apart: `run: (_, { progress }) => …`.
bindMethods(
  Call.prototype,
  "can progress log elicit sample listRoots once requireScopes startTask disconnect elicitationCompleted waitUntil",
);
