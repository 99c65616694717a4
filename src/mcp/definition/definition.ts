/**
 * What the author of a tool server writes: tools, resources, resource templates, prompts
 * (https://modelcontextprotocol.io/specification/2025-11-25/server). Plain values, which
 * `define.ts` makes and `registry.ts` compiles.
 *
 * @module
 */
import { matchAcrossCopies } from "../../jsonrpc/error.ts";
import type { Annotations, Icon, Meta, PromptMessage, PromptResult, ReadResult } from "./content.ts";
import type { CallContext, TaskOptions } from "../context.ts";
import type { AnySchema } from "../schema/standard_schema.ts";

/** A failure with a message for the model. The message of any other error is not sent to the client. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}
matchAcrossCopies(ToolError, "ToolError");

/** Members that every definition may have. */
interface Described {
  /** For people; `name` is for programs. */
  readonly title?: string | undefined;
  readonly icons?: readonly Icon[] | undefined;
  /** Scopes that the access token must have; other callers can neither list nor use the definition. */
  readonly scopes?: readonly string[] | undefined;
  readonly _meta?: Meta | undefined;
}

/** Hints to clients about what a tool does. Clients must not trust them if they do not trust the server. */
export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

export interface ToolTask extends TaskOptions {
  /** `optional`: a task for clients with the tasks extension. `required`: also refuses 2026-07-28 clients without it. */
  readonly support: "optional" | "required";
  /**
   * `by_run`: the call becomes a task when `run` calls {@linkcode CallContext.startTask}. When the task is cancelled while
   * it waits for input, `run` is called once more, with an aborted signal, to end what it began. @default "at_once"
   */
  readonly start?: "at_once" | "by_run";
  /** Whether another instance runs the tool again when the first instance stopped. @default false: the task fails */
  readonly restart?: boolean;
}

/** A tool: what {@linkcode tool} returns. */
export interface ToolDefinition extends Described {
  readonly kind: "tool";
  readonly name: string;
  readonly description: string;
  /** A Standard Schema or JSON Schema 2020-12 of an object. @default no arguments are allowed */
  readonly input?: AnySchema | undefined;
  readonly output?: AnySchema | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  readonly task?: ToolTask | "optional" | "required" | undefined;
  run(input: unknown, context: CallContext): unknown;
}

/** Values for a completion, of more that there may be (server/utilities/completion). */
export interface CompletionValues {
  readonly values: readonly string[];
  /** How many there are in all. */
  readonly total?: number | undefined;
  readonly hasMore?: boolean | undefined;
}

/** What a completion is given beside the value: the earlier variables, and the caller. */
export interface CompletionContext extends Pick<CallContext, "principal"> {
  readonly arguments: Readonly<Record<string, string>>;
}

/**
 * Completes a variable: possible values for what the user typed, given the earlier variables; all of them, or the first with
 * what is known of the others. At most 100 are sent.
 */
export type Complete = (
  value: string,
  context: CompletionContext,
) => readonly string[] | CompletionValues | Promise<readonly string[] | CompletionValues>;

/** Cache hints of a resource (2026-07-28, server/utilities/caching). */
interface Cached {
  /** Milliseconds for which a client may treat the contents as fresh. @default 0 */
  readonly ttl?: number | undefined;
  /**
   * `public`: the contents are the same for all callers. Sent as `private` where tokens or scopes are required.
   * @default "private"
   */
  readonly cacheScope?: "public" | "private" | undefined;
}

/** A resource with a fixed URI: what {@linkcode resource} returns. */
export interface ResourceDefinition extends Described, Cached {
  readonly kind: "resource";
  readonly uri: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  /** Bytes. */
  readonly size?: number | undefined;
  readonly annotations?: Annotations | undefined;
  readonly read: (context: CallContext) => ReadResult | Promise<ReadResult>;
}

export interface ListedResource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly size?: number;
  readonly annotations?: Annotations;
  readonly icons?: readonly Icon[];
  readonly _meta?: Meta;
}

/** The resources whose URI matches a template: what {@linkcode resourceTemplate} returns. */
export interface ResourceTemplateDefinition extends Described, Cached {
  readonly kind: "resource_template";
  /** RFC 6570: `{name}` matches one path segment, `{+name}` any path. */
  readonly uriTemplate: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly annotations?: Annotations | undefined;
  /** Resources of this template for `resources/list`. */
  readonly list?: ((context: CallContext) => Promise<readonly ListedResource[]>) | undefined;
  /** By the name of the variable. */
  readonly complete?: Readonly<Record<string, Complete>> | undefined;
  /** Whether `resources/templates/list` has the template. @default true */
  readonly isListed?: boolean | undefined;
  /** Returns `undefined` for an unknown resource. */
  readonly read: (
    variables: Readonly<Record<string, string>>,
    context: CallContext,
    uri: string,
  ) => ReadResult | undefined | Promise<ReadResult | undefined>;
  /** Whether the resource exists, if that takes less work than `read`. @default calls `read` */
  readonly exists?:
    | ((variables: Readonly<Record<string, string>>, context: CallContext) => boolean | Promise<boolean>)
    | undefined;
}

export interface PromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly complete?: Complete;
}

/** A prompt: what {@linkcode prompt} returns. */
export interface PromptDefinition extends Described {
  readonly kind: "prompt";
  readonly name: string;
  readonly description?: string | undefined;
  readonly arguments?: readonly PromptArgument[] | undefined;
  readonly get: (
    values: Readonly<Record<string, string>>,
    context: CallContext,
  ) => PromptReply | Promise<PromptReply>;
}

/** Text for one user message, a list of messages, or a complete result. */
export type PromptReply = string | readonly PromptMessage[] | PromptResult;

/** A tool, a prompt, a resource or a resource template. */
export type Definition = ToolDefinition | ResourceDefinition | ResourceTemplateDefinition | PromptDefinition;
