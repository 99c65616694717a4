/**
 * The context of a tool that a program calls: that of the call of `run_code`, with keys of its own for what is kept between
 * runs, and without what only a whole call has.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import type { RequestContext } from "../../http/service.ts";
import type { TraceContext } from "../../http/telemetry.ts";
import type {
  CallContext,
  ClientFeature,
  FormAnswer,
  FormRequest,
  LogLevel,
  Root,
  SamplingAnswer,
  SamplingRequest,
  UrlAnswer,
  UrlRequest,
} from "../../mcp/context.ts";
import type { ToolRun } from "../../mcp/definition/tools.ts";
import { bindMethods } from "../../mcp/definition/bind_methods.ts";
import type { Meta } from "../../mcp/definition/content.ts";
import { Suspension } from "../../mcp/input/suspension.ts";
import type { AnySchema } from "../../mcp/schema/standard_schema.ts";
import type { Json } from "../../store/store.ts";

/** What the calls of one program share. */
export interface ProgramRun {
  readonly context: CallContext;
  /** Aborts when the client cancels or the program ends. */
  readonly signal: AbortSignal;
  /** Passes on progress, which must increase over all calls. */
  progress(message: string | undefined): Promise<void>;
  /** Runs a request to the client: the clock of the program stands still meanwhile. @throws {ToolError} with too much to keep */
  ask<Answer>(request: () => Promise<Answer>): Promise<Answer>;
}

export class ProgramCall implements CallContext, ToolRun {
  readonly #run: ProgramRun;
  /** Before each key: the same in each run of the program. */
  readonly #prefix: string;
  #asked = 0;
  #isSuspended = false;

  constructor(run: ProgramRun, prefix: string) {
    this.#run = run;
    this.#prefix = prefix;
  }

  get principal(): Principal | undefined {
    return this.#run.context.principal;
  }

  get revision(): string {
    return this.#run.context.revision;
  }

  get signal(): AbortSignal {
    return this.#run.signal;
  }

  get meta(): Meta {
    return this.#run.context.meta;
  }

  get trace(): TraceContext | undefined {
    return this.#run.context.trace;
  }

  get clientInfo(): CallContext["clientInfo"] {
    return this.#run.context.clientInfo;
  }

  get isCancelled(): boolean {
    return this.signal.aborted;
  }

  /** The request that runs the program, for the audit trail. */
  get runtime(): RequestContext | undefined {
    return (this.#run.context as { readonly runtime?: RequestContext | undefined }).runtime;
  }

  /** Requests for input of this call alone: those of another one must not end it. */
  get inputs(): ToolRun["inputs"] {
    return this.#isSuspended ? { pending: { size: 1 } } : undefined;
  }

  /** No task: a program gets results as values. */
  can(feature: ClientFeature): boolean {
    return feature !== "tasks" && this.#run.context.can(feature);
  }

  async progress(_progress: number, _total?: number, message?: string): Promise<void> {
    await this.#run.progress(message);
  }

  async log(level: LogLevel, data: Json, logger?: string): Promise<void> {
    await this.#run.context.log(level, data, logger);
  }

  elicit<const Schema extends AnySchema>(request: FormRequest<Schema>): Promise<FormAnswer<Schema>>;
  elicit(request: UrlRequest): Promise<UrlAnswer>;
  async elicit(request: FormRequest | UrlRequest): Promise<FormAnswer<AnySchema> | UrlAnswer> {
    const keyed = { ...request, key: this.#key(request.key) };
    return await this.#ask(() =>
      keyed.mode === "url" ? this.#run.context.elicit(keyed) : this.#run.context.elicit(keyed as FormRequest)
    );
  }

  async sample(request: SamplingRequest): Promise<SamplingAnswer> {
    const key = this.#key(request.key);
    return await this.#ask(() => this.#run.context.sample({ ...request, key }));
  }

  async listRoots(options: { readonly key?: string } = {}): Promise<readonly Root[]> {
    const key = this.#key(options.key);
    return await this.#ask(() => this.#run.context.listRoots({ key }));
  }

  async once<Value extends Json>(key: string, make: () => Value | Promise<Value>): Promise<Value> {
    return await this.#run.context.once(`${this.#prefix}:${key}`, make);
  }

  requireScopes(...scopes: string[]): void {
    this.#run.context.requireScopes(...scopes);
  }

  startTask(): Promise<boolean> {
    return Promise.resolve(false);
  }

  disconnect(): Promise<void> {
    return Promise.resolve();
  }

  async elicitationCompleted(elicitationId: string): Promise<void> {
    await this.#run.context.elicitationCompleted(elicitationId);
  }

  waitUntil(work: Promise<unknown>): void {
    this.#run.context.waitUntil(work);
  }

  #key(key: string | undefined): string {
    return `${this.#prefix}:${key ?? `input_${++this.#asked}`}`;
  }

  async #ask<Answer>(request: () => Promise<Answer>): Promise<Answer> {
    try {
      return await this.#run.ask(request);
    } catch (error) {
      if (error instanceof Suspension) this.#isSuspended = true;
      throw error;
    }
  }
}

// Handlers may destructure their context: `run: (_, { progress }) => …`.
bindMethods(
  ProgramCall.prototype,
  "can progress log elicit sample listRoots once requireScopes startTask disconnect elicitationCompleted waitUntil",
);
