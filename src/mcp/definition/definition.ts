/**
 * What a user of the tool server writes: tools, resources, resource templates, prompts
 * (https://modelcontextprotocol.io/specification/2025-11-25/server). Plain values; `registry.ts` compiles them.
 *
 * @module
 */
import { acrossCopies } from "../../jsonrpc/error.ts";
import type { Annotations, Icon, Meta, PromptMessage, PromptResult, ReadResult } from "./content.ts";
import type { CallContext, TaskOptions } from "../context.ts";
import type { AnySchema, Parsed, Unparsed } from "../schema/standard_schema.ts";

/** A failure whose message the model may read and act on. Other errors reach it only as "the tool failed". */
export class ToolError extends Error {
  override readonly name = "ToolError";
}
acrossCopies(ToolError, "ToolError");

/** What every definition may have. */
interface Described {
  /** For people; `name` is for programs. */
  readonly title?: string | undefined;
  readonly icons?: readonly Icon[] | undefined;
  /** What the caller's token must hold; callers without it neither see nor use it. */
  readonly scopes?: readonly string[] | undefined;
  readonly _meta?: Meta | undefined;
}

/** Hints to clients about what a tool does; nobody has to believe them. */
export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

export interface ToolTask extends TaskOptions {
  /** `optional` makes a task for callers that know them; `required` refuses modern callers that do not. */
  readonly support: "optional" | "required";
  /** `by_run`: the call becomes a task when `run` says so ({@linkcode CallContext.startTask}). @default "at_once" */
  readonly start?: "at_once" | "by_run";
  /** Runs the tool again, on another instance, when the one that ran it is gone. @default false: the task fails */
  readonly restart?: boolean;
}

export interface ToolDefinition extends Described {
  readonly kind: "tool";
  readonly name: string;
  readonly description: string;
  /** Any Standard Schema, or JSON Schema 2020-12, of an object. @default no arguments: a call with some is refused */
  readonly input?: AnySchema | undefined;
  readonly output?: AnySchema | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  readonly task?: ToolTask | "optional" | "required" | undefined;
  run(input: unknown, context: CallContext): unknown;
}

/** Values that a variable may have, given what was typed so far and the variables before it. At most 100 are sent. */
export type Complete = (
  value: string,
  context: { readonly arguments: Readonly<Record<string, string>> } & Pick<CallContext, "principal">,
) => readonly string[] | Promise<readonly string[]>;

/** What a client may keep of a resource (2026-07-28, server/utilities/caching). */
interface Cached {
  /** Milliseconds for which it may be taken as fresh. @default 0 */
  readonly ttl?: number | undefined;
  /**
   * `public` when it is the same for all callers; where tokens or scopes are required it is private all the same.
   * @default "private"
   */
  readonly cacheScope?: "public" | "private" | undefined;
}

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

export interface ResourceTemplateDefinition extends Described, Cached {
  readonly kind: "resource_template";
  /** RFC 6570: `{name}` is one segment, `{+name}` any path. */
  readonly uriTemplate: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly annotations?: Annotations | undefined;
  /** Resources of this kind that a caller may find in the list. */
  readonly list?: ((context: CallContext) => Promise<readonly ListedResource[]>) | undefined;
  /** By the variable's name. */
  readonly complete?: Readonly<Record<string, Complete>> | undefined;
  /** `undefined` when there is no such resource. */
  readonly read: (
    variables: Readonly<Record<string, string>>,
    context: CallContext,
  ) => ReadResult | undefined | Promise<ReadResult | undefined>;
  /** Whether there is such a resource, where that is less work than to read it. @default reads it */
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

export interface PromptDefinition extends Described {
  readonly kind: "prompt";
  readonly name: string;
  readonly description?: string | undefined;
  readonly arguments?: readonly PromptArgument[];
  readonly get: (
    values: Readonly<Record<string, string>>,
    context: CallContext,
  ) => PromptReply | Promise<PromptReply>;
}

/** Text for one user message, a list of messages, or the result in full. */
export type PromptReply = string | readonly PromptMessage[] | PromptResult;

export type Definition = ToolDefinition | ResourceDefinition | ResourceTemplateDefinition | PromptDefinition;

/** What {@linkcode tool} takes: `run` is given what `input` says and must give what `output` says. */
export type ToolOf<Input extends AnySchema, Output extends AnySchema | undefined> =
  & Omit<ToolDefinition, "kind" | "run" | "input" | "output">
  & {
    readonly input?: Input;
    readonly output?: Output;
    readonly run: (
      input: Parsed<Input>,
      context: CallContext,
    ) => Output extends AnySchema ? ResultOf<Output> | Promise<ResultOf<Output>> : unknown;
  };

type ResultOf<Output extends AnySchema> = Unparsed<Output> | FullResult;
type FullResult = import("./content.ts").ToolResult;

/**
 * A tool. `run` gets the arguments as the schema gives them and returns text, content items (one or a list), a
 * `ToolResult`, or any JSON value, which becomes text. With an `output` schema it returns what the schema describes,
 * which becomes structured content and text; a `ToolResult` is taken as one there when it has `structuredContent` or
 * `isError: true`.
 */
export function tool<
  const Input extends AnySchema = Record<never, never>,
  const Output extends AnySchema | undefined = undefined,
>(definition: ToolOf<Input, Output>): ToolDefinition {
  return { kind: "tool", ...definition } as ToolDefinition;
}

/** A resource with a fixed URI. */
export function resource(definition: Omit<ResourceDefinition, "kind">): ResourceDefinition {
  return { kind: "resource", ...definition };
}

/** A family of resources. */
export function resourceTemplate(
  definition: Omit<ResourceTemplateDefinition, "kind">,
): ResourceTemplateDefinition {
  return { kind: "resource_template", ...definition };
}

/** A prompt: text for one user message, or a list of messages. */
export function prompt(definition: Omit<PromptDefinition, "kind">): PromptDefinition {
  return { kind: "prompt", ...definition };
}
